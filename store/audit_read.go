package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/auditchain"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// AuditFilter selects lines of the audit trail; empty fields do not filter.
type AuditFilter struct {
	Actor, Action, Cluster, Source string
	Teams                          []string  // only lines about these teams' clusters; nil: all, also those about no cluster
	From, To                       time.Time // From is in, To is not
	Oldest                         bool      // oldest first, as an export is written; else newest first
	Cursor                         string    // seq of the last line seen
	Limit                          int       // default 50, at most 500
}

const auditColumns = `
	e.seq, e.created_at AS at, e.actor, e.action, e.source, coalesce(e.target_cluster_id, '') AS cluster, e.metadata::text AS metadata, e.previous, e.hash`

// ClusterNames returns the names of clusters by id. One that does not exist is missing.
func (s *Store) ClusterNames(ctx context.Context, ids []string) (map[string]string, error) {
	found, err := db.All[struct{ ID, Name string }](ctx, s.Pool(), `SELECT id, name FROM clusters WHERE id = ANY ($1)`, ids)
	if err != nil {
		return nil, fmt.Errorf("read the names of clusters: %w", err)
	}
	names := make(map[string]string, len(found))
	for _, c := range found {
		names[c.ID] = c.Name
	}
	return names, nil
}

// AuditPage returns a page of the audit trail and the cursor of the next; empty: this is the last. ErrConflict: the cursor is
// invalid.
func (s *Store) AuditPage(ctx context.Context, f AuditFilter) (page []auditchain.Line, next string, err error) {
	var actors []string
	if f.Actor != "" {
		if actors, err = usage.IdentitiesNamed(ctx, s.Pool(), f.Actor); err != nil {
			return nil, "", fmt.Errorf("read the audit trail: %w", err)
		}
	}
	where, args, err := f.where(actors)
	if err != nil {
		return nil, "", fmt.Errorf("read the audit trail: %w", err)
	}
	limit := db.PageOf(f.Limit)
	args["limit"] = limit + 1 // one more shows whether there is a next page
	order := "DESC"
	if f.Oldest {
		order = "ASC"
	}
	page, err = db.All[auditchain.Line](ctx, s.Pool(), `SELECT `+auditColumns+` FROM audit_events e `+where+` ORDER BY e.seq `+order+` LIMIT @limit`, args)
	if err != nil {
		return nil, "", fmt.Errorf("read the audit trail: %w", err)
	}
	if len(page) > limit {
		page = page[:limit]
		next = strconv.FormatInt(page[limit-1].Seq, 10)
	}
	return page, next, nil
}

func (f AuditFilter) where(actors []string) (string, pgx.NamedArgs, error) {
	w := db.Conditions{Args: pgx.NamedArgs{}}
	w.Add(f.Actor != "", "principal_key(e.actor) = ANY (@actors)", "actors", actors)
	w.Add(f.Action != "", "e.action = @action", "action", f.Action)
	w.Add(f.Cluster != "", "e.target_cluster_id = @cluster", "cluster", f.Cluster)
	w.Add(f.Source != "", "e.source = @source", "source", f.Source)
	w.Add(f.Teams != nil, "e.target_cluster_id IN (SELECT id FROM clusters WHERE team = ANY (@teams))", "teams", f.Teams)
	w.Add(!f.From.IsZero(), "e.created_at >= @from", "from", f.From)
	w.Add(!f.To.IsZero(), "e.created_at < @to", "to", f.To)
	if f.Cursor != "" {
		seq, err := db.Cursor(f.Cursor)
		if err != nil {
			return "", nil, err
		}
		compare := "e.seq < @cursor"
		if f.Oldest {
			compare = "e.seq > @cursor"
		}
		w.Add(true, compare, "cursor", seq)
	}
	return w.Where(), w.Args, nil
}

// verifyBatch is how many lines are read at a time: few enough that no other query waits for them.
const verifyBatch = 5000

// VerifyAudit reads the whole trail and recomputes every hash without the database's help. known are heads from earlier proofs,
// kept elsewhere: only they reveal a trail that was rewritten as a whole.
//
// Lines written meanwhile are left out. All lines up to the head are there: a line and the head are written in one transaction.
func (s *Store) VerifyAudit(ctx context.Context, known ...auditchain.Head) (auditchain.Proof, error) {
	type end struct {
		Seq, Last int64
		Hash      string
	}
	head, err := db.One[end](ctx, s.Pool(), `
		SELECT coalesce(h.seq, 0) AS seq, coalesce(h.hash, '') AS hash, coalesce(e.last, 0) AS last
		FROM (SELECT max(seq) AS last FROM audit_events) e LEFT JOIN audit_head h ON true`)
	if err != nil {
		return auditchain.Proof{}, fmt.Errorf("read the head of the audit trail: %w", err)
	}
	v := auditchain.After(auditchain.Start)
	v.Know(known...)
	v.Know(auditchain.Head{Seq: head.Seq, Hash: head.Hash})
	for last := int64(0); last < head.Last; {
		lines, err := db.All[auditchain.Line](ctx, s.Pool(), `SELECT `+auditColumns+`
			FROM audit_events e WHERE e.seq > $1 AND e.seq <= $2 ORDER BY e.seq LIMIT $3`, last, head.Last, verifyBatch)
		if err != nil {
			return auditchain.Proof{}, fmt.Errorf("read the audit trail behind line %d: %w", last, err)
		}
		if len(lines) == 0 {
			break // removed meanwhile: the head shows it
		}
		for _, l := range lines {
			v.Add(l)
		}
		last = lines[len(lines)-1].Seq
	}
	proof := v.End()
	if head.Last > head.Seq || head.Hash == "" {
		proof.Breaks = append(proof.Breaks, auditchain.Break{Seq: head.Seq, Kind: auditchain.Rewritten,
			Words: fmt.Sprintf("the head was put back to it from line %d", head.Last)})
	}
	return proof, nil
}
