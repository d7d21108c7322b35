package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// GitHubBudget is what remains of an installation's primary rate limit, as GitHub last reported it.
type GitHubBudget struct {
	Installation int64  // 0: the App itself
	Resource     string // core or graphql
	Allowed      int    // calls an hour
	Remaining    int
	ResetsAt     time.Time
}

// SeeBudget stores what GitHub just reported.
func (s *Store) SeeBudget(ctx context.Context, b GitHubBudget) error {
	_, err := s.db.Pool().Exec(ctx, `
		INSERT INTO github_budgets (installation, resource, allowed, remaining, resets_at, seen_at)
		VALUES (@installation, @resource, @allowed, @remaining, @resets, `+db.PaceClock+`)
		ON CONFLICT (installation, resource) DO UPDATE
			SET allowed = excluded.allowed, remaining = excluded.remaining, resets_at = excluded.resets_at, seen_at = excluded.seen_at`,
		pgx.NamedArgs{
			"installation": b.Installation, "resource": b.Resource, "allowed": b.Allowed, "remaining": b.Remaining, "resets": b.ResetsAt, "fixed": s.db.Fixed(),
		})
	if err != nil {
		return fmt.Errorf("keep the budget of installation %d: %w", b.Installation, db.Plain(err))
	}
	return nil
}

// GitHubBudgets returns what remains of each installation's limits. A limit whose reset time is past counts as full.
func (s *Store) GitHubBudgets(ctx context.Context) ([]GitHubBudget, error) {
	out, err := db.All[GitHubBudget](ctx, s.db.Pool(), `
		SELECT installation, resource, allowed, resets_at, CASE WHEN resets_at <= `+db.PaceClock+` THEN allowed ELSE remaining END AS remaining
		FROM github_budgets ORDER BY installation, resource`, pgx.NamedArgs{"fixed": s.db.Fixed()})
	if err != nil {
		return nil, fmt.Errorf("read the budgets of GitHub's limits: %w", err)
	}
	return out, nil
}

// GitHubAnswers stores whether GitHub answers an installation's calls. Of several reports that it does not, the first counts.
func (s *Store) GitHubAnswers(ctx context.Context, installation int64, answers bool) error {
	sql := `
		INSERT INTO paces AS p (installation, away_since) VALUES (@installation, ` + db.PaceClock + `)
		ON CONFLICT (installation) DO UPDATE SET away_since = coalesce(p.away_since, excluded.away_since)`
	if answers {
		sql = `UPDATE paces SET away_since = NULL WHERE installation = @installation AND away_since IS NOT NULL`
	}
	if _, err := s.db.Pool().Exec(ctx, sql, pgx.NamedArgs{"installation": installation, "fixed": s.db.Fixed()}); err != nil {
		return fmt.Errorf("keep whether GitHub answers for installation %d: %w", installation, db.Plain(err))
	}
	return nil
}

// GitHubAway returns, by installation, for how long GitHub has not answered; zero: it answers.
func (s *Store) GitHubAway(ctx context.Context) (map[int64]time.Duration, error) {
	type record struct {
		Installation int64
		Away         time.Duration
	}
	rows, err := db.All[record](ctx, s.db.Pool(), `
		SELECT installation, coalesce(`+db.PaceClock+` - away_since, interval '0') AS away FROM paces`, pgx.NamedArgs{"fixed": s.db.Fixed()})
	if err != nil {
		return nil, fmt.Errorf("read since when GitHub is away: %w", err)
	}
	out := map[int64]time.Duration{}
	for _, r := range rows {
		out[r.Installation] = r.Away
	}
	return out, nil
}

// GitHubBacklog is what waits for GitHub on a cluster's pull request. The zero value: nothing waits.
type GitHubBacklog struct {
	Places     []string  // kinds of the subscribers that show an older state
	Deliveries int       // waiting webhooks of the pull request
	Since      time.Time // the oldest of them
	AwaySince  time.Time // GitHub has not answered since; zero: it answers
	HeldUntil  time.Time // GitHub takes no calls until then; zero: it takes them
}

// waitsAfter is how old something is before it counts as waiting.
const waitsAfter = 10 * time.Second

// WaitsForGitHub returns what waits on a cluster's pull request while GitHub does not answer or takes no calls.
func (s *Store) WaitsForGitHub(ctx context.Context, cluster string) (GitHubBacklog, error) {
	type record struct {
		Places              []string
		Deliveries          int
		Now                 time.Time
		Since               *time.Time
		AwaySince, HeldTill *time.Time
	}
	got, err := db.All[record](ctx, s.db.Pool(), `
		WITH clock AS (SELECT `+db.PaceClock+` AS now),
		cluster AS (SELECT id, installation, repo || '#' || pr_number AS topic, updated_at FROM clusters WHERE id = @cluster AND repo IS NOT NULL),
		behind AS (SELECT kind FROM subscribers WHERE cluster_id = @cluster AND workspace = '' AND shown_version < wanted_version AND NOT muted),
		events AS (SELECT received_at FROM deliveries, clock, cluster WHERE state = 'received' AND deliveries.topic = cluster.topic AND received_at < clock.now - @after::interval)
		SELECT clock.now, coalesce((SELECT array_agg(kind ORDER BY kind) FROM behind), '{}') AS places, (SELECT count(*) FROM events) AS deliveries,
			least((SELECT min(received_at) FROM events), CASE WHEN EXISTS (SELECT FROM behind) THEN cluster.updated_at END) AS since,
			p.away_since, CASE WHEN p.held_until > clock.now THEN p.held_until END AS held_till
		FROM clock, cluster JOIN paces p ON p.installation = cluster.installation
		WHERE p.away_since IS NOT NULL OR p.held_until > clock.now`,
		pgx.NamedArgs{"cluster": cluster, "after": waitsAfter, "fixed": s.db.Fixed()})
	if err != nil {
		return GitHubBacklog{}, fmt.Errorf("look what of %s waits for GitHub: %w", cluster, err)
	}
	if len(got) == 0 || got[0].Since == nil {
		return GitHubBacklog{}, nil
	}
	out := GitHubBacklog{Places: got[0].Places, Deliveries: got[0].Deliveries, Since: *got[0].Since}
	if at := got[0].AwaySince; at != nil {
		out.AwaySince = *at
	}
	if at := got[0].HeldTill; at != nil {
		out.HeldUntil = *at
	}
	return out, nil
}
