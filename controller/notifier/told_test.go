package notifier

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/notices"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/usage"
)

func TestWhoIsMentionedInAClosedChannelIsToldAlone(t *testing.T) {
	t.Parallel()
	for name, closes := range map[string]func(w *world){
		"an event said so": func(w *world) {
			require.NoError(t, w.Store.Notices.ChannelProblem(t.Context(), "T1", "CHERE", "is_archived"))
		},
		"Slack refuses the post": func(w *world) {
			refused := 0
			w.slack.before = func(call string) error {
				if refused++; call == "post" && refused == 1 {
					return fmt.Errorf("%w (not_in_channel)", slack.ErrChannel)
				}
				return nil
			}
		},
	} {
		w := newWorld(t)
		row := w.accept("shop", here, false)
		w.install(row.ID, lifecycle.Succeeded)
		w.show(row.ID)
		w.settle()
		w.pass(3 * time.Hour)
		w.step(row.ID)
		posted := len(w.slack.messages)
		closes(w)
		for range 10 { // one try in the closed channel comes after ten minutes
			for _, j := range w.jobs() {
				_ = w.work(j) // what is for the channel waits
			}
			w.pass(2 * time.Second)
		}
		require.Len(t, w.slack.messages, posted+1, name)
		require.Equal(t, slack.Place{Channel: "DUMAYA"}, w.slack.messages[posted].at, name)
		require.Contains(t, w.slack.messages[posted].text, "ends soon", name)
		require.Zero(t, w.one("expiring", "CHERE").ExternalID, name)
		w.settle()
		require.Len(t, w.slack.messages, posted+2, "%s: in the channel as soon as that takes messages again", name)
	}
}

// vote has somebody vote for the approval of a cluster.
func (w *world) vote(cluster, voter string, approves bool) {
	w.t.Helper()
	_, err := w.Store.Vote(w.t.Context(), w.approval(cluster).ID, approves, clusters.Origin{Actor: voter, Source: "api", Why: "why not"})
	require.NoError(w.t, err)
}

func TestANoticeShowsWhoDecidedWhereverThatWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.Store.People.KeepPeople(t.Context(), []people.Person{{ID: "person:will", Name: "Will Weber", Identities: []string{"saml:will"}}}))
	require.NoError(t, w.Store.People.KeepSlackPerson(t.Context(), people.SlackPerson{Workspace: "T1", ID: "UROB", Name: "rob"}))
	w.needs = 2
	two := w.accept("shop", nil, true)
	w.needs = 1
	refused, gone := w.accept("shop", nil, true), w.accept("shop", nil, true)
	w.settle()
	shown := func(cluster string) (f blocks.Facts, text string) {
		w.settle()
		for _, n := range w.notices() {
			if n.Kind == "approval" && n.Cluster == cluster {
				return w.factsNow(n.ID), w.slack.at(n.ExternalID).text
			}
		}
		require.Fail(t, "no notice of "+cluster)
		return f, ""
	}
	w.vote(two.ID, "saml:will", true)
	f, text := shown(two.ID)
	require.Equal(t, []string{"Will Weber"}, f.Voters)
	require.Empty(t, f.Done)
	require.Contains(t, text, "Approved so far by Will Weber.")
	w.vote(two.ID, "slack:T1/UROB", true)
	_, text = shown(two.ID)
	require.Contains(t, text, "It was approved by Will Weber and @\u200brob.")

	w.vote(refused.ID, "github:ada", false)
	_, text = shown(refused.ID)
	require.Contains(t, text, "It was refused by ada (GitHub).")

	w.destroy(gone.ID)
	_, text = shown(gone.ID)
	require.Contains(t, text, "It is no longer needed.")
}

func TestAFailedClusterThatWasRequestedAgainHasNoRetryButtonAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.Store.People.KeepSlackPerson(t.Context(), people.SlackPerson{Workspace: "T1", ID: "UROB", Name: "rob"}))
	w.subscribe("CALL", "", "failed")
	row := w.accept("shop", here, false)
	w.install(row.ID, lifecycle.Failure)
	w.step(row.ID)
	w.show(row.ID)
	w.settle()
	var places []string
	for _, n := range w.notices() {
		places = append(places, n.Channel)
		require.Empty(t, w.factsNow(n.ID).Done)
	}
	require.ElementsMatch(t, []string{"CHERE", "CADMIN", "CALL"}, places)

	again := row
	again.Name, again.RequestedBy = "demo-again", "slack:T1/UROB"
	again.ID, again.JobID = "", ""
	_, err := w.Store.Judge(t.Context(), store.Ask{
		Scope: usage.Scope{Person: again.RequestedBy, Team: "shop"}, Principal: again.RequestedBy, Source: "slack", Request: []byte(`{}`), RetryOf: row.ID,
	}, func(usage.Usage) (store.Judgement, error) {
		return store.Judgement{Allowed: true, Row: again, Verdict: []byte(`{"allowed":true}`), MaxTTL: 8 * time.Hour}, nil
	})
	require.NoError(t, err)
	w.settle()
	for _, n := range w.notices() {
		require.Contains(t, w.slack.at(n.ExternalID).text, "It was requested again as `demo-again` by @\u200brob.", n.Channel)
	}
}

func TestManyWarningsInOnePlaceAreOneMessageWithButtonsForEachAndWithItsMentions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe("CALL", "", "expiring")
	var ids []string
	for range 5 {
		row := w.accept("shop", nil, false)
		w.install(row.ID, lifecycle.Succeeded)
		ids = append(ids, row.ID)
	}
	w.settle()
	w.slack.messages = nil
	w.pass(3 * time.Hour)
	for _, id := range ids {
		w.step(id)
	}
	for _, j := range w.jobs() {
		if j.Kind == "announce" {
			require.NoError(t, w.work(j))
		}
	}
	_, err := w.Store.Pool().Exec(t.Context(), `UPDATE notices SET mention = 'UMAYA' WHERE kind = 'expiring' AND cluster_id = $1`, ids[0]) // as of a cluster whose message was deleted
	require.NoError(t, err)
	w.settle()
	require.Len(t, w.slack.messages, 1)
	m := w.slack.messages[0]
	require.Contains(t, m.text, "5 clusters end soon")
	require.Contains(t, m.text, "<@UMAYA>: this is about your clusters.")
	pressed := map[string]bool{}
	for _, p := range m.presses {
		require.Equal(t, chatops.VerbExtend, p.Verb)
		require.NotEmpty(t, p.Notice)
		pressed[p.Cluster] = true
	}
	require.Len(t, pressed, 5)

	w.extend(ids[1])
	w.settle()
	require.Contains(t, m.text, "It was extended to")
	pressed = map[string]bool{}
	for _, p := range m.presses {
		pressed[p.Cluster] = true
	}
	require.Len(t, pressed, 4, "the extended one needs no button any more")
	require.NotContains(t, pressed, ids[1])
}

func TestADigestOfFindingsLinksEachKindsRunbook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kinds := []lifecycle.FindingKind{lifecycle.Orphan, lifecycle.Overdue, lifecycle.Orphan, lifecycle.FailedJob}
	for i, kind := range kinds {
		raw, err := json.Marshal(map[string]string{"finding": string(kind), "why": "because"})
		require.NoError(t, err)
		require.NoError(t, w.Store.Notices.Announce(t.Context(), clusters.Announcement{Cause: fmt.Sprint("finding:", i), Event: "finding", Facts: raw}))
	}
	for _, j := range w.jobs() {
		require.NoError(t, w.work(j))
	}
	w.settle()
	require.Len(t, w.slack.messages, 1)
	for _, page := range []string{"orphans", "overdue", "failed-jobs"} {
		require.Equal(t, 1, strings.Count(w.slack.messages[0].text, "https://ocpctl.example.com/runbooks/"+page+"|"), page)
	}
}

func TestWhoLosesSomethingForARightIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe("CALL", "shop", "ready")
	all, err := w.Store.Notices.All(t.Context())
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, w.Store.Notices.End(t.Context(), all[0], notices.EndedNoRole))
	}
	row := w.accept("shop", nil, false)
	offer, err := w.Store.People.OfferHandover(t.Context(), row.ID, people.Grantee{Account: "slack:T1/UWILL", Name: "Will"}, "offer", time.Hour, []byte(`{}`),
		clusters.Origin{Actor: "slack:T1/UROB", Name: "Rob"})
	require.NoError(t, err)
	require.NoError(t, w.Store.People.EndOfferOfFormer(t.Context(), offer, row.Name, clusters.Origin{Actor: "slack:T1/UWILL"}))
	w.settle()
	told := map[string]string{}
	for _, m := range w.slack.messages {
		require.Empty(t, told[m.at.Channel], m.at.Channel)
		told[m.at.Channel] = m.text
	}
	require.Contains(t, told["CALL"], "no longer gets messages about the clusters of team shop")
	require.Contains(t, told["CALL"], "may no longer see these clusters")
	require.Contains(t, told["DUROB"], "Your offer of "+row.Name+" has ended")
	require.Contains(t, told["DUROB"], "Will accepted it just now, but you may no longer transfer the cluster")
}

func TestAChannelThatAnotherOrganizationReadsIsNotToldBecauseAFileNamesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.slack.outside, w.slack.hidden = "COUTSIDE", "CHIDDEN"
	w.named = map[string][]string{"CTEAM": {"ready"}, "COUTSIDE": {"ready"}, "CHIDDEN": {"ready"}}
	row := w.accept("shop", nil, false)
	down := errors.New("Slack does not answer")
	w.slack.before = func(call string) error {
		if call == "channel" {
			return down
		}
		return nil
	}
	w.install(row.ID, lifecycle.Succeeded)
	for _, j := range w.jobs() {
		if j.Kind == (queue.AnnounceArgs{}).Kind() {
			require.ErrorIs(t, w.work(j), down)
		}
	}
	require.Empty(t, w.slack.messages, "without Slack's answer nothing is posted")

	w.slack.before = func(string) error { return nil }
	w.settle()
	var told []string
	for _, m := range w.slack.messages {
		told = append(told, m.at.Channel)
	}
	require.Equal(t, []string{"CTEAM"}, told)
}
