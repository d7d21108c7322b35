package slack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
)

func TestWhatCannotBeReadIsSaidAtOnce(t *testing.T) {
	view := func(values map[string]string) inbound.View {
		v := inbound.View{Callback: blocks.FormCreate, Values: map[string]map[string]string{"region:aws-standard": {"region:aws-standard": "mars-1"}}}
		for field, value := range values {
			v.Values[field] = map[string]string{field: value}
		}
		return v
	}
	require.Empty(t, formErrors(view(map[string]string{"name": "shop-smoke", "ttl": "12", "extraTags": "A=b"})), "whether the region exists is not a question of form")
	require.Equal(t, map[string]string{
		"name":      `"Shop.One" cannot be a cluster's name. Use up to 21 characters: a to z, 0 to 9 and dashes, starting with a letter and not ending with a dash.`,
		"ttl":       `"a day" is not a duration. Accepted: 90m, 4h, 1h30m, 2d, or a number of hours.`,
		"extraTags": `"x" is not a tag. Accepted: a line such as Purpose=smoke. A is given twice. Accepted: each key once.`,
	}, formErrors(view(map[string]string{"name": "Shop.One", "ttl": "a day", "extraTags": "x\nA=1\nA=2"})))
	require.Contains(t, formErrors(view(map[string]string{"name": ""}))["name"], "needs a name")
	require.Empty(t, formErrors(view(nil)), "Slack shows problems only at fields that the form has")
	require.Empty(t, formErrors(inbound.View{Callback: blocks.FormReason, Values: map[string]map[string]string{"name": {"name": "!"}}}))
	require.Equal(t, map[string]string{"reason": "Enter a reason. The person who asked is told it."}, formErrors(inbound.View{Callback: blocks.FormReason, Values: map[string]map[string]string{"reason": {"reason": " "}}}))
	for _, form := range []string{blocks.FormShare, blocks.FormTransfer} {
		both := func(person, team string) inbound.View {
			return inbound.View{Callback: form, Values: map[string]map[string]string{"person": {"person": person}, "team": {"team": team}}}
		}
		for _, wrong := range []inbound.View{both("", ""), both("U1", "payments")} {
			require.Equal(t, map[string]string{"person": "Choose a person or name a team, one of them."}, formErrors(wrong))
		}
		require.Empty(t, formErrors(both("U1", "")))
		require.Empty(t, formErrors(both("", "payments")))
	}
}

func TestAButtonCarriesNoKeyAndNoMoreThanFits(t *testing.T) {
	require.Equal(t, `{"name":"demo"}`, encodePrefill(map[string]string{"name": "demo", "sshPublicKey": "ssh-ed25519 AAAA", "region": ""}))
	require.Empty(t, encodePrefill(map[string]string{"name": string(make([]byte, 2000))}))
	require.Equal(t, "aws-standard", decodePrefill("aws-standard")["profile"])
	require.Equal(t, "demo", decodePrefill(`{"name":"demo"}`)["name"])
	require.Empty(t, decodePrefill("null")["name"])
}
