package hooks

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// request is something that somebody asks for on GitHub, which needs GitHub's answers.
type request struct {
	begin func(l *life, number int) // asks for it
	done  func(l *life, number int) // it is done
	told  string                    // what whoever asked is told in the end, where they asked
	where string                    // the SQL for that
}

// requests are what somebody asks for. Those on a cluster have one already.
func requests() map[string]request {
	created := func(l *life, number int) { l.one(number, first) }
	const replies = `SELECT body FROM replies`
	return map[string]request{
		"a label": {func(l *life, number int) { l.label(number, "ocp/"+first) }, created, "ocpctl gave up on `ocp/" + first + "`: for 15 minutes", replies},
		"a comment": {func(l *life, number int) { l.say(number, "/ocp create "+first) }, created,
			"@will, ocpctl gave up on this: for 15 minutes, GitHub refused a call that it takes", replies},
		"a review": {func(l *life, number int) {
			require.NoError(l, l.github.Review(number, "commented", "/ocp create "+first, "will"))
		}, created, "ocpctl gave up on this", replies},
		"a Destroy button": {func(l *life, number int) {
			row := l.one(number, first)
			body, err := github.Payload(github.Event{
				Name: onCheckRun, Action: "requested_action", Sender: "will", Button: "destroy",
				Check: github.Check{ID: 1, Head: l.at(number).HeadSHA, ExternalID: row.ID, Name: "ocpctl", StartedAt: l.clock()},
			})
			require.NoError(l, err)
			status, said := l.deliver(onCheckRun, body)
			require.Equal(l, http.StatusAccepted, status, said)
		}, func(l *life, number int) {
			_, wanted := l.wanted(number, first)
			require.False(l, wanted)
		}, "the button `destroy` of", replies},
		"a job that waits": {func(l *life, _ int) {
			require.NoError(l, l.github.Protect("ocp/"+first, true))
			_, err := l.github.Runs().Start(github.NewRun{Jobs: []github.NewJob{{Key: "e2e", Environment: "ocp/" + first}}})
			require.NoError(l, err)
		}, func(l *life, _ int) {
			require.Equal(l, []string{first}, l.query(`SELECT profile FROM clusters WHERE pr_number IS NULL`))
		}, "for 15 minutes, GitHub did not show the App", `SELECT content FROM effects WHERE kind = 'reject'`},
	}
}

// refusals are GitHub's bad moments: what it says of a person, a pull request or a run that its own event has just named.
var refusals = map[string]github.APIFault{
	"403 for the permission": {Status: http.StatusForbidden, Message: "Resource not accessible by integration", Path: "/collaborators/"},
	"401 again and again":    {Status: http.StatusUnauthorized, Message: "Bad credentials", Path: "/collaborators/"},
	"404 for the repository": {Status: http.StatusNotFound, Message: "Not Found", Path: "/repos/acme/"},
}

// retry lets GitHub's backoff pass.
func (l *life) retry() (errs []error) {
	l.Helper()
	l.arrive()
	for _, row := range l.undone() {
		if err := l.work(row); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// asked is a pull request, on which somebody asked for something while GitHub refuses.
func asked(t *testing.T, of request, refusal github.APIFault) (*life, int) {
	l := newLife(t)
	number := l.open()
	l.tick(time.Second)
	if strings.Contains(of.told, "button") {
		l.say(number, "/ocp create "+first)
	}
	l.settle()
	l.restart() // nothing is remembered
	l.tick(time.Second)
	_, err := l.store.Pool().Exec(t.Context(), `DELETE FROM replies`)
	require.NoError(t, err)
	of.begin(l, number)
	l.arrive()
	l.github.FailNext(100, refusal)
	return l, number
}

func TestOneRefusalIsNoAnswer(t *testing.T) {
	for what, of := range requests() {
		for how, refusal := range refusals {
			t.Run(what+", "+how, func(t *testing.T) {
				l, number := asked(t, of, refusal)
				for range 4 {
					require.NotEmpty(t, l.retry())
				}
				require.Empty(t, l.query(of.where), "nobody is told that it is given up")
				require.Empty(t, l.query(`SELECT id FROM effects WHERE kind IN ('remove_label', 'reject')`))
				l.github.Recover()
				l.settle()
				of.done(l, number)
				require.Empty(t, l.query(`SELECT note FROM deliveries WHERE state <> 'done'`))
			})
		}
	}
}

func TestWhatIsRefusedForLongIsToldWhereItWasAskedFor(t *testing.T) {
	for what, of := range requests() {
		t.Run(what, func(t *testing.T) {
			l, number := asked(t, of, refusals["403 for the permission"])
			require.NotEmpty(t, l.retry())
			l.ago(9 * time.Minute)
			require.NotEmpty(t, l.retry(), "after nine minutes it is still tried")
			l.ago(7 * time.Minute)
			require.Empty(t, l.retry(), "after sixteen it is given up")
			require.Contains(t, strings.Join(l.query(of.where), "\n"), of.told)
			require.Equal(t, []string{"refused_by_github"}, l.query(`SELECT reason FROM deliveries WHERE state = 'failed'`))
			found, err := l.store.Reports.WorkFindings(t.Context())
			require.NoError(t, err)
			require.Len(t, found, 1)
			require.Equal(t, lifecycle.LostDelivery, found[0].Kind)
			require.Contains(t, found[0].Why, "refused_by_github")
			l.github.Recover()
			l.settle()
			if what == "a label" {
				require.Empty(t, l.at(number).Labels, "it stands for nothing, and can be added again")
				l.tick(time.Second)
				l.label(number, "ocp/"+first)
				l.settle()
				l.one(number, first)
			}
		})
	}
}

// ago moves the first refusal into the past.
func (l *life) ago(d time.Duration) {
	l.Helper()
	_, err := l.store.Pool().Exec(l.Context(), `UPDATE deliveries SET refused_since = refused_since - $1::interval WHERE state = 'received'`, d)
	require.NoError(l, err)
}

// A refusal after hours of an outage is the first one.
func TestAnOutageIsNoRefusal(t *testing.T) {
	l, number := asked(t, requests()["a label"], github.APIFault{Status: http.StatusBadGateway, Message: "Server Error"})
	require.NotEmpty(t, l.retry())
	_, err := l.store.Pool().Exec(t.Context(), `UPDATE deliveries SET failing_since = failing_since - interval '3 hours' WHERE state = 'received'`)
	require.NoError(t, err)
	l.github.Recover()
	l.github.FailNext(1, refusals["403 for the permission"])
	require.NotEmpty(t, l.retry())
	l.settle()
	l.one(number, first)
}

// What GitHub says of a person is an answer: nothing is tried again.
func TestAPersonWithoutPermissionIsAnswered(t *testing.T) {
	l := newLife(t)
	number := l.open()
	l.tick(time.Second)
	require.NoError(t, l.github.Label(number, "ocp/"+first, "rob"))
	_, err := l.github.Comment(number, "/ocp create", "stranger")
	require.NoError(t, err)
	l.arrive()
	require.Empty(t, l.retry())
	require.Empty(t, l.query(`SELECT note FROM deliveries WHERE state <> 'done' OR tries > 0`))
	require.Empty(t, l.clusters(number))
}
