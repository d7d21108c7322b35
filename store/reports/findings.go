package reports

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// FindingRow is one finding as stored.
type FindingRow struct {
	Kind                    lifecycle.FindingKind
	Cluster, ClusterName    string // empty: no cluster is known for it
	Identity                string
	Since                   time.Time // since when it is so, this time
	Why                     string
	Evidence                []string
	FirstSeenAt, LastSeenAt time.Time
	TimesSeen               int        // in a row
	ResolvedAt              *time.Time // nil: still so
}

// findingKey is what a finding is about.
type findingKey struct {
	Kind              lifecycle.FindingKind
	Cluster, Identity string
}

func keyOf(f lifecycle.Finding) findingKey { return findingKey{f.Kind, f.Cluster, f.Identity} }

// SaveFindings stores what one look found, and returns and announces the findings that are new. judged are the kinds that the look could
// judge: an open finding of these kinds that is not in found is resolved. Other kinds stay as they are.
func (s *Store) SaveFindings(ctx context.Context, judged []lifecycle.FindingKind, found []lifecycle.Finding) (fresh []lifecycle.Finding, err error) {
	found = merge(found)
	err = s.db.Write(ctx, func(c *db.Tx) error {
		if err := resolveFindings(ctx, c, judged, found); err != nil {
			return err
		}
		if fresh, err = clusters.KeepFindings(ctx, c, found); err != nil {
			return err
		}
		for _, f := range fresh {
			if err := clusters.AnnounceFinding(ctx, c, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("save %d findings: %w", len(found), err)
	}
	return fresh, nil
}

// merge joins findings about the same thing, e.g. of one name in two regions.
func merge(found []lifecycle.Finding) []lifecycle.Finding {
	var out []lifecycle.Finding
	at := map[findingKey]int{}
	for _, f := range found {
		i, known := at[keyOf(f)]
		if !known {
			at[keyOf(f)] = len(out)
			f.Evidence = append([]string{}, f.Evidence...)
			out = append(out, f)
			continue
		}
		out[i].Evidence = append(out[i].Evidence, f.Evidence...)
		if f.Since.Before(out[i].Since) {
			out[i].Since = f.Since
		}
	}
	return out
}

// columns splits the keys into arrays for unnest.
func columns(found []lifecycle.Finding) (kinds, clusters, identities []string) {
	for _, f := range found {
		kinds, clusters, identities = append(kinds, string(f.Kind)), append(clusters, f.Cluster), append(identities, f.Identity)
	}
	return kinds, clusters, identities
}

func resolveFindings(ctx context.Context, c *db.Tx, judged []lifecycle.FindingKind, found []lifecycle.Finding) error {
	kinds, clusters, identities := columns(found)
	_, err := c.Exec(ctx, `
		UPDATE findings f SET resolved_at = @now WHERE resolved_at IS NULL AND kind = ANY (@judged) AND NOT EXISTS (
			SELECT 1 FROM unnest(@kinds::text[], @clusters::text[], @identities::text[]) AS n (kind, cluster, identity)
			WHERE n.kind = f.kind AND n.cluster = coalesce(f.cluster_id, '') AND n.identity = f.identity)`,
		pgx.NamedArgs{"now": c.Now, "judged": judged, "kinds": kinds, "clusters": clusters, "identities": identities})
	if err != nil {
		return fmt.Errorf("resolve findings: %w", err)
	}
	return nil
}

// FindingFilter selects findings; empty fields do not filter.
type FindingFilter struct {
	Kind     lifecycle.FindingKind
	Cluster  string
	Clusters []string // only those about these
	Teams    []string // only those of these teams' clusters; nil: all, also those without a known cluster
	Resolved bool     // include resolved findings
	Newest   bool     // the newest first; else the oldest
}

// CountFindings returns how many findings are open, with the teams of a FindingFilter.
func (s *Store) CountFindings(ctx context.Context, teams []string) (n int, err error) {
	w := db.Conditions{Args: pgx.NamedArgs{}}
	w.Add(true, "resolved_at IS NULL", "", nil)
	w.Add(teams != nil, "cluster_id IN (SELECT id FROM clusters WHERE team = ANY (@teams))", "teams", teams)
	if err := s.db.Pool().QueryRow(ctx, `SELECT count(*) FROM findings `+w.Where(), w.Args).Scan(&n); err != nil {
		return 0, fmt.Errorf("count findings: %w", err)
	}
	return n, nil
}

// mostFindings bounds one query.
const mostFindings = 1000

// Findings returns the selected findings, at most 1000.
func (s *Store) Findings(ctx context.Context, f FindingFilter) ([]FindingRow, error) {
	w := db.Conditions{Args: pgx.NamedArgs{"limit": mostFindings}}
	w.Add(!f.Resolved, "resolved_at IS NULL", "", nil)
	w.Add(f.Kind != "", "kind = @kind", "kind", f.Kind)
	w.Add(f.Cluster != "", "cluster_id = @cluster", "cluster", f.Cluster)
	w.Add(len(f.Clusters) > 0, "cluster_id = ANY (@clusters)", "clusters", f.Clusters)
	w.Add(f.Teams != nil, "cluster_id IN (SELECT id FROM clusters WHERE team = ANY (@teams))", "teams", f.Teams)
	order := "first_seen_at, id"
	if f.Newest {
		order = "first_seen_at DESC, id DESC"
	}
	open, err := db.All[FindingRow](ctx, s.db.Pool(), `
		SELECT kind, coalesce(cluster_id, '') AS cluster, coalesce((SELECT c.name FROM clusters c WHERE c.id = cluster_id), '') AS cluster_name, identity, since, why, evidence, first_seen_at, last_seen_at, times_seen, resolved_at
		FROM findings `+w.Where()+` ORDER BY `+order+` LIMIT @limit`, w.Args)
	if err != nil {
		return nil, fmt.Errorf("read findings: %w", err)
	}
	return open, nil
}
