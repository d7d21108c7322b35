package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/profiles"
)

// withFile is a request that leaves everything out, in a repository that says something.
func withFile(f profiles.RepositoryFile) Request {
	r := validRequest()
	r.Profile, r.File = "", &f
	return r
}

func minutes(n int) *time.Duration {
	d := time.Duration(n) * time.Minute
	return &d
}

func TestARepositorysFileFillsInWhatIsLeftOut(t *testing.T) {
	v := Evaluate(withFile(profiles.RepositoryFile{Default: "aws-standard", TTL: 8 * time.Hour, Grace: minutes(10)}), Usage{}, terms(t), Settings{})
	require.True(t, v.Allowed, "%v", v.Refusals())
	require.Equal(t, []any{"aws-standard", 8 * time.Hour, 10 * time.Minute, 168 * time.Hour}, []any{v.Grant.Profile, v.Grant.TTL, v.Grant.Grace, v.Grant.MaxTTL})
	check := find(t, v, "repository file")
	require.Equal(t, Pass, check.Result)
	require.Equal(t, []string{
		"No profile was named, and .github/ocpctl.yaml of acme/shop names aws-standard.",
		"The lifetime of .github/ocpctl.yaml of acme/shop is 8 h.",
		"The grace of .github/ocpctl.yaml of acme/shop is 10 min.",
	}, []string{check.Checks[0].Message, check.Checks[1].Message, check.Checks[2].Message})
	require.Equal(t, v.Grant.PriceCents, int64(v.Grant.HourlyCents)*8, "the price is that of the life it has")

	r := withFile(profiles.RepositoryFile{Default: "aws-standard", TTL: 8 * time.Hour, Grace: minutes(0)})
	r.Profile, r.TTL = "aws-minimal-test", 2*time.Hour
	v = Evaluate(r, Usage{}, terms(t), Settings{})
	require.Equal(t, []any{"aws-minimal-test", 2 * time.Hour, time.Duration(0)}, []any{v.Grant.Profile, v.Grant.TTL, v.Grant.Grace}, "what somebody asks for comes first")

	v = Evaluate(withFile(profiles.RepositoryFile{}), Usage{}, terms(t), Settings{Grace: time.Minute})
	require.Equal(t, []any{"aws-minimal-test", 24 * time.Hour, time.Minute}, []any{v.Grant.Profile, v.Grant.TTL, v.Grant.Grace}, "a file that says nothing changes nothing")
	require.Equal(t, Check{Name: "repository file", Result: Pass, Message: ".github/ocpctl.yaml of acme/shop has nothing against it."}, find(t, v, "repository file"))
	for _, c := range Evaluate(validRequest(), Usage{}, terms(t), Settings{}).Checks {
		require.NotEqual(t, "repository file", c.Name, "no file, no check")
	}
}

func TestARepositorysFileComesBeforeRulesAndTheProfile(t *testing.T) {
	terms := terms(t)
	terms.Rules = objecting{defaults: func(in In) (Request, []Check) {
		r := in.Request
		r.Profile = orDefault(r.Profile, "aws-standard")
		if r.TTL == 0 {
			r.TTL = time.Hour
		}
		return r, nil
	}}
	v := Evaluate(withFile(profiles.RepositoryFile{Default: "aws-minimal-test", TTL: 8 * time.Hour}), Usage{}, terms, Settings{})
	require.Equal(t, []any{"aws-minimal-test", 8 * time.Hour}, []any{v.Grant.Profile, v.Grant.TTL})
	v = Evaluate(withFile(profiles.RepositoryFile{}), Usage{}, terms, Settings{})
	require.Equal(t, []any{"aws-standard", time.Hour}, []any{v.Grant.Profile, v.Grant.TTL})
}

func TestTheProfileARequestMeansIsTheOneItIsGranted(t *testing.T) {
	for _, f := range []profiles.RepositoryFile{{}, {Default: "aws-standard"}, {Profiles: []string{"aws-st*"}}, {Default: "aws-minimal-test", Profiles: []string{"aws-*"}}} {
		require.Equal(t, Evaluate(withFile(f), Usage{}, terms(t), Settings{}).Grant.Profile, ProfileOf(withFile(f), terms(t)))
	}
	require.Equal(t, "nowhere", ProfileOf(withFile(profiles.RepositoryFile{Default: "nowhere"}), terms(t)), "a name that nobody knows is told as it stands")
	require.Empty(t, ProfileOf(withFile(profiles.RepositoryFile{}), Terms{}))
}

func TestTheServersGuardrailsWinOverTheFile(t *testing.T) {
	for name, c := range map[string]struct {
		file     profiles.RepositoryFile
		settings Settings
		profile  string
		check    string
		result   Result
		text     string
		next     string
	}{
		"a lifetime above the maximum": {
			profiles.RepositoryFile{TTL: 200 * time.Hour}, Settings{}, "", "repository file", Warn,
			"The lifetime of .github/ocpctl.yaml of acme/shop, 8 d 8 h, is more than the 72 h that profile aws-minimal-test gives at most, so it is 72 h.", "Give at most 72 h as ttl in .github/ocpctl.yaml."},
		"a grace above the profile's": {
			profiles.RepositoryFile{Grace: minutes(90)}, Settings{}, "", "repository file", Warn,
			"The grace of .github/ocpctl.yaml of acme/shop, 1 h 30 min, is more than the 1 h that this installation gives at most, so it is 1 h.", "Give at most 1 h as grace in .github/ocpctl.yaml."},
		"a grace above the server's": {
			profiles.RepositoryFile{Grace: minutes(300)}, Settings{MaxGrace: 2 * time.Hour}, "", "repository file", Warn, "so it is 2 h.", "Give at most 2 h"},
		"a grace that the server lets pass": {
			profiles.RepositoryFile{Grace: minutes(90)}, Settings{MaxGrace: 2 * time.Hour}, "", "repository file", Pass, "has nothing against it", ""},
		"a default that nobody knows": {
			profiles.RepositoryFile{Default: "aws-minmal-test"}, Settings{}, "", "profile", Fail,
			`No profile is called "aws-minmal-test", which .github/ocpctl.yaml of acme/shop names as default.`, "Did you mean aws-minimal-test?"},
		"a default that is not enabled": {
			profiles.RepositoryFile{Default: "ibm-standard"}, Settings{}, "", "platform", Fail, ibmOff, "Choose one of"},
		"a default for admins": {
			profiles.RepositoryFile{Default: "aws-minimal-mint"}, Settings{}, "", "admin-only", Fail, "only for platform admins", "Choose one of"},
		"a list that names what is forbidden": {
			profiles.RepositoryFile{Profiles: []string{"ibm-*"}}, Settings{}, "ibm-standard", "platform", Fail, ibmOff, "Choose one of"},
		"a profile off the list": {
			profiles.RepositoryFile{Profiles: []string{"aws-min*"}}, Settings{}, "aws-standard", "repository file", Fail,
			"Profile aws-standard is not among those that .github/ocpctl.yaml of acme/shop lets the repository have: aws-min*.", "Choose one of: aws-minimal-test, or ask"},
		"a list of nothing there is": {
			profiles.RepositoryFile{Profiles: []string{"gke-*"}}, Settings{}, "", "repository file", Fail,
			"Profile aws-minimal-test is not among those", "Ask the repository's maintainers to add it to profiles"},
		"a draft": {
			profiles.RepositoryFile{Drafts: profiles.DraftsDeny}, Settings{}, "", "draft", Pass, "is no draft", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := withFile(c.file)
			r.Profile = c.profile
			v := Evaluate(r, Usage{}, terms(t), c.settings)
			check := find(t, v, c.check)
			require.Equal(t, c.result, check.Result)
			require.Contains(t, check.Message, c.text)
			require.Contains(t, check.Next, c.next)
			require.Equal(t, c.result != Fail, v.Allowed)
		})
	}
	v := Evaluate(withFile(profiles.RepositoryFile{TTL: 200 * time.Hour, Grace: minutes(600)}), Usage{}, terms(t), Settings{Hour: time.Minute, Grace: 30 * time.Second})
	require.Equal(t, []time.Duration{72 * time.Minute, 30 * time.Second}, []time.Duration{v.Grant.TTL, v.Grant.Grace}, "in the demo's hours too")
}

func TestTheDefaultIsTheCheapestOnTheFilesList(t *testing.T) {
	v := Evaluate(withFile(profiles.RepositoryFile{Profiles: []string{"aws-standard", "ibm-*"}}), Usage{}, terms(t), Settings{})
	require.True(t, v.Allowed, "%v", v.Refusals())
	require.Equal(t, "aws-standard", v.Grant.Profile)
	require.Equal(t, "aws-standard", find(t, v, "profile").Accept, "what is offered is what can be had")
}

// TestAFileNeverAllowsWhatTheServerDoesNot: whatever a file says, what is granted with it would be granted without.
func TestAFileNeverAllowsWhatTheServerDoesNot(t *testing.T) {
	names := append(catalogue(t).Names(), "", "nowhere")
	terms := declaredTerms(t)
	rapid.Check(t, func(t *rapid.T) {
		f := profiles.RepositoryFile{
			Default: rapid.SampledFrom(names).Draw(t, "default"), Profiles: rapid.SliceOfN(rapid.SampledFrom(append(names[:5:5], "aws-*", "*")), 0, 2).Draw(t, "profiles"),
			TTL:    time.Duration(rapid.IntRange(0, 720).Draw(t, "ttl")) * time.Hour,
			Drafts: rapid.SampledFrom([]string{"", "allow", "deny"}).Draw(t, "drafts"), Forks: rapid.SampledFrom([]string{"", "approve", "deny"}).Draw(t, "forks"),
		}
		if rapid.Bool().Draw(t, "grace is given") {
			f.Grace = minutes(rapid.IntRange(0, 24*60).Draw(t, "grace"))
		}
		s := Settings{MaxGrace: rapid.SampledFrom([]time.Duration{0, 3 * time.Hour}).Draw(t, "most grace"), Forks: rapid.SampledFrom([]string{"", "approve", "deny"}).Draw(t, "server's forks")}
		r := withFile(f)
		r.Profile, r.PR.Fork, r.PR.Draft = rapid.SampledFrom(names).Draw(t, "asked"), rapid.Bool().Draw(t, "fork"), rapid.Bool().Draw(t, "draft")
		r.PR.Association = rapid.SampledFrom([]string{"", "NONE", "MEMBER"}).Draw(t, "association")
		r.Permission = rapid.SampledFrom([]string{"read", "write"}).Draw(t, "permission")
		usage := Usage{Person: Counts{Live: rapid.IntRange(0, 5).Draw(t, "live")}, Team: Counts{SpentCents: int64(rapid.IntRange(0, 60_000).Draw(t, "spent"))}}
		v := Evaluate(r, usage, terms, s)
		if !v.Allowed {
			return
		}
		require.True(t, len(f.Profiles) == 0 || profiles.FitsAny(f.Profiles, v.Grant.Profile))
		require.LessOrEqual(t, v.Grant.TTL, v.Grant.MaxTTL)
		require.LessOrEqual(t, v.Grant.Grace, max(time.Hour, s.MaxGrace))
		require.False(t, r.PR.Fork && (s.Forks == "deny" || f.Forks == "deny"))
		require.Equal(t, r.PR.Fork || r.PR.Association == "NONE", v.Approval != nil && v.Approval.By == Requester || v.Approval != nil && len(v.Approval.Why) > 1)
		plain := r
		plain.File, plain.Profile, plain.TTL, s.Forks = nil, v.Grant.Profile, v.Grant.TTL, "approve"
		without := Evaluate(plain, usage, terms, s)
		require.True(t, without.Allowed, "%v", without.Refusals())
		require.Equal(t, v.Approval, without.Approval)
		require.Equal(t, v.Grant.PriceCents, without.Grant.PriceCents)
	})
}
