package policy

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/profiles"
)

func TestAnApprovalIsWhatAllWhoAskForItAgreeOn(t *testing.T) {
	base := terms(t)
	base.Rules = objecting{checks: []Check{
		{Name: "a", Result: Ask, Message: "One.", Next: "x", Approval: &Approval{Count: 2, By: Requester, For: 8 * time.Hour}},
		{Name: "b", Result: Ask, Message: "Two.", Next: "x", Approval: &Approval{By: Requester, For: time.Hour}},
		{Name: "c", Result: Warn, Message: "By the way.", Next: "x"},
	}}
	v := Evaluate(validRequest(), Usage{}, base, Settings{})
	require.True(t, v.Allowed)
	require.Equal(t, &Approval{Count: 2, By: Requester, For: time.Hour, Why: []string{"One.", "Two."}}, v.Approval)
	require.Equal(t, "Accepted. It starts when it is approved. 2 other members of the team must approve this within 1 h. One. Two.", v.Text())
	require.Len(t, v.Asks(), 2)
	require.Len(t, v.Warnings(), 1)
	base.Rules = objecting{checks: []Check{
		{Name: "a", Result: Ask, Message: "One.", Next: "x", Approval: &Approval{Count: 1, By: Requester, For: 48 * time.Hour}}, {Name: "b", Result: Ask, Message: "Two.", Next: "x"},
	}}
	require.Equal(t, &Approval{Count: 1, By: PlatformAdmin, For: 24 * time.Hour, Why: []string{"One.", "Two."}}, Evaluate(validRequest(), Usage{}, base, Settings{}).Approval, "the role that may most, the shortest time")
	r := validRequest()
	r.Permission = "read"
	v = Evaluate(r, Usage{}, base, Settings{})
	require.Nil(t, v.Approval, "what is refused asks nobody")
	require.Contains(t, v.Text(), "Refused. maya has only read permission")
}

func TestRulesSeeTheCompletedRequestAndWhatTheyFillInIsJudged(t *testing.T) {
	base, saw := declaredTerms(t), []In{}
	base.Catalogue.Quotas = nil
	base.Rules = objecting{saw: &saw, defaults: func(in In) (Request, []Check) {
		if in.Request.Profile == "" {
			in.Request.Profile = "aws-standard"
			return in.Request, []Check{{Name: "d/profile", Result: Pass, Message: "Filled in the profile."}}
		}
		in.Request.Region, in.Request.TTL = "us-west-2", 500*time.Hour
		return in.Request, []Check{{Name: "d/rest", Result: Pass, Message: "Filled in the rest."}}
	}}
	r := validRequest()
	r.Profile = ""
	v := Evaluate(r, Usage{}, base, Settings{})
	require.Len(t, v.Refusals(), 1, "a default is asked like a person")
	require.Equal(t, "ttl", v.Refusals()[0].Name)
	require.Len(t, find(t, v, "rules").Checks, 2)
	require.Len(t, saw, 1)
	got := saw[0].Request
	require.Equal(t, []string{"aws-standard", "us-west-2", "4.20.3", "labs.example.com", "pr41-shop", "shop", "maya", "cc-100", "test"},
		[]string{got.Profile, got.Region, got.Version, got.BaseDomain, got.Name, got.Team, got.Owner, got.CostCenter, got.Environment})
	require.Equal(t, "shop", saw[0].Team.Name)
	require.Equal(t, noon, saw[0].Now)
}

// asked is a request, what is used, and terms of quotas, a budget and rules.
type asked struct {
	r Request
	u Usage
	t Terms
}

func anything(base Terms, patient profiles.Catalogue) *rapid.Generator[asked] {
	return rapid.Custom(func(t *rapid.T) asked {
		a := asked{r: validRequest(), u: used(t, "first"), t: base}
		a.r.Profile = rapid.SampledFrom([]string{"aws-minimal-test", "aws-standard", "", "ibm-standard", "nope"}).Draw(t, "profile")
		a.r.Source = rapid.SampledFrom(Sources).Draw(t, "source")
		a.r.Team = rapid.SampledFrom([]string{"", "shop", "platform", "shpo"}).Draw(t, "team")
		a.r.CostCenter = rapid.SampledFrom([]string{"", "cc-100", "x"}).Draw(t, "cost center")
		a.r.TTL = time.Duration(rapid.IntRange(-1, 80).Draw(t, "hours")) * time.Hour
		if rapid.Bool().Draw(t, "no pull request") {
			a.r.PR, a.r.Ownership, a.r.Name = nil, Ownership{}, "mine"
		}
		if rapid.Bool().Draw(t, "waits") {
			a.t.Catalogue = patient
		}
		a.t.Catalogue.Teams = slices.Clone(base.Catalogue.Teams)
		a.t.Catalogue.Teams[1].Budget = profiles.Budget{MonthlyCents: rapid.Int64Range(0, 9_000).Draw(t, "budget"), WarnPercent: rapid.IntRange(0, 100).Draw(t, "warn"), Hard: rapid.Bool().Draw(t, "hard")}
		if rapid.Bool().Draw(t, "rules") {
			result := rapid.SampledFrom([]Result{Warn, Ask, Fail}).Draw(t, "rule")
			a.t.Rules = objecting{checks: []Check{{Name: "p/r", Result: result, Message: "Because.", Next: "Ask."}}}
		}
		return a
	})
}

func used(t *rapid.T, name string) Usage {
	counts := rapid.Custom(func(t *rapid.T) Counts {
		return Counts{Live: rapid.IntRange(0, 6).Draw(t, "live"), Creating: rapid.IntRange(0, 4).Draw(t, "creating"), Waiting: rapid.IntRange(0, 2).Draw(t, "waiting"),
			NodeHours: float64(rapid.IntRange(0, 500).Draw(t, "node hours")), SpentCents: rapid.Int64Range(0, 5_000).Draw(t, "spent"), CommittedCents: rapid.Int64Range(0, 5_000).Draw(t, "committed")}
	})
	return Usage{Person: counts.Draw(t, name+" person"), Team: counts.Draw(t, name+" team"), Repository: counts.Draw(t, name+" repository"), Everywhere: counts.Draw(t, name+" everywhere")}
}

func (u Usage) plus(more Usage) Usage {
	add := func(a, b Counts) Counts {
		return Counts{a.Live + b.Live, a.Creating + b.Creating, a.Waiting + b.Waiting, a.NodeHours + b.NodeHours, a.SpentCents + b.SpentCents, a.CommittedCents + b.CommittedCents}
	}
	return Usage{
		Person: add(u.Person, more.Person), Team: add(u.Team, more.Team), Repository: add(u.Repository, more.Repository), Everywhere: add(u.Everywhere, more.Everywhere),
	}
}

func TestAVerdictHoldsTogether(t *testing.T) {
	base := declaredTerms(t)
	all := anything(base, patient(t, base.Catalogue))
	rapid.Check(t, func(t *rapid.T) {
		a := all.Draw(t, "asked")
		v := Evaluate(a.r, a.u, a.t, Settings{})
		require.Equal(t, marshal(t, v), marshal(t, Evaluate(a.r, a.u, a.t, Settings{})), "the same question has the same answer")
		fails := false
		each(v.Checks, func(c Check) {
			require.NotEmpty(t, c.Name)
			require.NotEmpty(t, c.Message, c.Name)
			require.Equal(t, c.Result != Pass, c.Next != "", "%s: %s", c.Name, c.Message)
			fails = fails || c.Result == Fail
			for _, child := range c.Checks {
				require.LessOrEqual(t, severity[child.Result], severity[c.Result], "a check is as bad as the worst of its own")
			}
		})
		require.Equal(t, !fails, v.Allowed)
		require.Equal(t, fails, len(v.Refusals()) > 0)
		require.Equal(t, v.Allowed && len(v.Asks()) > 0, v.Approval != nil)
		require.Equal(t, v.Allowed && len(v.Full()) > 0, len(v.Waits) > 0)
		require.NotEmpty(t, v.Text())
		for _, full := range v.Waits {
			require.Contains(t, v.Grant.Limits, full)
		}
		if v.Allowed {
			require.True(t, v.Grant.Nodes > 0 && v.Grant.Weight > 0 && v.Grant.PriceCents > 0)
			_, known, _ := a.t.Catalogue.Team(v.Grant.Ownership.Team)
			require.True(t, known)
		}
	})
}

func TestMoreUsageNeverTurnsARefusalIntoAnAcceptance(t *testing.T) {
	base := declaredTerms(t)
	all := anything(base, patient(t, base.Catalogue))
	rank := func(v Verdict) int {
		switch {
		case !v.Allowed:
			return 3
		case len(v.Waits) > 0 && v.Approval != nil:
			return 2
		case len(v.Waits) > 0 || v.Approval != nil:
			return 1
		}
		return 0
	}
	rapid.Check(t, func(t *rapid.T) {
		a, more := all.Draw(t, "asked"), used(t, "more")
		require.LessOrEqual(t, rank(Evaluate(a.r, a.u, a.t, Settings{})), rank(Evaluate(a.r, a.u.plus(more), a.t, Settings{})))
	})
}

func marshal(t *rapid.T, v Verdict) string {
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

func each(checks []Check, look func(Check)) {
	for _, c := range checks {
		look(c)
		each(c.Checks, look)
	}
}

func TestNoSeatWithoutAMatchAndNoneMoreForFewerClaims(t *testing.T) {
	values := []string{"shop", "dev-shop", "*", "", "a b", "ocp-admins", "dev-*", "{groups}"}
	attributes := []string{"groups", "email", "owner"}
	identity := rapid.Custom(func(t *rapid.T) profiles.Identity {
		return profiles.Identity{
			Source: rapid.SampledFrom([]profiles.Source{profiles.SourceSAML, profiles.SourceGitHub}).Draw(t, "source"),
			Match:  rapid.MapOfN(rapid.SampledFrom(attributes), rapid.SliceOfN(rapid.SampledFrom([]string{"*", "dev-*", "shop", "ocp-admins"}), 1, 2), 0, 2).Draw(t, "match"),
			Role:   rapid.SampledFrom([]string{"requester", "platform_admin", "auditor", "owner", ""}).Draw(t, "role"),
			Teams:  rapid.SliceOfN(rapid.SampledFrom([]string{"*", "shop", "{groups}", "{groups:dev-}", "{owner}"}), 0, 2).Draw(t, "teams"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(identity, 0, 4).Draw(t, "identities")
		claims := Claims{Source: profiles.SourceSAML, Values: rapid.MapOf(rapid.SampledFrom(attributes), rapid.SliceOfN(rapid.SampledFrom(values), 0, 3)).Draw(t, "values")}
		seats := SeatsOf(ids, claims)
		matched := slices.DeleteFunc(slices.Clone(ids), func(i profiles.Identity) bool { return !i.Fits(claims.Source, claims.Issuer, claims.Values) })
		require.Equal(t, seats, SeatsOf(matched, claims), "no seat without a match")
		for _, s := range seats {
			require.Contains(t, Roles, s.Role)
			require.True(t, s.Team == EveryTeam || profiles.TeamName(s.Team), s.Team)
			if s.Team == EveryTeam {
				require.True(t, slices.ContainsFunc(matched, func(i profiles.Identity) bool { return slices.Contains(i.Teams, "*") && i.Role == string(s.Role) }), "no claim says every team")
			}
		}
		fewer := Claims{Source: claims.Source, Values: maps.Clone(claims.Values)}
		for _, attribute := range attributes {
			if held := fewer.Values[attribute]; len(held) > 0 && rapid.Bool().Draw(t, "less "+attribute) {
				fewer.Values[attribute] = held[1:]
			}
		}
		for _, s := range SeatsOf(ids, fewer) {
			require.Contains(t, seats, s, "fewer claims give no more seats")
		}
	})
}
