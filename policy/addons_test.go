package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/profiles"
)

// furnished are terms with the built-in add-ons.
func furnished(t *testing.T) Terms {
	t.Helper()
	c, err := profiles.Embedded()
	require.NoError(t, err)
	out := terms(t)
	out.Catalogue.Addons = c.Addons
	return out
}

func TestAddonsAreThoseThatTheFilePicksOfTheAllowed(t *testing.T) {
	v := Evaluate(withFile(profiles.RepositoryFile{Addons: []string{"pr-namespace", "cert-manager"}}), Usage{}, furnished(t), Settings{})
	require.True(t, v.Allowed, "%v", v.Refusals())
	require.Equal(t, []string{"pr-namespace", "cert-manager"}, v.Grant.Addons, "in the order they were picked")
	check := find(t, v, "add-ons")
	require.Equal(t, []any{Pass, "It gets what .github/ocpctl.yaml of acme/shop picks: pr-namespace, cert-manager."}, []any{check.Result, check.Message})

	for _, r := range []Request{validRequest(), withFile(profiles.RepositoryFile{})} {
		v = Evaluate(r, Usage{}, furnished(t), Settings{})
		require.Empty(t, v.Grant.Addons)
		require.False(t, slices.ContainsFunc(v.Checks, func(c Check) bool { return c.Name == "add-ons" }), "none picked and none given: nothing to say")
	}
}

func TestAVerdictSaysWhichAddonsAClaimedClusterGets(t *testing.T) {
	says := func(change func(*Terms), addons ...string) string {
		on := furnished(t)
		on.Claims, on.Catalogue.Pools = true, []profiles.Pool{{Name: "ready", Profile: validRequest().Profile}}
		change(&on)
		return find(t, Evaluate(withFile(profiles.RepositoryFile{Addons: addons}), Usage{}, on, Settings{}), "add-ons").Message
	}
	const text = "On a cluster from a pool, cert-manager is installed after the claim."
	require.Contains(t, says(func(*Terms) {}, "cert-manager"), text)
	for name, change := range map[string]func(*Terms){
		"no pool may serve the request": func(on *Terms) { on.Claims = false },
		"a pool of other teams":         func(on *Terms) { on.Catalogue.Pools[0].Teams = []string{"others"} },
		"a pool of another profile":     func(on *Terms) { on.Catalogue.Pools[0].Profile = "other" },
	} {
		require.NotContains(t, says(change, "cert-manager"), "pool", name)
	}
}

func TestAddonsThatAreNotAllowedAreRefusedWithWhatWouldBe(t *testing.T) {
	v := Evaluate(withFile(profiles.RepositoryFile{Addons: []string{"cert-manger"}}), Usage{}, furnished(t), Settings{})
	require.False(t, v.Allowed)
	require.Equal(t, []any{
		"add-ons", `There is no add-on "cert-manger", which .github/ocpctl.yaml of acme/shop picks.`,
		"Did you mean cert-manager? Pick of these in .github/ocpctl.yaml on the base branch: cert-manager, pr-namespace.",
	}, []any{v.Refusals()[0].Name, v.Refusals()[0].Message, v.Refusals()[0].Next})

	many := withFile(profiles.RepositoryFile{Addons: strings.Split(strings.Repeat("pr-namespace,", profiles.MostAddons+1), ",")[:profiles.MostAddons+1]})
	v = Evaluate(many, Usage{}, furnished(t), Settings{})
	require.False(t, v.Allowed)
	require.Equal(t, "at most 10", v.Refusals()[0].Accept)
}

func TestAProfilesOwnAddonsComeWhereTheFilePicksNone(t *testing.T) {
	p, known := furnished(t).Catalogue.Get("aws-minimal-test")
	require.True(t, known)
	p.Addons = profiles.Addons{Default: []string{"pr-namespace"}}
	j := judging{r: validRequest(), profile: p, known: true, terms: furnished(t)}
	require.Equal(t, []string{"pr-namespace"}, j.chooseAddons())
	require.Equal(t, "It gets what profile aws-minimal-test gives each of its clusters: pr-namespace.", j.checkAddons().Message)
	j.r = withFile(profiles.RepositoryFile{Addons: []string{"cert-manager"}})
	check := j.checkAddons()
	require.Equal(t, []any{Fail, "Profile aws-minimal-test does not allow the add-on cert-manager, which .github/ocpctl.yaml of acme/shop picks."}, []any{check.Result, check.Message})
}

func TestAddonsThatTheRequestPicksComeInPlaceOfAllOthers(t *testing.T) {
	pick := func(names ...string) Request {
		r := withFile(profiles.RepositoryFile{Addons: []string{"cert-manager"}})
		r.Addons = &names
		return r
	}
	v := Evaluate(pick("pr-namespace"), Usage{}, furnished(t), Settings{})
	require.True(t, v.Allowed, "%v", v.Refusals())
	require.Equal(t, []string{"pr-namespace"}, v.Grant.Addons)
	require.Equal(t, "It gets what the request picks: pr-namespace.", find(t, v, "add-ons").Message)

	v = Evaluate(pick(), Usage{}, furnished(t), Settings{})
	require.True(t, v.Allowed)
	require.Empty(t, v.Grant.Addons, "none is a choice too")
	require.Equal(t, "It gets no add-ons, as the request says.", find(t, v, "add-ons").Message)

	v = Evaluate(pick("cert-manger"), Usage{}, furnished(t), Settings{})
	require.False(t, v.Allowed)
	require.Equal(t, `There is no add-on "cert-manger", which the request picks.`, v.Refusals()[0].Message)
	require.Equal(t, "Did you mean cert-manager? Pick of these: cert-manager, pr-namespace.", v.Refusals()[0].Next)
}
