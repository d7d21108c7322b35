package controller_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

// A time in a thread, and the zero-width space that keeps a name from being a mention.
var inThread = strings.NewReplacer("\u200b", "")
var timeInThread = regexp.MustCompile(`<!date[^>]*>`)

// lines are what the threads in the workspace tell, line by line, without the times.
func (w *workspace) lines() (all []string) {
	for _, m := range w.standing(true) {
		_, text, _ := strings.Cut(inThread.Replace(timeInThread.ReplaceAllString(m.text, "<time>")), "\n")
		all = append(all, strings.Split(strings.TrimSpace(text), "\n")...)
	}
	return all
}

func TestTheThreadTellsWhatPeopleDidAndWhoDidIt(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, client := newWorkspace(t, h.now)
	h.Teller = client
	row := h.acceptAs("shop", func(j *store.Judgement) {
		j.Show = &clusters.SlackPlace{Workspace: slackWorkspace, Channel: slackChannel, Person: "U0DEMOMAYA"}
		j.Approval = &store.ApprovalAsk{Why: []string{"first"}, Needs: 2, By: "platform_admin", For: 24 * time.Hour, Asked: strings.Repeat("a", 64)}
		j.Row.Spec.Approval = "It needs two votes."
	})
	require.NoError(t, h.store.People.KeepPeople(h.ctx, []people.Person{{ID: "person:will", Name: "Will Weber", Identities: []string{"saml:will"}}}))
	require.NoError(t, h.store.People.KeepSlackPerson(h.ctx, people.SlackPerson{Workspace: slackWorkspace, ID: "U0DEMOROBB", Name: "rob"}))
	rob := clusters.Origin{Actor: "slack:T0DEMOACME/U0DEMOROBB", Name: "rob", Source: "slack", Instead: lifecycle.Reason{Code: lifecycle.ReasonAsked, By: "rob", Via: "in Slack"}}
	will := clusters.Origin{Actor: "saml:will", Name: "Will Weber", Source: "api"}
	ok := func(err error) { t.Helper(); require.NoError(t, err) }
	show := func() {
		t.Helper()
		h.pass(2 * time.Minute)
		h.showInSlack(row.ID, clusters.KindSlackMessage)
		h.showInSlack(row.ID, clusters.KindSlackThread)
	}
	told := 0
	tells := func(want ...string) {
		t.Helper()
		show()
		all := w.lines()
		for i, line := range want {
			want[i] = "• <time> " + line
		}
		require.Equal(t, want, all[told:])
		told = len(all)
	}
	tells("*awaiting approval*: accepted")
	page, _, err := h.store.Approvals(h.ctx, store.ApprovalFilter{Cluster: row.ID})
	ok(err)
	_, err = h.store.Vote(h.ctx, page[0].ID, true, will)
	ok(err)
	show()
	require.Contains(t, w.standing(false)[0].text, "1 of 2")
	tells("*approved by Will Weber*")
	_, err = h.store.Vote(h.ctx, page[0].ID, true, clusters.Origin{Actor: "github:ada", Source: "pr_comment", Why: "for the release"})
	ok(err)
	tells("*approved by ada (GitHub)*: for the release")
	require.Contains(t, w.standing(false)[0].text, "approved by Will Weber and ada (GitHub)")

	h.install(row)
	_, err = h.store.Extend(h.ctx, row.ID, time.Hour, rob)
	ok(err)
	_, err = h.store.Hold(h.ctx, row.ID, h.now().Add(3*time.Hour), clusters.Origin{Actor: "saml:will", Why: "debugging"})
	ok(err)
	posts := len(w.standing(true))
	show()
	require.Len(t, w.standing(true), posts+1, "what happened since is one message")
	all := w.lines()
	require.Equal(t, []string{"• <time> *extended by @rob*: its lifetime ends <time>", "• <time> *held by Will Weber*: until <time> (debugging)"}, all[len(all)-2:])
	told = len(all)

	_, err = h.store.Hold(h.ctx, row.ID, time.Time{}, will)
	ok(err)
	tells("*hold lifted by Will Weber*")
	ok(h.store.People.Share(h.ctx, row.ID, people.Share{Kind: "principal", Grantee: "slack:T0DEMOACME/U0DEMOROBB", Access: people.AccessSee}, will))
	ok(h.store.People.Share(h.ctx, row.ID, people.Share{Kind: "team", Grantee: "payments", Access: people.AccessSee}, will))
	tells("*shared by Will Weber*: with @rob", "*shared by Will Weber*: with team payments")
	ok(h.store.People.Unshare(h.ctx, row.ID, "team", "payments", rob))
	tells("*share taken back by @rob*: with team payments")
	offer, err := h.store.People.OfferHandover(h.ctx, row.ID, people.Grantee{Account: rob.Actor, Name: "rob"}, "slack:1", time.Hour, nil, will)
	ok(err)
	tells("*offered to rob by Will Weber*")
	ok(h.store.AcceptHandover(h.ctx, offer, "platform", "rob", rob, nil))
	tells("*offer accepted by @rob*", "*transferred by @rob*: its owner is now rob of team platform")
	require.Zero(t, w.storms)
	require.Equal(t, lifecycle.Creating, h.cluster(row.ID).Status)
}
