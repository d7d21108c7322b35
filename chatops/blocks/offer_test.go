package blocks

import (
	"encoding/json"
	"strings"
	"testing"

	api "github.com/slack-go/slack"
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

func TestQuestionsWithButtonsAreGolden(t *testing.T) {
	goldenMessage(t, "offer", Offer("The form could not be shown. Press the button to open it.", "Open the form", Press{Verb: chatops.VerbOpenForm, Value: `{"name":"demo"}`}))
	goldenMessage(t, "pick", Pick("You may create clusters for several teams. To which one does `demo` go?", []Option{{"hnd_1/payments", "payments"}, {"hnd_1/platform", "platform"}}, Press{Verb: chatops.VerbAcceptHandover, Notice: "not_1"}))
	for name, view := range map[string]api.ModalViewRequest{"opening": Opening("Create a cluster"), "shown": Shown("My clusters", Answer("You have no live cluster."))} {
		goldenView(t, "window-"+name, view, view.Blocks.BlockSet)
	}
}

func TestAnyAnswerCanBeShownInAModal(t *testing.T) {
	for name, markdown := range map[string]string{"short": "Done.", "long": strings.Repeat("a line of an answer\n", 900), "empty": ""} {
		raw, err := json.Marshal(Shown("A title that is longer than Slack allows", Answer(markdown)))
		require.NoError(t, err)
		require.Empty(t, blockkit.View(raw), name)
	}
}
