package createform

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// offered are the built-in profiles with two teams.
func offered(t *testing.T) (profiles.Catalogue, []profiles.Profile) {
	t.Helper()
	c, err := profiles.Embedded()
	require.NoError(t, err)
	c.Teams = []profiles.Team{
		{Name: "payments", CostCenters: []string{"gold"}, Environments: []string{"prod"}},
		{Name: "platform", CostCenters: []string{"sandbox", "ci"}, Environments: []string{"test", "staging"}},
	}
	return c, c.All()
}

func maya(teams ...string) policy.Principal {
	return policy.As("slack:T1/U1", "Maya", policy.Requester, teams...)
}

func TestChoicesFollowFromProfileAndTeam(t *testing.T) {
	c, list := offered(t)
	f := Of(maya("payments", "platform"), c, list, "aws-minimal-test", Values{Profile: "aws-standard", Team: "platform", Region: "mars", CostCenter: "ci"})
	require.Equal(t, "aws-standard", f.Profile.Name)
	require.Equal(t, []Option{{Value: "payments", Text: "payments"}, {Value: "platform", Text: "platform"}}, f.Field(Team).Choices)
	require.Equal(t, "us-east-1", f.Field(Region).Value, "what is not allowed gives way to the default")
	require.Equal(t, "us-east-1, $1.48/h", f.Field(Region).Choices[0].Text)
	require.Equal(t, []string{"ci", "test"}, []string{f.Field(CostCenter).Value, f.Field(Environment).Value})
	require.Equal(t, "such as 8h, 90m or 2d; at most 7 d, by default 24 h", f.Field(TTL).Hint)
	require.Equal(t, "Maya", f.Field(Owner).Unasked)
	require.Equal(t, Choices, f.Field(Addons).Kind)
	for _, field := range f.Fields {
		require.NotEmpty(t, field.Label, field.Name)
		require.Contains(t, Names, field.Name)
		if field.Kind == Choice {
			require.True(t, slices.ContainsFunc(field.Choices, func(o Option) bool { return o.Value == field.Value }), field.Name)
		}
	}
	require.Contains(t, f.Locked, Fact{"Machines", "3 × m6i.xlarge; 3 × m6i.xlarge workers, scalable from 0 to 3"})
	require.Contains(t, f.Locked, Fact{"Platform", "AWS"})
}

func TestAnotherTeamsChoicesAreNotShown(t *testing.T) {
	c, list := offered(t)
	f := Of(maya("platform"), c, list, "aws-minimal-test", Values{Team: "payments"})
	require.Equal(t, "platform", f.Field(Team).Value)
	require.False(t, slices.ContainsFunc(f.Field(CostCenter).Choices, func(o Option) bool { return o.Value == "gold" }))

	c.Teams = nil
	f = Of(policy.As("x", "Will", policy.PlatformAdmin), c, list, "aws-minimal-test", Values{Team: "any"})
	require.Equal(t, []any{Text, "any", Text}, []any{f.Field(Team).Kind, f.Field(Team).Value, f.Field(CostCenter).Kind}, "no team is declared, so any name is valid")
}

func TestAddonsOfAnotherProfileGiveWayToTheDefault(t *testing.T) {
	c, list := offered(t)
	of := func(v Values) Form { return Of(maya("platform"), c, list, "aws-standard", v) }
	require.Empty(t, of(Values{}).Field(Addons).Value)
	picked := of(Values{Profile: "aws-standard", Addons: "cert-manager,nothing", AddonsFor: "aws-standard"})
	require.Equal(t, "cert-manager", picked.Field(Addons).Value)
	require.True(t, picked.Field(Addons).Has("cert-manager"))
	require.Equal(t, []string{"cert-manager"}, *picked.Values().Request(policy.SourceSlack).Addons)
	require.Empty(t, of(Values{Profile: "aws-standard", Addons: "cert-manager", AddonsFor: "aws-minimal-test"}).Field(Addons).Value)

	for i := range list {
		list[i].Addons, list[i].AllowUserTags = profiles.Addons{}, false
	}
	bare := of(Values{Addons: "cert-manager", AddonsFor: "aws-standard", ExtraTags: "A=b"})
	require.Empty(t, bare.Field(Addons).Name, "nothing to pick")
	require.Empty(t, bare.Field(ExtraTags).Name, "the profile does not allow any")
	r := bare.Values().Request(policy.SourceSlack)
	require.Nil(t, r.Addons)
	require.Nil(t, r.ExtraTags)
}

func TestValuesAreReadIntoARequestWithWhatIsWrong(t *testing.T) {
	r := Values{Name: "demo", TTL: "12", ExtraTags: " A = b=c \n\nB="}.Request(policy.SourceWeb)
	require.Empty(t, r.Wrong)
	require.Equal(t, []any{"demo", 12 * time.Hour, policy.SourceWeb, map[string]string{"A": "b=c", "B": ""}}, []any{r.Name, r.TTL, r.Source, r.ExtraTags})
	require.Nil(t, r.Addons, "none were chosen: the profile's count")

	r = Values{TTL: "a day", ExtraTags: "=x\nA=c\nA=d"}.Request(policy.SourceWeb)
	require.Equal(t, []app.Field{
		{Name: TTL, Detail: `"a day" is not a duration`, Accept: []string{duration.Accepted}},
		{Name: ExtraTags, Detail: `"=x" is not a tag`, Accept: []string{"a line such as Purpose=smoke"}},
		{Name: ExtraTags, Detail: "A is given twice", Accept: []string{"each key once"}},
	}, r.Wrong)
}

func TestProblemsStandAtTheirFieldsOrBesideThem(t *testing.T) {
	c, list := offered(t)
	f := Of(maya("platform"), c, list, "aws-standard", Values{})
	at, others := f.Blame([]app.Field{{Name: "quota"}, {Name: "extraTags.n", Detail: "odd"}, {Name: "platform"}})
	require.Equal(t, []app.Field{{Name: "quota"}}, others)
	require.Equal(t, "odd", at[ExtraTags][0].Detail)
	require.Len(t, at[Profile], 1)
}

func TestAChangedValueChangesTheHash(t *testing.T) {
	v := Values{Name: "demo", ExtraTags: "A=b\r\nB=c"}
	require.Equal(t, v.Hash(), Values{Name: "demo", ExtraTags: "A=b\nB=c"}.Hash())
	require.NotEqual(t, v.Hash(), Values{Name: "demo2", ExtraTags: "A=b\r\nB=c"}.Hash())
	require.NotEqual(t, Values{Name: "a"}.Hash(), Values{Profile: "a"}.Hash())
}

func TestANameIsProposedUnlessThereIsOne(t *testing.T) {
	v := Values{Profile: "aws-standard"}
	proposed := v.ProposeName("Maya Okafor", "a form")
	require.Regexp(t, "^maya-okafor-[a-z2-7]{5}$", proposed[Name])
	require.Equal(t, proposed, v.ProposeName("Maya Okafor", "a form"), "the same form proposes the same name")
	require.NotEqual(t, proposed, v.ProposeName("Maya Okafor", "another form"))
	require.Empty(t, v[Name], "the values themselves stay as they are")
	require.Equal(t, "demo", Values{Name: "demo"}.ProposeName("Maya", "a form")[Name])
	require.NotEmpty(t, Values(nil).ProposeName("", "a form")[Name])
}
