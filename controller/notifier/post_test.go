package notifier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

// here is where a cluster is asked for in Slack.
var here = &clusters.SlackPlace{Workspace: "T1", Channel: "CHERE", Person: "UMAYA"}

func dieAfter(once string) func(string) error {
	died := false
	return func(call string) error {
		if call == once && !died {
			died = true
			panic(crash{})
		}
		return nil
	}
}

// link links a person's account in Slack to who they are elsewhere.
func (w *world) link(user, principal string) {
	w.t.Helper()
	_, err := w.Store.Pool().Exec(w.t.Context(), `
		INSERT INTO accounts (account, number, principal, name, proof, linked_at, seen_at) VALUES ($1, '', $2, 'x', '{}', now(), now())`, "slack:T1/"+user, principal)
	require.NoError(w.t, err)
}

// expiring is a cluster an hour before its end, which was told.
func (w *world) expiring(at *clusters.SlackPlace) string {
	w.t.Helper()
	row := w.accept("shop", at, false)
	w.install(row.ID, lifecycle.Succeeded)
	w.show(row.ID)
	w.pass(3 * time.Hour)
	w.step(row.ID)
	return row.ID
}

func (w *world) one(kind, place string) notice {
	w.t.Helper()
	for _, n := range w.notices() {
		if n.Kind == kind && n.Channel+n.Person == place {
			return n
		}
	}
	require.Failf(w.t, "no notice", "%s in %s of %+v", kind, place, w.notices())
	return notice{}
}

// now returns a notice's facts with what is true now.
func (w *world) factsNow(id string) blocks.Facts {
	w.t.Helper()
	n, err := w.Store.Notices.Notice(w.t.Context(), id)
	require.NoError(w.t, err)
	s, err := newSights(w.Store).sightOf(w.t.Context(), n)
	require.NoError(w.t, err)
	return currentFacts(n, s)
}

func TestTheAskerIsMentionedInTheThreadAndTheOwnerOfAnotherIsToldAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("UOWNER", "saml:maya")
	w.expiring(nil)
	w.settle()
	require.Len(t, w.slack.messages, 1)
	require.Equal(t, slack.Place{Channel: "DUOWNER"}, w.slack.messages[0].at)
	require.Equal(t, []string{"expiring"}, []string{w.one("expiring", "UOWNER").Kind})
}

func TestAfterAHandoverTheNewOwnerIsWarnedAndTheAskerIsNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("UMAYA", "saml:maya")
	row := w.accept("shop", here, false)
	offer, err := w.Store.People.OfferHandover(t.Context(), row.ID, people.Grantee{Account: "slack:T1/UNEW", Name: "new"}, "slack:1", time.Hour, nil, clusters.Origin{Actor: "saml:maya"})
	require.NoError(t, err)
	require.NoError(t, w.Store.AcceptHandover(t.Context(), offer, "shop", "new", clusters.Origin{Actor: "slack:T1/UNEW"}, nil))
	w.did = append(w.did, offer.ID+":offered")
	w.install(row.ID, lifecycle.Succeeded)
	w.show(row.ID)
	w.pass(3 * time.Hour)
	w.step(row.ID)
	w.settle()
	require.Empty(t, w.one("ready", "CHERE").Mention, "it is no longer the asker's")
	require.Empty(t, w.one("expiring", "CHERE").Mention)
	require.NotZero(t, w.one("expiring", "UNEW").ExternalID)
}

func TestANoticeWaitsForTheMessageInWhoseThreadItStands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	row := w.accept("shop", here, false)
	w.install(row.ID, lifecycle.Succeeded)
	for _, j := range w.jobs() {
		require.NoError(t, w.work(j))
	}
	require.ErrorContains(t, w.work(w.jobs()[0]), "Snooze")
	require.Empty(t, w.slack.messages)
	p := w.show(row.ID)
	w.settle()
	require.Len(t, w.slack.messages, 2)
	require.Equal(t, slack.Place{Channel: "CHERE", Thread: p.ts}, w.slack.messages[1].at)
}

func TestANoticeStandsAloneIfTheThreadsMessageIsGoneOrNeverCame(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(w *world, id string){
		"deleted":    func(w *world, id string) { w.show(id).deleted = true },
		"never came": func(*world, string) {},
	} {
		w := newWorld(t)
		row := w.accept("shop", here, false)
		w.install(row.ID, lifecycle.Succeeded)
		do(w, row.ID)
		w.settle()
		last := w.slack.messages[len(w.slack.messages)-1]
		require.Equal(t, slack.Place{Channel: "CHERE"}, last.at, name)
		require.Equal(t, w.one("ready", "CHERE").ID, last.marker, name)
	}
}

func TestAWarningSaysThatTheEndMovedElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.expiring(here)
	w.settle()
	n := w.one("expiring", "CHERE")
	f := w.factsNow(n.ID)
	require.Equal(t, []any{"", time.Hour, 4 * time.Hour}, []any{f.Done, f.Before, f.Longest})
	_, err := w.Store.Extend(t.Context(), id, 2*time.Hour, clusters.Origin{Actor: "saml:maya"})
	require.NoError(t, err)
	w.settle()
	require.Equal(t, 1, w.slack.at(n.ExternalID).updates)
	require.Equal(t, "It was extended to 18:00 UTC on Friday, 20 November.", w.factsNow(n.ID).Done)
	_, err = w.Store.Destroy(t.Context(), id, clusters.Origin{Actor: "saml:maya", Why: "done with it"})
	require.NoError(t, err)
	w.settle()
	require.Equal(t, "Its teardown began: done with it.", w.factsNow(n.ID).Done)
	require.Equal(t, "Its teardown began: done with it.", w.factsNow(w.one("ready", "CHERE").ID).Done)
}

func TestAPressedButtonShowsWhoPressedIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.expiring(here)
	w.settle()
	n := w.one("expiring", "CHERE")
	f := w.factsNow(n.ID)
	f.Done, f.DoneBy = "Extended by 1 hour.", "UWILL"
	raw, err := json.Marshal(f)
	require.NoError(t, err)
	require.NoError(t, w.Store.Notices.Pressed(t.Context(), n.ID, raw))
	require.NoError(t, w.Store.Notices.Pressed(t.Context(), n.ID, raw), "twice is once")
	require.Equal(t, n.Wanted+1, w.one("expiring", "CHERE").Wanted)
	w.settle()
	require.Equal(t, 1, w.slack.at(n.ExternalID).updates)
	require.Equal(t, []string{"Extended by 1 hour.", "UWILL"}, []string{w.factsNow(n.ID).Done, w.factsNow(n.ID).DoneBy})
	require.NoError(t, w.Store.Notices.Pressed(t.Context(), "not_nothing", raw))
}

func TestAWarningThatWasNotPostedInTimeIsNotPosted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do  func(w *world, id string)
		why string
	}{
		"extended":  {func(w *world, id string) { w.extend(id) }, "the cluster's end moved"},
		"destroyed": {func(w *world, id string) { w.destroy(id) }, "the cluster is no longer wanted"},
		"a day":     {func(w *world, _ string) { w.pass(25 * time.Hour) }, "it is older than a day"},
	} {
		w := newWorld(t)
		w.subscribe("CALL", "", "expiring")
		id := w.expiring(nil)
		for _, j := range w.jobs() {
			require.NoError(t, w.work(j))
		}
		c.do(w, id)
		w.settle()
		require.Empty(t, w.slack.messages, name)
		require.Equal(t, c.why, w.one("expiring", "CALL").GivenUp, name)
	}
}

func (w *world) extend(id string) {
	w.t.Helper()
	_, err := w.Store.Extend(w.t.Context(), id, time.Hour, clusters.Origin{Actor: "saml:maya"})
	require.NoError(w.t, err)
}

func (w *world) destroy(id string) {
	w.t.Helper()
	_, err := w.Store.Destroy(w.t.Context(), id, clusters.Origin{Actor: "saml:maya"})
	require.NoError(w.t, err)
}

func TestAWarningWhoseAnswerWasLostIsFoundAndBroughtUpToDate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe("CALL", "", "expiring")
	id := w.expiring(nil)
	w.slack.after = dieAfter("post")
	for _, j := range w.jobs() {
		require.NoError(t, w.work(j))
	}
	require.ErrorContains(t, w.work(w.jobs()[0]), "died")
	w.extend(id)
	w.settle()
	require.Len(t, w.slack.messages, 1)
	n := w.one("expiring", "CALL")
	require.Empty(t, n.GivenUp, "it stands in Slack")
	require.Equal(t, []any{w.slack.messages[0].ts, 1}, []any{n.ExternalID, w.slack.messages[0].updates})
}

func TestAFloodIsOneMessageEvenIfItsAnswerWasLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe("CALL", "", "ready")
	for range 5 {
		w.install(w.accept("shop", nil, false).ID, lifecycle.Succeeded)
	}
	for _, j := range w.jobs() {
		require.NoError(t, w.work(j))
	}
	w.slack.after = dieAfter("post")
	require.ErrorContains(t, w.work(w.jobs()[0]), "died")
	w.install(w.accept("shop", nil, false).ID, lifecycle.Succeeded)
	w.settle()
	require.Len(t, w.slack.messages, 2, "the five, and the one that came later")
	list := w.notices()
	for _, n := range list[:5] {
		require.Equal(t, w.slack.messages[0].ts, n.ExternalID)
	}
	require.Equal(t, w.slack.messages[1].ts, list[5].ExternalID)

	was := w.slack.messages[0].updates
	w.destroy(w.rows[2])
	w.settle()
	require.Equal(t, was+1, w.slack.messages[0].updates, "one of them changed: their message is brought up to date, once")
}

func TestAThousandFindingsAreAHandfulOfMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 100 {
		require.NoError(t, w.Store.Notices.Announce(t.Context(), clusters.Announcement{
			Cause: fmt.Sprint("finding:", i), Event: "finding", Facts: json.RawMessage(`{"finding":"orphan","identity":"x","why":"nobody's"}`),
		}))
	}
	for _, j := range w.jobs() {
		require.NoError(t, w.work(j))
	}
	w.settle()
	require.Len(t, w.slack.messages, 100/mostTogether)
	require.Equal(t, 5, w.slack.calls["post"])
}

func TestAChannelThatIsClosedIsTriedSeldomAndThenGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe("CALL", "", "ready")
	for range 3 {
		w.install(w.accept("shop", nil, false).ID, lifecycle.Succeeded)
	}
	w.slack.before = func(call string) error { return fmt.Errorf("post: %w", slack.ErrChannel) }
	w.Notifier.bots.id = "T1"
	for range 20 * 60 / 5 {
		_, err := w.Store.WakeDue(t.Context(), 1000)
		require.NoError(t, err)
		for _, j := range w.jobs() {
			_ = w.work(j)
		}
		w.pass(5 * time.Minute)
	}
	require.Less(t, w.slack.calls["post"], 40, "in twenty hours")
	require.Greater(t, w.slack.calls["post"], 10)
	w.slack.before = func(string) error { return nil }
	w.settle()
	require.NotEmpty(t, w.slack.messages, "it was opened again")
}

func TestSomebodyWhoCannotBeReachedIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("UGONE", "saml:maya")
	w.expiring(nil)
	w.slack.before = func(call string) error {
		if call == "open" {
			return fmt.Errorf("open: %w", slack.ErrNever)
		}
		return nil
	}
	w.settle()
	require.Equal(t, "this person cannot be reached", w.one("expiring", "UGONE").GivenUp)
}

func TestAnAnnouncementWaitsForAProcessWithSlackAndNotLongerThanADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe("CALL", "", "ready")
	w.Slack = nil
	w.install(w.accept("shop", nil, false).ID, lifecycle.Succeeded)
	looks := 0
	for _, passed := range []time.Duration{0, 30 * time.Second, 5 * time.Hour} {
		w.pass(passed)
		for _, j := range w.jobs() {
			var snooze *river.JobSnoozeError
			require.ErrorAs(t, w.work(j), &snooze)
			require.True(t, snooze.Duration >= leastLeft && snooze.Duration <= mostLeft, snooze.Duration)
			looks++
		}
	}
	require.Equal(t, 3, looks)
	require.Empty(t, w.notices())
	w.Slack = w.slack
	w.settle()
	require.Len(t, w.slack.messages, 1, "a process with Slack posts it")

	w.Slack = nil
	w.install(w.accept("shop", nil, false).ID, lifecycle.Succeeded)
	w.pass(tooOld + time.Second)
	w.settle()
	w.Slack = w.slack
	w.settle()
	require.Len(t, w.slack.messages, 1, "nobody is told a day later")
}

func TestAHandoverIsOfferedToThePersonAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("UNEW", "saml:will")
	row := w.accept("shop", here, false)
	for to, cause := range map[string]string{"slack:T1/UNEW": "hnd_1", "saml:will": "hnd_2"} {
		require.NoError(t, w.Store.Notices.Announce(t.Context(), clusters.Announcement{
			Cause: cause, Event: "handover", Cluster: row.ID, Facts: json.RawMessage(`{"handover":"` + cause + `","from":"Maya","to":"` + to + `"}`),
		}))
	}
	w.settle()
	require.Len(t, w.slack.messages, 2)
	for _, n := range w.notices() {
		require.Equal(t, "UNEW", n.Person)
		require.Equal(t, n.Cause, w.factsNow(n.ID).Handover)
		require.Equal(t, "Maya", w.factsNow(n.ID).From)
	}
}

func TestAnApprovalThatWasDecidedTakesItsButtonsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	row := w.accept("shop", nil, true)
	w.settle()
	n := w.one("approval", "CADMIN")
	require.Empty(t, w.factsNow(n.ID).Done)
	_, err := w.Store.Vote(t.Context(), w.approval(row.ID).ID, true, clusters.Origin{Actor: "saml:boss", Source: "web"})
	require.NoError(t, err)
	w.settle()
	require.Equal(t, "It was approved.", w.factsNow(n.ID).Done)
	require.Positive(t, w.slack.at(n.ExternalID).updates)
}

func TestAMessageThatSomebodyDeletedIsNotPostedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.expiring(here)
	w.settle()
	n := w.one("expiring", "CHERE")
	w.slack.at(n.ExternalID).deleted = true
	w.extend(id)
	w.settle()
	require.Contains(t, w.one("expiring", "CHERE").GivenUp, "deleted")
	require.Len(t, w.slack.messages, 3, "the cluster's, that it is ready, and the one that is gone")
}

func TestTheWorkspaceIsAskedForOnceAMinuteWhileSlackRefuses(t *testing.T) {
	t.Parallel()
	var asked int
	down := newSlack()
	down.before = func(string) error { asked++; return errors.New("token_revoked") }
	var bots workspace
	at := time.Unix(0, 0)
	for range 10 {
		_, err := bots.workspaceOf(context.Background(), down, at)
		require.Error(t, err)
		at = at.Add(10 * time.Second)
	}
	require.Equal(t, 2, asked)
	down.before = func(string) error { return nil }
	id, err := bots.workspaceOf(context.Background(), down, at.Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, "T1", id)
}
