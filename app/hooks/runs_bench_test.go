package hooks

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github"
)

// BenchmarkRunEvents sends 500 events of workflow runs and jobs a second, as BenchmarkStorm does, none of which concerns a run that is
// known. The store knows 10,000 others. It fails where one is stored.
func BenchmarkRunEvents(b *testing.B) {
	s := durable(b)
	_, err := s.Pool().Exec(b.Context(), `
		INSERT INTO runs (id, platform, issuer, scope, key, repo, attempt, state, seen_at, created_at)
		SELECT 'run_' || i, 'github', 'https://token.actions.githubusercontent.com', '1001', i::text, 'acme/shop', 1, 'running', now(), now()
		FROM generate_series(1, 10000) i`)
	require.NoError(b, err)
	_, err = s.Pool().Exec(b.Context(), `VACUUM ANALYZE runs`)
	require.NoError(b, err)
	server := startServer(b, s, 64)
	var mixed []gust
	for i := range int64(100) {
		run := github.Run{ID: 1_000_000 + i, Attempt: 1, Event: "push"}
		for _, e := range []github.Event{
			{Name: onRun, Action: "requested"}, {Name: onRun, Action: "in_progress"}, {Name: onRun, Action: "completed"},
			{Name: onJob, Action: "queued"}, {Name: onJob, Action: "in_progress"}, {Name: onJob, Action: "completed"},
		} {
			e.Sender, e.Run, e.Job = "will", run, github.Job{ID: 9_000_000 + i, Attempt: 1, Key: "e2e"}
			body, err := github.Payload(e)
			require.NoError(b, err)
			mixed = append(mixed, gust{event: e.Name, signature: signature([]byte(testSecret), body), body: body})
		}
	}
	atPace(b, func(ctx context.Context, run int64, i int) error {
		one := mixed[i%len(mixed)]
		r, err := hook(ctx, server, one.event, fmt.Sprintf("run-%d-%d", run, i), one.signature, one.body)
		if err != nil {
			return err
		}
		return acknowledged(server.Client(), r)
	})
	var rows int64
	require.NoError(b, s.Pool().QueryRow(b.Context(), `SELECT count(*) FROM deliveries`).Scan(&rows))
	require.Zero(b, rows)
}
