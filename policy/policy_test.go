package policy

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/profiles"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// catalogue is the embedded one's profiles alone, which refuse where a quota is full. IBM Cloud is off.
func catalogue(t testing.TB) profiles.Catalogue {
	return embedded(t, profiles.WhenFullRefuse).Without(map[string]string{"ibmcloud": ibmOff})
}

// ibmOff is why no profile of IBM Cloud can be used.
const ibmOff = "IBM Cloud is off"

// embedded returns the embedded catalogue's profiles, and more documents of the demo's hubs.
func embedded(t testing.TB, whenFull string, more ...string) profiles.Catalogue {
	t.Helper()
	files, changed := profiles.EmbeddedFiles(), fstest.MapFS{}
	require.NoError(t, fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(path, "profiles/") {
			return err
		}
		body, err := fs.ReadFile(files, path)
		body = regexp.MustCompile(`(?m)^whenFull:.*$`).ReplaceAll(body, nil)
		changed[path] = &fstest.MapFile{Data: append(body, "\nwhenFull: "+whenFull+"\n"...)}
		return err
	}))
	for _, name := range more {
		body, err := os.ReadFile("../devstack/catalogue/hubs/" + name)
		require.NoError(t, err)
		changed[name] = &fstest.MapFile{Data: body}
	}
	c, err := profiles.Load(changed)
	require.NoError(t, err)
	c.Hash = "0123456789ab"
	return c
}

func terms(t testing.TB) Terms { return Terms{Catalogue: catalogue(t), Now: noon} }

var noon = time.Date(2025, 1, 15, 12, 0, 0, 0, time.UTC)

// validRequest is one that passes every check.
func validRequest() Request {
	return Request{
		Principal:  As("github:id/2001", "maya", Requester, "platform"),
		Source:     SourceLabel,
		Permission: "maintain",
		PR:         &PullRequest{Repo: "acme/shop", Number: 41, Author: "maya", Head: "abc", Base: "main"},
		Ownership:  Ownership{Team: "shop", CostCenter: "cc-100", Environment: "test"},
		Profile:    "aws-minimal-test",
		Generation: 1,
	}
}

func find(t *testing.T, v Verdict, name string) Check {
	t.Helper()
	for _, c := range v.Checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no check %q in %v", name, v.Checks)
	return Check{}
}

func TestVerdictsAreGolden(t *testing.T) {
	refused := validRequest()
	refused.Principal.Name, refused.Permission, refused.Profile = "rita", "read", "ibm-standard"
	refused.PR.AuthorID = 2001 // who is called otherwise by now
	refused.PR.Fork, refused.Ownership = true, Ownership{}
	refused.Name, refused.Region, refused.Version, refused.BaseDomain = "Shop.One", "us-suoth", "4.19.1", "example.org"
	refused.TTL, refused.Team = 200*time.Hour, "billing"
	refused.Tags = map[string]string{"owner": "me", "Name": "x", "fine": "yes"}
	unknown := validRequest()
	unknown.Profile, unknown.Source, unknown.TTL = "aws-minmal-test", SourceComment, NoEnd
	newcomer := validRequest()
	newcomer.Profile, newcomer.PR.Fork, newcomer.PR.Draft, newcomer.PR.Association, newcomer.PR.Author = "", true, true, "FIRST_TIMER", "rita"
	newcomer.File = &profiles.RepositoryFile{Default: "aws-standard", Profiles: []string{"aws-*"}, TTL: 400 * time.Hour, Grace: minutes(10), Forks: "approve"}
	strict := newcomer
	strict.Profile, strict.File = "aws-standard", &profiles.RepositoryFile{Profiles: []string{"aws-min*"}, Drafts: "deny", Forks: "deny"}
	plain, full := terms(t), declaredTerms(t)
	full.Rules = objecting{checks: []Check{
		{Name: "hours/weekend", Result: Ask, Message: "Long clusters at weekends need a person's word.", Next: "Ask for 24h.", Approval: &Approval{Count: 2, By: Requester, For: time.Hour}},
		{Name: "tips/names", Result: Warn, Message: "Names with the team in front are found more easily.", Next: "Choose another name."},
	}}
	wait := full
	wait.Catalogue, wait.Rules = patient(t, full.Catalogue), nil
	for name, c := range map[string]struct {
		r Request
		u Usage
		t Terms
	}{
		"allowed": {validRequest(), Usage{}, plain}, "refused": {refused, Usage{}, plain}, "unknown-profile": {unknown, Usage{}, plain},
		"approval": {validRequest(), Usage{Team: Counts{Live: 4, Creating: 2, SpentCents: 30_000, CommittedCents: 9_000}}, full},
		"waits":    {validRequest(), Usage{Team: Counts{Live: 5, Creating: 1, Waiting: 1}, Repository: Counts{NodeHours: 100}}, wait},
		"no-room":  {validRequest(), Usage{Team: Counts{Live: 5, Creating: 3}, Person: Counts{Live: 4}, Repository: Counts{NodeHours: 395}}, full},
		"newcomer": {newcomer, Usage{}, plain}, "narrowed": {strict, Usage{}, plain},
		"another-owner": {asks(As("saml:maya", "maya", Requester, "billing", "shop")), Usage{}, full},
	} {
		t.Run(name, func(t *testing.T) {
			v := Evaluate(c.r, c.u, c.t, Settings{Installation: "demo"})
			got, err := json.MarshalIndent(struct {
				Words string `json:"message"`
				Verdict
			}{v.Text(), v}, "", "  ")
			require.NoError(t, err)
			path := filepath.Join("testdata", name+".json")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(path, append(got, '\n'), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got)+"\n")
		})
	}
}

func TestEachRuleRefusesInWordsWithANextStep(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Request)
		check  string
		text   string
		next   string
	}{
		"an unknown profile":            {func(r *Request) { r.Profile = "aws-minimal-tst" }, "profile", "No profile is called", "Did you mean aws-minimal-test?"},
		"a profile like no other":       {func(r *Request) { r.Profile = "gke" }, "profile", "No profile is called", "Choose one of: aws-minimal-test, aws-standard."},
		"a profile not enabled":         {func(r *Request) { r.Profile = "ibm-standard" }, "platform", ibmOff, "Choose one of: aws-minimal-test, aws-standard."},
		"a profile for admins":          {func(r *Request) { r.Profile = "aws-minimal-mint" }, "admin-only", "only for platform admins", "Choose one of: aws-minimal-test, aws-standard, or ask a platform admin"},
		"somebody who may only read":    {func(r *Request) { r.Permission = "read" }, "permission", "only read permission", "write permission"},
		"somebody who may only triage":  {func(r *Request) { r.Permission = "triage" }, "permission", "only triage permission", "write permission"},
		"somebody without permission":   {func(r *Request) { r.Permission = "none" }, "permission", "maya has no permission", "write permission"},
		"a permission nobody asked for": {func(r *Request) { r.Permission = "" }, "permission", "maya has no permission", "write permission"},
		"a fork, where none may":        {func(r *Request) { r.PR.Fork, r.File = true, &profiles.RepositoryFile{Forks: "deny"} }, "fork", "comes from a fork", "Push the branch to acme/shop itself"},
		"a repository out of the table": {func(r *Request) { r.Ownership = Ownership{} }, "ownership", "acme/shop is not in", "add acme/shop"},
		"an entry with a hole":          {func(r *Request) { r.Ownership.CostCenter = "" }, "ownership", "no valid cost center", "complete the entry"},
		"somebody else's team":          {func(r *Request) { r.Team = "billing" }, "team", "not known to belong", "shop, platform"},
		"a region off the list":         {func(r *Request) { r.Region = "us-est-2" }, "region", "not on the list", "Did you mean us-east-2?"},
		"a version off the list":        {func(r *Request) { r.Version = "4.20.2" }, "version", "not on the list", "4.20.1, 4.20.3"},
		"a base domain off the list":    {func(r *Request) { r.BaseDomain = "example.org" }, "base-domain", "not on the list", "labs.example.com"},
		"no end":                        {func(r *Request) { r.TTL = NoEnd }, "ttl", "Every cluster has an end", "The longest is 72 h"},
		"an end before its start":       {func(r *Request) { r.TTL = -time.Hour }, "ttl", "Every cluster has an end", "The longest is 72 h"},
		"a life above the maximum":      {func(r *Request) { r.TTL = 72*time.Hour + time.Second }, "ttl", "72h0m1s is more than the 72 h", "The longest is 72 h"},
		"a name with a dot":             {func(r *Request) { r.Name = "a.b" }, "name", "cannot be a cluster's name", "Use up to 21 characters"},
		"a name that ends in a dash":    {func(r *Request) { r.Name = "a-" }, "name", "cannot be a cluster's name", "leave the name out"},
		"a name that starts in a digit": {func(r *Request) { r.Name = "1a" }, "name", "cannot be a cluster's name", "leave the name out"},
		"a name too long":               {func(r *Request) { r.Name = strings.Repeat("a", 22) }, "name", "22 characters", "leave the name out"},
		"no name and no pull request":   {func(r *Request) { r.PR = nil }, "name", "needs a name", "Use up to 21"},
		"a reserved tag":                {func(r *Request) { r.Tags = map[string]string{"Owner": "x"} }, "tags", "Owner is set by the control plane", "Leave it out"},
		"a reserved tag in disguise":    {func(r *Request) { r.Tags = map[string]string{"ttlexpiry": "x"} }, "tags", "TTLExpiry is set", "Leave it out"},
		"the profile as a tag":          {func(r *Request) { r.Tags = map[string]string{"Profile": "x"} }, "tags", "Profile is set", "Leave it out"},
		"a tag AWS keeps":               {func(r *Request) { r.Tags = map[string]string{"aws:x": "y"} }, "tags", "AWS keeps", "another key"},
		"the destroyer's own tag":       {func(r *Request) { r.Tags = map[string]string{"openshiftClusterID": "another's"} }, "tags", "its destroyer find", "another key"},
		"the provider's tag": {func(r *Request) {
			r.Tags = map[string]string{"sigs.k8s.io/cluster-api-provider-aws/cluster/x-1": "owned"}
		}, "tags", "keys in k8s.io", "another key"},
		"a cleaner's tag": {func(r *Request) { r.Tags = map[string]string{"ExpirationDate": "2020-01-01"} }, "tags", "cleaners of cloud accounts", "another key"},
		"too many tags":   {func(r *Request) { r.Tags = many(16) }, "tags", "at most 15 tags", "Leave out 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := validRequest()
			c.change(&r)
			v := Evaluate(r, Usage{}, terms(t), Settings{})
			require.False(t, v.Allowed)
			require.Equal(t, Grant{}, v.Grant)
			require.Len(t, v.Refusals(), 1, "nothing else is wrong with it")
			check := find(t, v, c.check)
			require.Equal(t, Fail, check.Result)
			require.Contains(t, check.Message, c.text)
			require.Contains(t, check.Next, c.next)
		})
	}
}

func many(n int) map[string]string {
	tags := map[string]string{}
	for i := range n {
		tags[fmt.Sprintf("key-%d", i)] = "v"
	}
	return tags
}

func TestOtherSourcesAskTheRole(t *testing.T) {
	for role, allowed := range map[Role]bool{Requester: true, PlatformAdmin: true, Auditor: false, "": false} {
		r := validRequest()
		r.Source, r.Permission, r.Principal = "api", "", As("x", "maya", role)
		v := Evaluate(r, Usage{}, terms(t), Settings{})
		require.Equal(t, allowed, v.Allowed, role)
		require.NotEmpty(t, find(t, v, "permission").Message)
	}
	r := validRequest()
	r.Permission, r.Principal = "read", As("x", "maya", PlatformAdmin)
	require.False(t, Evaluate(r, Usage{}, terms(t), Settings{}).Allowed, "a role is no permission on GitHub")
}

func TestAProfileForAdminsIsForAdmins(t *testing.T) {
	for role, allowed := range map[Role]bool{Requester: false, PlatformAdmin: true, Auditor: false, "": false} {
		r := validRequest()
		r.Source, r.Permission, r.Principal, r.Profile = "api", "", As("x", "maya", role), "aws-minimal-mint"
		v := Evaluate(r, Usage{}, terms(t), Settings{})
		require.Equal(t, allowed, v.Allowed, role)
		require.Equal(t, allowed, find(t, v, "admin-only").Result == Pass)
		r.Profile = ""
		require.NotEqual(t, "aws-minimal-mint", Evaluate(r, Usage{}, terms(t), Settings{}).Grant.Profile, "nobody gets it unasked")
	}
	r := validRequest()
	r.Principal, r.Profile = As("x", "maya", PlatformAdmin), "aws-minimal-mnt"
	require.Contains(t, find(t, Evaluate(r, Usage{}, terms(t), Settings{}), "profile").Next, "aws-minimal-mint", "an admin is told of it")
}

func TestAnAllowedRequestHasEveryDefault(t *testing.T) {
	r := validRequest()
	r.Profile, r.Source = "", SourceComment
	v := Evaluate(r, Usage{}, terms(t), Settings{})
	require.True(t, v.Allowed)
	require.Equal(t, Grant{
		Profile: "aws-minimal-test", Platform: "aws", Provisioner: "openshift", Name: "pr41-shop", FallbackName: "pr41-shop-cuw3l", Region: "us-east-1", Zones: []string{"us-east-1a"}, SpareZones: []string{"us-east-1b", "us-east-1c"},
		Version: "4.20.3", BaseDomain: "labs.example.com", TTL: 24 * time.Hour, MaxTTL: 72 * time.Hour, Grace: time.Hour, RunGrace: 15 * time.Minute, MaxTries: 2, HourlyCents: 74, PriceCents: 1776, Nodes: 3, Weight: 1,
		Ownership: Ownership{Owner: "maya", Team: "shop", CostCenter: "cc-100", Environment: "test"},
	}, v.Grant)
}

func TestWhatWasAskedForIsGranted(t *testing.T) {
	r := validRequest()
	r.Profile, r.Name, r.Region, r.Version, r.TTL, r.Team = "aws-standard", "mine", "us-west-2", "4.20.1", 168*time.Hour, "platform"
	r.Ownership.Owner = "shop-leads"
	r.Tags = many(15)
	g := Evaluate(r, Usage{}, terms(t), Settings{}).Grant
	require.Equal(t, "mine", g.Name)
	require.Empty(t, g.FallbackName, "a chosen name is never changed behind one's back")
	require.Equal(t, []string{"us-west-2a", "us-west-2b", "us-west-2c"}, g.Zones)
	require.Equal(t, "4.20.1", g.Version)
	require.Equal(t, 168*time.Hour, g.TTL)
	require.Equal(t, Ownership{Owner: "shop-leads", Team: "platform", CostCenter: "cc-100", Environment: "test"}, g.Ownership)
	require.Equal(t, 148, g.HourlyCents)
	require.Len(t, EffectiveTags(r, g, "clu_1", "job_1", time.Now(), "demo"), profiles.MaxTags)
}

func TestADemoScalesItsHoursAndGraceButNotTheRules(t *testing.T) {
	s := Settings{Hour: time.Second, Grace: 3 * time.Second}
	g := Evaluate(validRequest(), Usage{}, terms(t), s).Grant
	require.Equal(t, 24*time.Second, g.TTL)
	require.Equal(t, 72*time.Second, g.MaxTTL)
	require.Equal(t, 3*time.Second, g.Grace)
	require.Equal(t, 4*time.Second, s.Scale(4*time.Hour))
	require.Equal(t, 4*time.Hour, s.Asked(4*time.Second))
	require.Equal(t, 90*time.Minute, Settings{}.Asked(90*time.Minute))
	require.Equal(t, 4*time.Hour, Settings{}.Scale(4*time.Hour))
	r := validRequest()
	r.TTL = 73 * time.Hour
	require.False(t, Evaluate(r, Usage{}, terms(t), s).Allowed)
}

func TestABotAsksForNothingByALabel(t *testing.T) {
	bots := validRequest()
	bots.Bot = true
	v := Evaluate(bots, Usage{}, terms(t), Settings{})
	require.False(t, v.Allowed)
	require.Equal(t, Fail, find(t, v, "permission").Result)
	require.False(t, Authorize(bots, ActHold, nil).Allowed, "the label ocp/keep")
	bots.Source = SourceComment // a workflow's repository_dispatch
	require.True(t, Evaluate(bots, Usage{}, terms(t), Settings{}).Allowed)
}

func TestEndingAClusterTakesPermissionAlone(t *testing.T) {
	r := validRequest()
	r.Profile, r.Ownership, r.PR.Fork = "gone", Ownership{}, true
	require.True(t, Authorize(r, ActDestroy, nil).Allowed)
	r.Permission = "read"
	v := Authorize(r, ActDestroy, nil)
	require.False(t, v.Allowed)
	require.Contains(t, v.Checks[0].Message, "to destroy a cluster, write is needed")
	for act, text := range map[Act]string{ActKubeconfig: "to fetch a cluster's kubeconfig, write is needed", ActSee: "to see clusters here", ActApprove: "to approve or refuse a cluster"} {
		require.Contains(t, checkGitHub(Request{Permission: "read"}, phrases[act].ofOne).Message, text)
	}
}

func TestAnInstallationMayAskForMoreThanWrite(t *testing.T) {
	for _, c := range []struct {
		takes, has string
		enough     bool
	}{{"", "triage", false}, {"", "write", true}, {"write", "write", true}, {"maintain", "write", false}, {"maintain", "maintain", true}, {"maintain", "admin", true}, {"admin", "maintain", false}} {
		r := validRequest()
		r.Takes, r.Permission = c.takes, c.has
		require.Equal(t, c.enough, Authorize(r, ActDestroy, nil).Allowed, c)
		require.Equal(t, c.enough, r.MayFor(r.Ownership.Team), c)
		require.Equal(t, c.enough, Evaluate(r, Usage{}, terms(t), Settings{}).Allowed, c)
	}
	require.Contains(t, checkGitHub(Request{Permission: "write", Takes: "maintain"}, phrases[ActDestroy].ofOne).Message, "maintain is needed")
}

func TestTagsOnIBMCloudAreThoseThatItCanKeep(t *testing.T) {
	judged := func(profile string, tags map[string]string) Verdict {
		t.Helper()
		r := validRequest()
		r.Profile, r.Tags = profile, tags
		return Evaluate(r, Usage{}, Terms{Catalogue: embedded(t, profiles.WhenFullRefuse), Now: noon}, Settings{})
	}
	both := map[string]string{"color": "blue", "Color": "green"}
	for name, c := range map[string]struct {
		tags map[string]string
		want string
	}{
		"a character of AWS alone":  {map[string]string{"mail": "maya@example.com"}, `The tag "mail": on IBM Cloud tags may contain letters, digits, spaces and _ - . and the value also :.`},
		"a colon in the key":        {map[string]string{"a:b": "c"}, `The tag "a:b": on IBM Cloud the key ends at the first colon.`},
		"more than one string has":  {map[string]string{"note": strings.Repeat("n", 124)}, `The tag "note": IBM Cloud stores a tag as key:value, with at most 128 characters in all.`},
		"keys that differ in case":  {both, `The tags "Color" and "color" have one key on IBM Cloud, which ignores case.`},
		"a key of ours in any case": {map[string]string{"OWNER": "x"}, "The tag Owner is set by the control plane and cannot be chosen."},
	} {
		v := judged("ibm-standard", c.tags)
		require.False(t, v.Allowed, name)
		require.Len(t, v.Refusals(), 1, name)
		require.Contains(t, v.Refusals()[0].Message, c.want, name)
	}
	require.True(t, judged("aws-standard", both).Allowed, "AWS keeps both")
	require.True(t, judged("ibm-standard", map[string]string{"color": "blue", "at": "12:30", "note": strings.Repeat("n", 123)}).Allowed)
}

func TestEffectiveTagsAreTheNineAndOursOverTheUsers(t *testing.T) {
	g := Evaluate(validRequest(), Usage{}, terms(t), Settings{}).Grant
	g.Tags = map[string]string{"Owner": "thief", "color": "blue"}
	at := time.Date(2025, 1, 1, 13, 0, 0, 0, time.FixedZone("CET", 3600))
	require.Equal(t, map[string]string{
		"ManagedBy": "cluster-control-plane", "ClusterId": "clu_1", "ClusterName": "pr41-shop", "Owner": "maya", "Team": "shop", "CostCenter": "cc-100",
		"Environment": "test", "TTLExpiry": "2025-01-04T12:00:00Z", "RequestId": "job_1", "InstallationId": "demo", "color": "blue",
	}, EffectiveTags(validRequest(), g, "clu_1", "job_1", at, "demo"))
	require.Equal(t, "thief", g.Tags["Owner"], "the grant is left alone")
}

func TestNoRequestIsRefusedWithoutAMessageAndNoneIsGrantedPastItsBounds(t *testing.T) {
	c := catalogue(t)
	rapid.Check(t, func(t *rapid.T) {
		r := validRequest()
		r.Profile = rapid.SampledFrom(append(c.Names(), "", "nope")).Draw(t, "profile")
		r.Permission = rapid.SampledFrom([]string{"admin", "write", "maintain", "read", "triage", "none", ""}).Draw(t, "permission")
		r.PR.Fork = rapid.Bool().Draw(t, "fork")
		r.TTL = time.Duration(rapid.Int64().Draw(t, "ttl"))
		r.Name = rapid.String().Draw(t, "name")
		r.Region = rapid.SampledFrom([]string{"", "us-east-1", "us-west-2", "eu-west-1"}).Draw(t, "region")
		r.Tags = rapid.MapOfN(rapid.String(), rapid.String(), 0, 20).Draw(t, "tags")
		v := Evaluate(r, Usage{}, Terms{Catalogue: c}, Settings{})
		require.Equal(t, len(v.Refusals()) == 0, v.Allowed)
		for _, check := range v.Checks {
			require.NotEmpty(t, check.Message)
			require.Equal(t, check.Result != Pass, check.Next != "", check)
		}
		if !v.Allowed {
			return
		}
		p, _ := c.Get(v.Grant.Profile)
		require.True(t, p.Enabled)
		require.Equal(t, r.PR.Fork, v.Approval != nil)
		require.True(t, v.Grant.TTL > 0 && v.Grant.TTL <= p.MaxTTL)
		_, err := p.InstallConfig(profiles.InstallInput{Name: v.Grant.Name, BaseDomain: v.Grant.BaseDomain, Region: v.Grant.Region, Zones: v.Grant.Zones,
			Version: v.Grant.Version, Tags: EffectiveTags(r, v.Grant, "clu_1", "job_1", time.Now(), "demo")})
		require.NoError(t, err, "what policy grants, the installer takes")
	})
}
