package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Filter selects clusters; empty fields do not filter.
type Filter struct {
	Query     filter.Query // what somebody looks for
	Status    []lifecycle.Status
	Teams     []string // only these teams' clusters, and those shared with them or with Principal; nil: all (an auditor or admin)
	Principal string   // the reader, in addition to Teams
	Repo      string
	Number    int
	Profile   string
	ID        string
	Named     string // the whole name
	Run       string // that they belong to, by its id, its address, or what its platform identifies it by
	Live      bool   // not released
	Current   bool   // not released, or an install that failed within lifecycle.FailureShown
	Found     bool   // there is an open finding about it
	Cursor    string // id of the last row seen
	Limit     int    // default 50, at most 500
}

// ClusterForPR returns the newest generation of a pull request's cluster of one profile; it may be released.
func (s *Store) ClusterForPR(ctx context.Context, repo string, number int, profile string) (clusters.Row, error) {
	row, err := clusters.ReadWhere(ctx, s.DB, `
		WHERE c.repo = @repo AND c.pr_number = @number AND c.profile = @profile ORDER BY c.generation DESC LIMIT 1`,
		pgx.NamedArgs{"repo": repo, "number": number, "profile": profile})
	if err != nil {
		return clusters.Row{}, fmt.Errorf("read the %s cluster of %s#%d: %w", profile, repo, number, err)
	}
	return row, nil
}

// List returns a page of clusters in the order of the query, else newest first, and the cursor of the next page; empty when this is the last.
func (s *Store) List(ctx context.Context, f Filter) (page []clusters.Row, next string, err error) {
	limit, order := db.PageOf(f.Limit), orderOf(f.Query.Order)
	where, args := f.where(s.Fixed(), order)
	args["limit"] = limit + 1 // one more shows whether there is a next page
	more := clusters.OfMany
	if f.Named != "" { // one is meant
		more = clusters.OfOne
	}
	records, err := db.All[clusters.RowRecord](ctx, s.Pool(), `SELECT `+clusters.RowColumns+more+clusters.RowSources+where+order.by()+` LIMIT @limit`, args)
	if err != nil {
		return nil, "", fmt.Errorf("list clusters: %w", err)
	}
	if len(records) > limit {
		records = records[:limit]
		next = records[limit-1].Lifecycle.Cluster.ID
	}
	page = make([]clusters.Row, len(records))
	for i, r := range records {
		page[i] = r.Row()
	}
	return page, next, nil
}

func (f Filter) where(fixed *time.Time, order order) (string, pgx.NamedArgs) {
	w := db.Conditions{Args: pgx.NamedArgs{"principal": f.Principal, "fixed": fixed}}
	w.Add(len(f.Status) > 0, "c.status = ANY (@status)", "status", f.Status)
	w.Add(f.Repo != "", "c.repo = @repo", "repo", f.Repo)
	w.Add(f.Number != 0, "c.pr_number = @number", "number", f.Number)
	w.Add(f.Profile != "", "c.profile = @profile", "profile", f.Profile)
	w.Add(f.ID != "", "c.id = @id", "id", f.ID)
	w.Add(f.Named != "", "c.name = @named", "named", f.Named)
	w.Add(f.Run != "", ofRun("@run"), "run", f.Run)
	w.Add(f.Live, "c.destroyed_at IS NULL", "", nil)
	w.Add(f.Current, "(c.destroyed_at IS NULL OR c.destroyed_at > (SELECT "+db.PaceClock+" - @shown::interval) AND "+installFailed+")", "shown", lifecycle.FailureShown)
	w.Add(f.Found, "c.id IN (SELECT f.cluster_id FROM findings f WHERE f.resolved_at IS NULL)", "", nil)
	addQuery(&w, f.Query)
	w.Add(f.Cursor != "", order.after(), "cursor", f.Cursor)
	if f.Teams != nil {
		among := w.Where()
		w.Add(true, "c.id IN ("+firstSeen(among, order)+")", "teams", f.Teams)
	} else if order.column != "c.id" { // what is joined to a row is read for a page alone
		return "WHERE c.id IN (SELECT c.id FROM clusters c " + w.Where() + order.by() + " LIMIT @limit)", w.Args
	}
	return w.Where(), w.Args
}

// firstSeen selects the ids of the first clusters of each team, and of those that are shared, and of these the first ones of a page. Each
// part is read from its own index, so what other teams have makes no difference. where is the other conditions.
func firstSeen(where string, o order) string {
	if where == "" {
		where = "WHERE true"
	}
	return `SELECT v.id FROM (
		SELECT own.id, own.place FROM unnest(@teams::text[]) AS t (team), LATERAL (
			SELECT c.id, ` + o.column + ` AS place FROM clusters c ` + where + ` AND c.team = t.team` + o.by() + ` LIMIT @limit) AS own
		UNION SELECT c.id, ` + o.column + ` FROM shares s JOIN clusters c ON c.id = s.cluster_id ` + where + ` AND (` + usage.SharedWith + `)
	) AS v ORDER BY v.place ` + o.way + `, v.id ` + o.way + ` LIMIT @limit`
}
