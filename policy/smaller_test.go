package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

func TestASmallerKindIsProposedIfItWouldDo(t *testing.T) {
	with := Terms{Catalogue: embedded(t, profiles.WhenFullRefuse, "profiles/namespace.yaml").Without(map[string]string{"ibmcloud": ibmOff}), Now: noon}
	with.Catalogue.Accounts = append(with.Catalogue.Accounts, profiles.Account{Name: "lab", Platform: "kubernetes", Number: "1"})
	for name, c := range map[string]struct {
		change   func(*Request)
		proposed bool
	}{
		"it would":                      {func(*Request) {}, true},
		"regions differ":                {func(r *Request) { r.Region = "us-east-1" }, true},
		"the same limits hold":          {func(r *Request) { r.PR.Draft = true; r.Permission = "read" }, false},
		"a version is named":            {func(r *Request) { r.Version = "4.20.1" }, false},
		"a form names what is usual":    {func(r *Request) { r.Version, r.Addons = "4.20.3", &[]string{} }, true},
		"add-ons are named":             {func(r *Request) { r.Addons = &[]string{"gitops"} }, false},
		"it is too short":               {func(r *Request) { r.Profile, r.TTL = "aws-standard", 1<<55 }, false},
		"the smallest is asked already": {func(r *Request) { r.Profile = "namespace" }, false},
		"no profile is known":           {func(r *Request) { r.Profile = "nothing" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := validRequest()
			c.change(&r)
			checks := ProposeSmaller(r, Usage{}, with, Settings{})
			if !c.proposed {
				require.Empty(t, checks)
				return
			}
			v := Verdict{Checks: checks}
			require.Equal(t, []Check{{
				Name: SmallerCheck, Result: Warn, Asked: "aws-minimal-test", Accept: "namespace",
				Message: "Profile namespace is ready within seconds instead of after about 40 minutes, and costs $0.03 an hour instead of $0.74, by list prices.",
				Next:    "Take it unless you need cluster-admin, nodes, operators or CRDs.",
			}}, v.Smaller())
		})
	}
	both := Terms{Catalogue: embedded(t, profiles.WhenFullRefuse, "profiles/namespace.yaml", "profiles/hcp-small.yaml"), Now: noon}
	both.Catalogue.Accounts = with.Catalogue.Accounts
	var accepted []string
	for _, c := range ProposeSmaller(validRequest(), Usage{}, both, Settings{}) {
		accepted = append(accepted, c.Accept)
	}
	require.Equal(t, []string{"namespace", "hcp-small"}, accepted, "one of each kind, the cheapest first")
	with.Brakes = []lifecycle.Brake{{Kind: lifecycle.Freeze, ID: "frz_1", Until: noon.Add(time.Hour)}}
	require.Empty(t, ProposeSmaller(validRequest(), Usage{}, with, Settings{}), "it would wait, too")
	require.Empty(t, ProposeSmaller(validRequest(), Usage{}, terms(t), Settings{}), "there is no smaller kind")
	require.Empty(t, Verdict{}.Smaller())
	require.Empty(t, Verdict{Checks: []Check{{Name: SmallerCheck, Result: Warn}}}.Hits())
}
