package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

var insertTurn = db.NewInsert("give it a position in the queue",
	"cluster text, team text, weight integer, limits jsonb, since timestamptz, position integer, words text", `
	INSERT INTO turns (cluster_id, team, weight, limits, since, position, words) SELECT cluster, team, weight, limits, since, position, words FROM given`)

// queueTurn adds an accepted cluster to the queue for full quotas.
func queueTurn(c *db.Tx, b *db.Batch, row clusters.Row, weight int, t TurnAsk) {
	words := t.Words
	if words == "" {
		words = "a position in the queue"
	}
	b.Insert(insertTurn, row.ID, row.Team, weight, append([]lifecycle.Limit{}, t.Limits...), row.AcceptedAt, max(t.Position, 1), words)
	clusters.NextTurns(c)
}

// stopsCounting reports a move after which a quota may have space again, or the cluster may leave the queue.
func stopsCounting(was, next lifecycle.Cluster) bool {
	return was.Status != next.Status && (next.Status == lifecycle.Ready || next.Status == lifecycle.Destroyed) ||
		was.Desired != next.Desired || was.NeedsApproval && !next.NeedsApproval
}

// Turns gives a turn to each cluster whose limits have space, stores the positions of the others, and reconciles those that
// moved. Only one pass runs at a time, in any process. It returns how many got their turn.
//
// Judge counts a waiting cluster as if it had started, so that both together never pass a limit. It does not count one that
// awaits approval: if the approval comes behind its count, only the locks keep the two apart. Therefore a pass takes the locks of
// everybody who would get a turn, and counts again. Whoever gets one only now has it in the next pass.
func (s *Store) Turns(ctx context.Context) (granted int, err error) {
	err = s.Write(ctx, func(c *db.Tx) error {
		if err := c.TakeLocks(ctx, []string{"turns"}); err != nil {
			return err
		}
		line, turns, places, err := takeTurns(ctx, c)
		if err != nil {
			return err
		}
		if len(turns) > 0 { // no row may be locked before these
			first := turns[:min(len(turns), mostTurns)]
			if err := c.TakeLocks(ctx, locksOf(line, first)); err != nil {
				return err
			}
			if line, turns, places, err = takeTurns(ctx, c); err != nil {
				return err
			}
			all := len(turns)
			if turns = slices.DeleteFunc(turns, func(id string) bool { return !slices.Contains(first, id) }); len(turns) < all {
				clusters.NextTurns(c)
			}
		}
		if err := lockChanged(ctx, c, line, turns, places); err != nil {
			return err
		}
		if err := leaveQueue(ctx, c); err != nil {
			return err
		}
		if granted, err = giveTurns(ctx, c, turns); err != nil {
			return err
		}
		return keepPlaces(ctx, c, line, places)
	})
	if err != nil {
		return 0, fmt.Errorf("give turns: %w", err)
	}
	return granted, nil
}

// mostTurns bounds the turns of one pass, and with them the locks that it holds.
const mostTurns = 500

// takeTurns reads who waits, and says whose turn it is, by what counts now, and the positions of the others.
func takeTurns(ctx context.Context, c *db.Tx) (line []waiter, turns []string, places map[string]lifecycle.Turn, err error) {
	line, err = readLine(ctx, c)
	if err != nil || len(line) == 0 {
		return nil, nil, nil, err
	}
	held, err := holders(ctx, c)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := resolvePeople(ctx, c, line, held); err != nil {
		return nil, nil, nil, err
	}
	teams := make([]string, len(line))
	for i, w := range line {
		teams[i] = w.Team
	}
	used, err := usage.Recent(ctx, c, teams)
	if err != nil {
		return nil, nil, nil, err
	}
	waiters := make([]lifecycle.Waiter, len(line))
	for i, w := range line {
		waiters[i] = w.waiter(used[w.Team])
	}
	turns, places = lifecycle.Take(waiters, held)
	return line, turns, places, nil
}

// resolvePeople replaces principals by the people they belong to, if anybody waits for a person's limit: others need not be told apart.
func resolvePeople(ctx context.Context, c *db.Tx, line []waiter, held []lifecycle.Holder) error {
	isPersonal := func(l lifecycle.Limit) bool { return l.Scope == lifecycle.ScopePerson }
	if !slices.ContainsFunc(line, func(w waiter) bool { return slices.ContainsFunc(w.Limits, isPersonal) }) {
		return nil
	}
	people := map[string]string{}
	for _, w := range line {
		people[w.Person] = w.Person
	}
	for _, h := range held {
		people[h.Person] = h.Person
	}
	known, err := db.All[struct{ ID, Person string }](ctx, c, `SELECT id, person_of(id) AS person FROM unnest($1::text[]) AS t (id)`, slices.Collect(maps.Keys(people)))
	if err != nil {
		return fmt.Errorf("read who the people are: %w", err)
	}
	for _, k := range known {
		people[k.ID] = k.Person
	}
	for i := range line {
		line[i].Person = people[line[i].Person]
		for k := range line[i].Limits {
			if isPersonal(line[i].Limits[k]) { // it was stored with the principal that asked
				line[i].Limits[k].Key = line[i].Person
			}
		}
	}
	for i := range held {
		held[i].Person = people[held[i].Person]
	}
	return nil
}

// locksOf returns the names of the locks under which requests of some of those who wait are judged.
func locksOf(line []waiter, which []string) (names []string) {
	for _, w := range line {
		if !slices.Contains(which, w.Cluster) {
			continue
		}
		everywhere := slices.ContainsFunc(w.Limits, func(l lifecycle.Limit) bool { return l.Scope == lifecycle.ScopeEverywhere })
		scope := usage.Scope{Person: w.Person, Team: w.Team, Repo: w.Repo, Everywhere: everywhere}
		for _, l := range w.Limits {
			if l.Scope == lifecycle.ScopeCohort {
				scope.Cohort = &usage.Cohort{Name: l.Key}
			}
		}
		names = append(names, scope.Locks()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// waiter is a waiting cluster, with the position it was told.
type waiter struct {
	Cluster            string
	Person, Team, Repo string
	Weight, Priority   int
	Since              time.Time
	Limits             []lifecycle.Limit
	Position           int
	Words              string
	ETA                *time.Time
	Unapproved         bool
}

func (w waiter) waiter(used int64) lifecycle.Waiter {
	return lifecycle.Waiter{
		Party:   lifecycle.Party{Person: w.Person, Team: w.Team, Repo: w.Repo},
		Cluster: w.Cluster, Weight: w.Weight, Priority: w.Priority, Used: used, Since: w.Since, Limits: w.Limits, Unapproved: w.Unapproved,
	}
}

// leaveQueue removes from the queue what no longer waits.
func leaveQueue(ctx context.Context, c *db.Tx) error {
	_, err := c.Exec(ctx, `
		DELETE FROM turns t USING clusters c WHERE c.id = t.cluster_id AND (c.desired = 'absent' OR NOT c.needs_turn)`)
	if err != nil {
		return fmt.Errorf("remove what no longer waits from the queue: %w", err)
	}
	return nil
}

// readLine returns who waits in the queue, also those that await approval.
func readLine(ctx context.Context, c *db.Tx) ([]waiter, error) {
	line, err := db.All[waiter](ctx, c, `
		SELECT t.cluster_id AS cluster, c.requested_by AS person, c.team, coalesce(c.repo, '') AS repo,
			t.weight, c.priority, t.since, t.limits, t.position, t.words, t.eta, c.needs_approval AS unapproved
		FROM turns t JOIN clusters c ON c.id = t.cluster_id WHERE c.destroyed_at IS NULL AND c.desired = 'present' AND c.needs_turn`)
	if err != nil {
		return nil, fmt.Errorf("read who waits: %w", err)
	}
	return line, nil
}

// holders returns all clusters that count and do not wait, and when each may stop counting: one that is wanted at its end, a create or
// teardown by the duration of earlier ones. Without earlier ones there is no time: a guess would be hours off.
func holders(ctx context.Context, c *db.Tx) ([]lifecycle.Holder, error) {
	rows, err := c.Query(ctx, `
		SELECT c.requested_by, c.team, coalesce(c.repo, ''), `+usage.IsCreating+`,
			CASE WHEN c.desired = 'present' THEN c.destroy_at WHEN a.kind = 'destroy' THEN a.opened_at + a.expected_seconds * interval '1 second' END,
			CASE WHEN a.kind = 'create' AND a.expected_seconds > 0 THEN least(a.opened_at + a.expected_seconds * interval '1 second', c.destroy_at) END
		FROM clusters c LEFT JOIN attempts a ON a.cluster_id = c.id AND a.closed_at IS NULL
		WHERE c.destroyed_at IS NULL AND NOT c.needs_turn AND NOT c.pooled`)
	if err != nil {
		return nil, fmt.Errorf("read what counts: %w", err)
	}
	held, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h lifecycle.Holder, err error) {
		var ends, made *time.Time
		err = row.Scan(&h.Person, &h.Team, &h.Repo, &h.Creating, &ends, &made)
		h.Ends, h.Made = toCome(c, ends), toCome(c, made)
		return h, err
	})
	if err != nil {
		return nil, fmt.Errorf("read what counts: %w", err)
	}
	return held, nil
}

// toCome returns a time in the future; a past one becomes zero.
func toCome(c *db.Tx, at *time.Time) time.Time {
	if at == nil || !at.After(c.Now) {
		return time.Time{}
	}
	return *at
}

// giveTurns lets the clusters start that are still wanted and wait. It returns how many that are.
func giveTurns(ctx context.Context, c *db.Tx, ids []string) (granted int, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	had, err := clusters.SetDesiredOfMany(ctx, c, ids, "needs_turn = false", "desired = 'present' AND needs_turn", pgx.NamedArgs{})
	if err != nil {
		return 0, err
	}
	if _, err := c.Exec(ctx, `DELETE FROM turns WHERE cluster_id = ANY ($1)`, had); err != nil {
		return 0, fmt.Errorf("take %d clusters out of the queue: %w", len(had), err)
	}
	for _, id := range had {
		if err := c.Record(ctx, db.Lifecycle, "turn", id, db.Move{Why: "it left the queue: every quota that it waited for allows it now"}); err != nil {
			return 0, err
		}
	}
	return len(had), nil
}

// lockChanged locks the clusters that a pass changes, in the order of their ids and before any row of turns: whoever gives one to another team, or
// renames its repository, does it in that order.
func lockChanged(ctx context.Context, c *db.Tx, line []waiter, turns []string, places map[string]lifecycle.Turn) error {
	changed := slices.Clone(turns)
	for _, w := range line {
		if turn, waits := places[w.Cluster]; waits && (w.isMoved(turn) || w.isForeseen(turn)) {
			changed = append(changed, w.Cluster)
		}
	}
	if _, err := c.Exec(ctx, `SELECT FROM clusters WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE`, changed); err != nil {
		return fmt.Errorf("lock what waits: %w", err)
	}
	return nil
}

// isMoved reports that the waiter stands elsewhere, or waits for something else, than it was told.
func (w waiter) isMoved(now lifecycle.Turn) bool {
	return now.Position != w.Position || now.For != w.Words
}

// isForeseen reports that only now it is known when its turn may come.
func (w waiter) isForeseen(now lifecycle.Turn) bool { return w.ETA == nil && !now.ETA.IsZero() }

// keepPlaces stores the positions, and reconciles the clusters whose position changed.
func keepPlaces(ctx context.Context, c *db.Tx, line []waiter, places map[string]lifecycle.Turn) error {
	var ids, words, moved, foreseen []string
	var numbers []int
	var etas []*time.Time
	for _, w := range line {
		turn, waits := places[w.Cluster]
		if !waits {
			continue
		}
		ids, words, numbers, etas = append(ids, w.Cluster), append(words, turn.For), append(numbers, turn.Position), append(etas, db.Null(turn.ETA))
		switch {
		case w.isMoved(turn):
			moved = append(moved, w.Cluster)
		case w.isForeseen(turn):
			foreseen = append(foreseen, w.Cluster)
		}
	}
	_, err := c.Exec(ctx, `
		UPDATE turns t SET position = n.position, words = n.words, eta = n.eta
		FROM unnest($1::text[], $2::int[], $3::text[], $4::timestamptz[]) AS n (id, position, words, eta)
		WHERE t.cluster_id = n.id AND (t.position, t.words, t.eta) IS DISTINCT FROM (n.position, n.words, n.eta)`, ids, numbers, words, etas)
	if err != nil {
		return fmt.Errorf("write the places: %w", err)
	}
	if err := clusters.RequestReconciles(ctx, c, moved); err != nil || len(foreseen) == 0 {
		return err
	}
	_, err = clusters.SetDesiredOfMany(ctx, c, foreseen, "needs_turn = needs_turn", "true", pgx.NamedArgs{}) // no position changed, so no reconcile would show it
	return err
}
