package slack_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

// every is each verb that a button or a form could name, and some that none has.
var every = []chatops.Verb{
	chatops.VerbCreate, chatops.VerbDestroy, chatops.VerbExtend, chatops.VerbStatus, chatops.VerbList, chatops.VerbApprove, chatops.VerbRefuse, chatops.VerbLink,
	chatops.VerbLogs, chatops.VerbKubeconfig, chatops.VerbScale, chatops.VerbRefresh, chatops.VerbRetry, chatops.VerbHold, chatops.VerbShare, chatops.VerbHelp,
	chatops.VerbUnhold, chatops.VerbUnshare, chatops.VerbTransfer, chatops.VerbExplain, chatops.VerbApprovals, chatops.VerbUnlink, chatops.VerbNotify,
	chatops.VerbOpenForm, chatops.VerbAcceptHandover, chatops.VerbDeclineHandover, chatops.VerbPage, "sudo", "destroy --all", "\x00", "create\ndestroy",
}

// Slack signs what it sends, and nothing in it says who may do what: whoever could write a button's value or a form's metadata
// reaches no more than by typing.
func TestAValueThatIsNotOursReachesNoMoreThanACommand(t *testing.T) {
	h := ours(t)
	row := h.mate("demo")
	warned := h.notice(blocks.Expiring, row.ID, blocks.Facts{})
	other := h.notice(blocks.Failed, h.mate("other").ID, blocks.Facts{})
	_, err := h.Service.OfferHandover(t.Context(), policy.As("slack:T1/UMATE", "mate", policy.Requester, "platform"), row.ID, people.Grantee{Account: "slack:T1/UROB", Name: "rob"}, app.Origin{Source: policy.SourceSlack})
	require.NoError(t, err)
	handover := h.Query(`SELECT id FROM handovers`)[0]
	before, shared := h.row(row.ID), h.Query(`SELECT grantee FROM shares`)
	long := strings.Repeat("x", 2000)
	for i, verb := range every {
		for n, value := range []string{"", "4h", "@UPAY", handover, row.Name, string(verb) + ": " + string(verb) + " " + row.Name + " 4h", `{"Owner":"maya","Cursor":"' OR 1=1"}`, long} {
			p := blocks.Press{Verb: verb, Cluster: row.ID, Notice: []string{warned, other}[n%2], Value: value}
			e := h.pressOf("UPAY", p)
			e.ID = fmt.Sprintf("tampered/%d/%d", i, n)
			_, err := h.service.Handle(t.Context(), e)
			require.NoError(t, err, "%s %s", verb, value)
			meta, err := json.Marshal(map[string]any{"press": p, "channel": "C1"})
			require.NoError(t, err)
			for _, form := range []string{blocks.FormCreate, blocks.FormReason, blocks.FormShare, blocks.FormTransfer, "another"} {
				e := h.asks(inbound.Submission, "UPAY")
				e.View = &inbound.View{ID: "V" + fmt.Sprint(i, n), Hash: "1", Callback: form, Metadata: string(meta), Values: map[string]map[string]string{
					"reason": {"reason": "mine"}, "ttl": {"ttl": "4h"}, "person": {"person": "UPAY"}, "team": {"team": ""}, "profile": {"profile": "nothing"},
				}}
				_, err := h.service.Handle(t.Context(), e)
				require.NoError(t, err, "%s %s %s", form, verb, value)
			}
		}
	}
	require.Equal(t, before, h.row(row.ID))
	require.Equal(t, shared, h.Query(`SELECT grantee FROM shares`))
	facts, _ := h.told(warned)
	require.Equal(t, blocks.Facts{}, facts)
	_, version := h.told(other)
	require.Equal(t, 1, version)
	require.Equal(t, []string{"offered"}, h.Query(`SELECT state FROM handovers`))
	require.Len(t, h.Clusters(), 2)
	require.Empty(t, h.Query(`SELECT body FROM replies WHERE person = 'UPAY' AND body LIKE '%' || $1 || '%' AND body NOT LIKE 'You have no cluster%'`, row.ID), "nor is it shown")
	require.Empty(t, h.Query(`SELECT hash FROM links WHERE kind = 'kubeconfig'`))
}

// An approval's button decides as the typed command does, whoever presses it, and marks no notice of something else.
func TestAnApprovalThatSomebodyMayNotSeeIsNotDecidedByItsButton(t *testing.T) {
	h := inSlack(t, profiles.ApprovalTerms{})
	a := h.waits()
	other := h.notice(blocks.Finding, "", blocks.Facts{Title: "something else"})
	for _, user := range []string{"UNOBODY", "UPAY", "UPAYBOSS", "UMATE", "UAUDIT", "UBOT", "ULEFT", "UOTHER", "UGUEST"} {
		for _, verb := range []chatops.Verb{chatops.VerbApprove, chatops.VerbRefuse} {
			for _, p := range []blocks.Press{{Verb: verb, Approval: a.ID, Notice: other}, {Verb: verb, Cluster: a.Cluster, Notice: other}, {Verb: verb, Approval: a.ID, Value: "because"}} {
				_, err := h.service.Handle(t.Context(), h.pressOf(user, p))
				require.NoError(t, err)
			}
		}
	}
	require.Empty(t, h.approval(a.ID).Votes)
	require.Equal(t, clusters.ApprovalPending, h.approval(a.ID).State)
	require.Contains(t, h.press("UBOSS", blocks.Press{Verb: chatops.VerbApprove, Approval: a.ID, Notice: other}), "You approved")
	facts, version := h.told(other)
	require.Equal(t, blocks.Facts{Title: "something else"}, facts)
	require.Equal(t, 1, version)
}
