package outbox

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// EffectGate brings a gate up to date. Its content is the gate's id.
const EffectGate = clusters.EffectGate

// Gate is the check that branch rules require: of a profile on a commit, for all pull requests whose head the commit is.
type Gate struct {
	ID            string
	Installation  int64
	Repo          string
	Head, Profile string
	ExternalID    int64  // of the check run; 0: not posted yet, or unknown
	Shown         string // hash of what it shows
	Completed     bool   // it shows a conclusion
	Refused       string // why a merge queue's commit gets no cluster; Markdown
}

// GateMember is a pull request whose head a gate's commit is.
type GateMember struct {
	Number  int
	Open    bool
	Fork    bool
	Draft   bool
	Cluster string // the newest cluster of the gate's profile, if its check is on the commit; empty: there is none
}

// AskGate asks for a gate to be brought up to date, and makes it if there is none. A cause asks once.
func (s *Store) AskGate(ctx context.Context, g Gate, cause string) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		id, err := db.One[struct{ ID string }](ctx, c, `
			INSERT INTO gates AS g (id, installation, repo, head, profile, asked_at, refused) VALUES (@id, @installation, @repo, @head, @profile, @now, @refused)
			ON CONFLICT (repo, head, profile) DO UPDATE SET asked_at = @now, installation = @installation, refused = @refused RETURNING g.id`,
			pgx.NamedArgs{"id": db.NewID("gat"), "installation": g.Installation, "repo": g.Repo, "head": g.Head, "profile": g.Profile, "now": c.Now, "refused": g.Refused})
		if err != nil {
			return err
		}
		return clusters.SaveEffects(ctx, c, []clusters.Effect{clusters.GateEffect(id.ID, cause, g.Installation, g.Repo)})
	})
	if err != nil {
		return fmt.Errorf("ask for the gate of %s on %s of %s: %w", g.Profile, g.Head, g.Repo, err)
	}
	return nil
}

const gateColumns = `id, installation, repo, head, profile, external_id, shown, completed, refused`

// Gate returns a gate. ErrNotFound: it was removed, because nothing asked for it for long.
func (s *Store) Gate(ctx context.Context, id string) (Gate, error) {
	g, err := db.One[Gate](ctx, s.db.Pool(), `SELECT `+gateColumns+` FROM gates WHERE id = $1`, id)
	if err != nil {
		return Gate{}, fmt.Errorf("read gate %s: %w", id, err)
	}
	return g, nil
}

// GateMembers returns the pull requests whose head a gate's commit is, and those that were closed with it.
func (s *Store) GateMembers(ctx context.Context, g Gate) ([]GateMember, error) {
	members, err := db.All[GateMember](ctx, s.db.Pool(), `
		WITH here AS (
			SELECT c.id, s.number, c.repo, c.pr_number, c.generation FROM subscribers s JOIN clusters c ON c.id = s.cluster_id
			WHERE s.kind = @check AND s.repo = @repo AND s.head = @head AND NOT s.left_behind AND c.profile = @profile),
		numbers AS (
			SELECT number FROM here UNION SELECT number FROM pull_requests WHERE repo = @repo AND head = @head AND open)
		SELECT n.number, coalesce(p.open, true) AS open, coalesce(p.fork, false) AS fork, coalesce(p.draft, false) AS draft,
			coalesce((SELECT h.id FROM here h WHERE h.number = n.number AND NOT EXISTS (
				SELECT FROM clusters c WHERE c.repo = h.repo AND c.pr_number = h.pr_number AND c.profile = @profile AND c.generation > h.generation)
				ORDER BY h.generation DESC LIMIT 1), '') AS cluster
		FROM numbers n LEFT JOIN pull_requests p ON p.repo = @repo AND p.number = n.number ORDER BY n.number`,
		pgx.NamedArgs{"check": clusters.KindCheck, "repo": g.Repo, "head": g.Head, "profile": g.Profile})
	if err != nil {
		return nil, fmt.Errorf("list the pull requests of gate %s: %w", g.ID, err)
	}
	return members, nil
}

// StartGatePost records that a gate is about to be posted. lost reports that an earlier post may have arrived without being recorded.
func (s *Store) StartGatePost(ctx context.Context, id string) (lost bool, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		UPDATE gates g SET posting_at = coalesce(b.posting_at, $2::timestamptz, clock_timestamp())
		FROM gates b WHERE g.id = $1 AND b.id = g.id RETURNING b.posting_at IS NOT NULL`, id, s.db.Fixed()).Scan(&lost)
	if err != nil {
		return false, fmt.Errorf("record that gate %s is being posted: %w", id, err)
	}
	return lost, nil
}

// SaveGateShown records what a gate shows and under which id. With it, it asks for the gates on the commits of merge queues that have its result:
// whoever finds the gate up to date later asks for none. A cause asks once.
func (s *Store) SaveGateShown(ctx context.Context, g Gate, externalID int64, hash string, completed bool, cause string) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		if _, err := c.Exec(ctx, `UPDATE gates SET external_id = $2, shown = $3, completed = $4, posting_at = NULL WHERE id = $1`, g.ID, externalID, hash, completed); err != nil {
			return err
		}
		return askQueueGates(ctx, c, g, cause)
	})
	if err != nil {
		return fmt.Errorf("remember what gate %s shows: %w", g.ID, err)
	}
	return nil
}

// HasGate reports whether there is a gate on a commit.
func (s *Store) HasGate(ctx context.Context, repo, head string) (has bool, err error) {
	if err := s.db.Pool().QueryRow(ctx, `SELECT EXISTS (SELECT FROM gates WHERE repo = $1 AND head = $2)`, repo, head).Scan(&has); err != nil {
		return false, fmt.Errorf("look for a gate on %s of %s: %w", head, repo, err)
	}
	return has, nil
}
