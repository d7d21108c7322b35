package blocks

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/internal/blockkit"
)

func TestAnOfferHasOneButtonAndIsReadableWithoutIt(t *testing.T) {
	m := Offer("Press the button, or type `/ocp create`.", "Open the form", Press{Verb: chatops.VerbOpenForm, Value: strings.Repeat("x", 1500)})
	raw, err := json.Marshal(map[string]any{"text": m.Text, "blocks": m.Blocks})
	require.NoError(t, err)
	require.Empty(t, blockkit.Message(raw), string(raw))
	require.Contains(t, m.Text, "`/ocp create`")
	require.Equal(t, 1, strings.Count(string(raw), `"type":"button"`))
	require.Contains(t, string(raw), `"action_id":"ocp_form"`)
}

func TestAnyAnswerCanBeShownInAModal(t *testing.T) {
	for name, markdown := range map[string]string{"short": "Done.", "long": strings.Repeat("a line of an answer\n", 900), "empty": ""} {
		raw, err := json.Marshal(Shown("A title that is longer than Slack allows", Answer(markdown)))
		require.NoError(t, err)
		require.Empty(t, blockkit.View(raw), name)
	}
}
