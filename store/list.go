package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Filter selects clusters; empty fields do not filter.
type Filter struct {
	Status                []lifecycle.Status
	Platform, Owner, Team string
	Teams                 []string // only these teams' clusters, and those shared with them or with Principal; nil: all (an auditor or admin)
	Principal             string   // the reader, in addition to Teams
	Repo                  string
	Number                int
	Profile               string
	Name                  string // prefix of the name
	Named                 string // the whole name
	Run                   string // that they belong to, by its id, its address, or what its platform identifies it by
	Live                  bool   // not released
	Mine                  string // requested by this principal or handed over to it, by whichever of its identities, or owned by MyName
	MyName                string // as an owner's name; only with Mine
	Cursor                string // id of the last row seen; newest first
	Limit                 int    // default 50, at most 500
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

// List returns a page of clusters, newest first, and the cursor of the next page; empty when this is the last.
func (s *Store) List(ctx context.Context, f Filter) (page []clusters.Row, next string, err error) {
	limit := db.PageOf(f.Limit)
	where, args := f.where()
	args["limit"] = limit + 1 // one more shows whether there is a next page
	more := clusters.OfMany
	if f.Named != "" { // one is meant
		more = clusters.OfOne
	}
	records, err := db.All[clusters.RowRecord](ctx, s.Pool(), `SELECT `+clusters.RowColumns+more+clusters.RowSources+where+` ORDER BY c.id DESC LIMIT @limit`, args)
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

// ownerCondition selects the clusters whose owner is a name, in any spelling of the person.
func ownerCondition(name string) string {
	return "(c.owner = " + name + " OR lower(c.owner) IN (SELECT o.spelling FROM person_spellings o JOIN person_spellings asked ON asked.person = o.person WHERE asked.spelling = lower(" + name + ")))"
}

func (f Filter) where() (string, pgx.NamedArgs) {
	w := db.Conditions{Args: pgx.NamedArgs{"principal": f.Principal}}
	w.Add(len(f.Status) > 0, "c.status = ANY (@status)", "status", f.Status)
	w.Add(f.Platform != "", "c.platform = @platform", "platform", f.Platform)
	w.Add(f.Owner != "", ownerCondition("@owner"), "owner", f.Owner)
	w.Add(f.Mine != "", "(principal_key("+clusters.HeldBy+") = ANY (identities_of(@mine)) OR "+ownerCondition("@my_name")+")", "mine", f.Mine)
	w.Args["my_name"] = f.MyName
	w.Add(f.Team != "", "c.team = @team", "team", f.Team)
	w.Add(f.Repo != "", "c.repo = @repo", "repo", f.Repo)
	w.Add(f.Number != 0, "c.pr_number = @number", "number", f.Number)
	w.Add(f.Profile != "", "c.profile = @profile", "profile", f.Profile)
	w.Add(f.Name != "", "starts_with(c.name, @name)", "name", f.Name)
	w.Add(f.Named != "", "c.name = @named", "named", f.Named)
	w.Add(f.Run != "", `c.id IN (SELECT b.cluster_id FROM run_clusters b JOIN runs u ON u.id = b.run_id
		WHERE u.id = @run OR u.url = @run OR u.key = @run OR u.platform = 'tekton' AND split_part(u.key, '/', 2) = @run)`, "run", f.Run)
	w.Add(f.Live, "c.destroyed_at IS NULL", "", nil)
	w.Add(f.Cursor != "", "c.id < @cursor", "cursor", f.Cursor)
	if f.Teams != nil {
		among := w.Where()
		w.Add(true, "c.id IN ("+firstSeen(among)+")", "teams", f.Teams)
	}
	return w.Where(), w.Args
}

// firstSeen selects the ids of the first clusters of each team, and of those that are shared, and of these the first ones of a page. Each
// part is read from its own index, so what other teams have makes no difference. where is the other conditions.
func firstSeen(where string) string {
	if where == "" {
		where = "WHERE true"
	}
	return `SELECT v.id FROM (
		SELECT own.id FROM unnest(@teams::text[]) AS t (team), LATERAL (
			SELECT c.id FROM clusters c ` + where + ` AND c.team = t.team ORDER BY c.id DESC LIMIT @limit) AS own
		UNION SELECT c.id FROM shares s JOIN clusters c ON c.id = s.cluster_id ` + where + ` AND (` + usage.SharedWith + `)
	) AS v ORDER BY v.id DESC LIMIT @limit`
}
