package hooks

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// pollLabels looks for lost labels, and has the inbox work what it saw.
func (l *life) pollLabels(t *testing.T) {
	t.Helper()
	client, err := wire.New(wire.Config{AppID: github.AppID, PrivateKey: l.github.KeyPEM(), BaseURL: l.github.URL(), Pace: -1, Settling: -1, Probe: -1})
	require.NoError(t, err)
	require.NoError(t, NewLabelPoller(l.store, client, table, slog.New(slog.NewTextHandler(t.Output(), nil))).Look(t.Context()))
	l.settle()
}

// lost is a label whose webhook GitHub forgot, set some time ago.
func lost(t *testing.T, label, by string, ago time.Duration) (*life, int) {
	l := newLife(t)
	l.tick(-ago)
	number := l.open()
	l.arrive()
	l.github.DropNext(1000)
	require.NoError(t, l.github.Label(number, label, by))
	l.arrive()
	l.github.DropNext(0)
	l.settle()
	return l, number
}

func TestALostLabelIsFoundAndActedOnForWhoeverSetIt(t *testing.T) {
	l, number := lost(t, "ocp/"+first, "will", 5*time.Minute)
	l.pollLabels(t)
	row := l.one(number, first)
	require.Equal(t, "github:id/2002", row.RequestedBy, "will, who set it")
	l.pollLabels(t)
	require.Len(t, l.clusters(number), 1)
	require.Len(t, l.sightings(), 1)
}

func TestALostLabelWithoutMeaningIsAnswered(t *testing.T) {
	l, number := lost(t, "ocp/nothing-like-it", "will", 5*time.Minute)
	l.pollLabels(t)
	require.Empty(t, l.at(number).Labels)
	require.Contains(t, strings.Join(l.query(`SELECT body FROM replies`), "\n"), "ocp/nothing-like-it")

	l, number = lost(t, "ocp/"+first, "rob", 5*time.Minute)
	l.pollLabels(t)
	require.Empty(t, l.clusters(number), "rob may not ask")
}

func TestALabelThatIsNotLostIsLeftAlone(t *testing.T) {
	l, number := lost(t, "ocp/"+first, "will", time.Minute)
	l.pollLabels(t)
	require.Empty(t, l.sightings(), "its webhook may be on its way")
	require.Empty(t, l.clusters(number))

	l = newLife(t)
	l.tick(-time.Hour)
	number = l.open()
	l.label(number, "ocp/"+first)
	l.settle()
	l.pollLabels(t)
	require.Empty(t, l.sightings(), "it has its cluster")
	_, err := l.store.Pool().Exec(t.Context(), `UPDATE clusters SET desired = 'absent', desired_why = '{"code":"other","words":"its time is up"}', teardown = 'DESTROY'`)
	require.NoError(t, err)
	l.pollLabels(t)
	rows := l.clusters(number)
	require.Len(t, rows, 1, "it had its cluster: %s", strings.Join(l.notes(), "\n"))
	require.Equal(t, lifecycle.Absent, rows[0].Desired)
	require.Equal(t, []string{"ocp/" + first}, l.at(number).Labels)

	l = newLife(t)
	l.tick(-5 * time.Minute)
	number = l.open()
	l.label(number, "ocp/"+first)
	l.arrive()
	l.catchUp()
	l.github.FailNext(100, refusals["403 for the permission"])
	require.NotEmpty(t, l.retry())
	l.github.Recover()
	client, err := wire.New(wire.Config{AppID: github.AppID, PrivateKey: l.github.KeyPEM(), BaseURL: l.github.URL(), Pace: -1, Settling: -1, Probe: -1})
	require.NoError(t, err)
	require.NoError(t, NewLabelPoller(l.store, client, table, slog.New(slog.DiscardHandler)).Look(t.Context()))
	require.Empty(t, l.sightings(), "its delivery is tried again")
	l.settle()
	l.one(number, first)
}

func TestALabelOfLongAgoIsTakenOff(t *testing.T) {
	l, number := lost(t, "ocp/"+first, "will", 30*time.Hour)
	l.pollLabels(t)
	require.Empty(t, l.clusters(number), "nobody means it any more")
	require.Empty(t, l.at(number).Labels)
	require.Contains(t, strings.Join(l.query(`SELECT body FROM replies`), "\n"), "ocp/"+first)
}

// The calls of a run are bounded, however many pull requests have labels.
func TestPollingLabelsMakesFewCalls(t *testing.T) {
	l := newLife(t)
	l.tick(-time.Hour)
	l.github.DropNext(1000)
	for n := range 45 {
		number, err := l.github.Open(fmt.Sprint("Number ", n), "will")
		require.NoError(t, err)
		l.label(number, fmt.Sprintf("ocp/unknown-%d", n%15))
	}
	l.arrive()
	l.github.DropNext(0)
	l.settle()
	before := len(l.github.Calls())
	client, err := wire.New(wire.Config{AppID: github.AppID, PrivateKey: l.github.KeyPEM(), BaseURL: l.github.URL(), Pace: -1, Settling: -1, Probe: -1})
	require.NoError(t, err)
	poller := NewLabelPoller(l.store, client, table, slog.New(slog.DiscardHandler))
	require.NoError(t, poller.Look(t.Context()))
	require.LessOrEqual(t, len(l.github.Calls())-before, 8)
	require.Len(t, l.sightings(), 45)

	l.github.FailNext(100, github.APIFault{Status: http.StatusForbidden, Message: "no", Path: "/graphql"})
	require.NoError(t, poller.Look(t.Context()), "what is refused is looked at next time")
}

// More pull requests have a label and no cluster than one run asks about. The next runs ask about the others.
func TestPollingLabelsLeavesNoPullRequestOutForEver(t *testing.T) {
	l := newLife(t)
	l.tick(-time.Hour)
	l.github.DropNext(1000)
	for n := range mostUnknown + 20 {
		number, err := l.github.Open(fmt.Sprint("Number ", n), "will")
		require.NoError(t, err)
		l.label(number, fmt.Sprintf("ocp/unknown-%d", n%15))
	}
	l.arrive()
	l.github.DropNext(0)
	l.settle()
	client, err := wire.New(wire.Config{AppID: github.AppID, PrivateKey: l.github.KeyPEM(), BaseURL: l.github.URL(), Pace: -1, Settling: -1, Probe: -1})
	require.NoError(t, err)
	poller := NewLabelPoller(l.store, client, table, slog.New(slog.DiscardHandler))
	require.NoError(t, poller.Look(t.Context()))
	require.Len(t, l.sightings(), mostUnknown)
	_, err = l.store.Pool().Exec(t.Context(), `UPDATE deliveries SET state = 'done', finished_at = now() WHERE state = 'received'`) // nothing came of them
	require.NoError(t, err)
	require.NoError(t, poller.Look(t.Context()))
	require.Len(t, l.sightings(), mostUnknown+20)
}

// lookUntil looks for lost labels by a client whose calls may end the run.
func lookUntil(t *testing.T, poller *LabelPoller, end *context.CancelFunc) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	*end = cancel
	return poller.Look(ctx)
}

func TestALookForLabelsGoesOnAtThePageOnWhichItsTimeWasOver(t *testing.T) {
	l, number := lost(t, "ocp/"+first, "will", 5*time.Minute)
	var pages []string
	var end context.CancelFunc
	poller := NewLabelPoller(l.store, l.clientThrough(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path != "/installation/repositories" {
			return http.DefaultTransport.RoundTrip(r)
		}
		pages = append(pages, r.URL.Query().Get("page"))
		if len(pages) == 2 {
			return hang(r, end)
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && r.URL.Query().Get("page") == "1" {
			answer.Header.Set("Link", "<"+l.github.URL()+`/installation/repositories?page=2>; rel="next"`)
		}
		return answer, err
	}), table, slog.New(slog.DiscardHandler))
	require.ErrorIs(t, lookUntil(t, poller, &end), context.Canceled)
	require.Equal(t, []string{"1", "2"}, pages)
	l.settle()
	l.one(number, first)

	require.NoError(t, lookUntil(t, poller, &end))
	require.Equal(t, []string{"1", "2", "2"}, pages)
	require.NoError(t, lookUntil(t, poller, &end))
	require.Equal(t, []string{"1", "2", "2", "1", "2"}, pages, "then it begins again")
}

func TestAnInstallationThatTakesAllTheTimeComesLastInTheNextLookForLabels(t *testing.T) {
	l, number := lost(t, "ocp/"+first, "will", 5*time.Minute)
	var end context.CancelFunc
	poller := NewLabelPoller(l.store, l.clientThrough(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/app/installations/77/access_tokens" {
			return hang(r, end)
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && r.URL.Path == "/app/installations" {
			_ = answer.Body.Close()
			both := fmt.Appendf(nil, `[{"id": 77}, {"id": %d}]`, github.Installation)
			answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(both)), int64(len(both))
		}
		return answer, err
	}), table, slog.New(slog.DiscardHandler))
	require.ErrorIs(t, lookUntil(t, poller, &end), context.Canceled)
	require.Empty(t, l.sightings())
	require.ErrorIs(t, lookUntil(t, poller, &end), context.Canceled)
	l.settle()
	l.one(number, first)
}
