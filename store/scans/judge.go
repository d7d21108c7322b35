package scans

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

const seenColumns = `platform, account, id, resource, first_seen_at, last_seen_at, sights, gone_at, orphan_id`

// Seen returns every resource that is there in the account of a scan, sorted by id.
func (s *Store) Seen(ctx context.Context, scan Scan) ([]SeenRow, error) {
	list, err := db.All[SeenRow](ctx, s.db.Pool(), `
		SELECT `+seenColumns+` FROM seen WHERE platform = $1 AND account = $2 AND gone_at IS NULL ORDER BY id COLLATE "C"`, scan.Platform, scan.Account)
	if err != nil {
		return nil, fmt.Errorf("read what was seen in account %s: %w", scan.Account, err)
	}
	return list, nil
}

// Recorded returns which of the names a cluster ever recorded, as infraID or for ccoctl.
func (s *Store) Recorded(ctx context.Context, names []string) (map[string]bool, error) {
	found, _ := s.db.Pool().Query(ctx, `
		SELECT infra_id FROM attempts WHERE infra_id = ANY ($1) UNION SELECT cco_name FROM attempts WHERE cco_name = ANY ($1)`, names) // the rows return its error
	list, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for recorded names: %w", err)
	}
	recorded := make(map[string]bool, len(list))
	for _, name := range list {
		recorded[name] = true
	}
	return recorded, nil
}

// mostEvidence is how many resources an orphan's row names; the rows of seen tell all.
const mostEvidence = 50

// key is what tells two orphans of an account apart.
type key struct{ installation, cluster, identity, place string }

// KeepOrphans writes what a judged scan means for the orphans of its account and for the tags of its living clusters, and announces those that are told for the first time.
// A scan is judged once: a second call changes nothing and returns none. fresh are the orphans that are told for the first time.
func (s *Store) KeepOrphans(ctx context.Context, scan string, judged []lifecycle.Judged, l lifecycle.FindingLimits) (fresh []OrphanRow, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		fresh = nil
		of, err := db.One[Scan](ctx, c, `SELECT `+scanColumns+` FROM scans WHERE id = $1 FOR UPDATE`, scan)
		if err != nil || of.JudgedAt != nil {
			return err
		}
		var late bool // a newer one was judged already: what this one saw is old
		err = c.QueryRow(ctx, `SELECT EXISTS (SELECT FROM scans WHERE platform = $1 AND account = $2 AND round > $3 AND judged_at IS NOT NULL)`, of.Platform, of.Account, of.Round).Scan(&late)
		if err != nil {
			return err
		}
		if !late {
			if err := keepUntagged(ctx, c, of, judged); err != nil {
				return err
			}
			if fresh, err = keepOrphans(ctx, c, of, judged, l); err != nil {
				return err
			}
		}
		_, err = c.Exec(ctx, `UPDATE scans SET judged_at = $2 WHERE id = $1`, scan, c.Now)
		c.Enqueue(queue.CleanupArgs{News: "judged " + scan}) // what may be removed without an approval, and what waits
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("keep what scan %s means: %w", scan, err)
	}
	return fresh, nil
}

func keepOrphans(ctx context.Context, c *db.Tx, of Scan, judged []lifecycle.Judged, l lifecycle.FindingLimits) (fresh []OrphanRow, err error) {
	list, err := listConcerned(ctx, c, of, judged)
	if err != nil {
		return nil, err
	}
	seen, err := sights(ctx, c, of, judged)
	if err != nil {
		return nil, err
	}
	hidden, err := listHidden(ctx, c, of)
	if err != nil {
		return nil, err
	}
	known := make(map[key]OrphanRow, len(list))
	for _, o := range list {
		known[key{o.Installation, o.ClusterTag, o.Identity, o.Place}] = o
	}
	var ids, orphans []string // which resource is a part of which orphan
	batch := &pgx.Batch{}
	for _, j := range judged {
		k := key{j.Installation, j.Cluster, j.Identity, j.Place}
		before, exists := known[k]
		delete(known, k)
		if !j.Class.IsOrphan() && (!exists || before.State == lifecycle.OrphanGone) {
			continue
		}
		j.Why = hidden.addTo(j.Why, j.Resources)
		o := after(c, seen, before, j, of, l)
		if o.ReportedAt != nil && (before.ReportedAt == nil || !before.ReportedAt.Equal(*o.ReportedAt)) {
			fresh = append(fresh, o)
		}
		queueOrphan(batch, o)
		if o.State == lifecycle.OrphanGone {
			continue
		}
		for _, id := range j.Resources {
			ids, orphans = append(ids, id), append(orphans, o.ID)
		}
	}
	for _, o := range known { // nothing of it was seen in any group
		if o.State != lifecycle.OrphanGone {
			o.become(lifecycle.KnownOrphan.Gone(o.standing(), "nothing with these signs is left", c.Now))
			queueOrphan(batch, o)
		}
	}
	if err := c.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("write the orphans: %w", err)
	}
	_, err = c.Exec(ctx, `
		UPDATE seen s SET orphan_id = n.orphan FROM (
			SELECT r.id, m.orphan FROM seen r LEFT JOIN unnest($3::text[], $4::text[]) AS m (id, orphan) ON m.id = r.id
			WHERE r.platform = $1 AND r.account = $2 AND r.gone_at IS NULL) n
		WHERE s.platform = $1 AND s.account = $2 AND s.id = n.id AND s.orphan_id IS DISTINCT FROM n.orphan`, of.Platform, of.Account, ids, orphans)
	if err != nil {
		return nil, fmt.Errorf("write what the orphans are made of: %w", err)
	}
	for _, o := range fresh {
		if err := announce(ctx, c, o); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

// listConcerned returns the orphans of the account on which a judged scan bears: those that are not gone, and gone ones that are back.
func listConcerned(ctx context.Context, c *db.Tx, of Scan, judged []lifecycle.Judged) ([]OrphanRow, error) {
	var installations, clusters, identities, places []string
	for _, j := range judged {
		if !j.Class.IsOrphan() {
			continue
		}
		installations, clusters = append(installations, j.Installation), append(clusters, j.Cluster)
		identities, places = append(identities, j.Identity), append(places, j.Place)
	}
	list, err := db.All[OrphanRow](ctx, c, `
		SELECT `+orphanColumns+` FROM orphans WHERE platform = $1 AND account = $2 AND (gone_at IS NULL
			OR (installation, cluster_tag, identity, place) IN (SELECT * FROM unnest($3::text[], $4::text[], $5::text[], $6::text[])))
		ORDER BY id FOR UPDATE`, of.Platform, of.Account, installations, clusters, identities, places)
	if err != nil {
		return nil, fmt.Errorf("read the orphans: %w", err)
	}
	return list, nil
}

// sights returns when the resources of orphans were seen last.
func sights(ctx context.Context, c *db.Tx, of Scan, judged []lifecycle.Judged) (map[string]time.Time, error) {
	var ids []string
	for _, j := range judged {
		if j.Class.IsOrphan() {
			ids = append(ids, j.Resources...)
		}
	}
	list, err := db.All[SeenRow](ctx, c, `SELECT `+seenColumns+` FROM seen WHERE platform = $1 AND account = $2 AND id = ANY ($3)`, of.Platform, of.Account, ids)
	if err != nil {
		return nil, fmt.Errorf("read when the orphans were seen: %w", err)
	}
	at := make(map[string]time.Time, len(list))
	for _, r := range list {
		at[r.ID] = r.LastSeenAt
	}
	return at, nil
}

// after returns an orphan's row after a scan. A group that is no orphan changes nothing but the state.
func after(c *db.Tx, seen map[string]time.Time, o OrphanRow, j lifecycle.Judged, of Scan, l lifecycle.FindingLimits) OrphanRow {
	next := o.standing().Next(j, c.Now, l)
	if j.Class.IsOrphan() {
		if o.ID == "" {
			o = OrphanRow{ID: db.NewID("orp"), Platform: of.Platform, Account: of.Account, Installation: j.Installation, ClusterTag: j.Cluster, Identity: j.Identity, Place: j.Place}
		}
		o.describe(j)
		for _, id := range j.Resources {
			if at := seen[id]; at.After(o.LastSeenAt) {
				o.LastSeenAt = at
			}
		}
	}
	fellBack := (o.State == lifecycle.OrphanApproved || o.State == lifecycle.OrphanRemoving) && next.State == lifecycle.OrphanReported
	o.become(next)
	told := o.State != lifecycle.OrphanSeen && o.State != lifecycle.OrphanGone && o.State != lifecycle.OrphanExempt && o.Class != lifecycle.ClassForeign
	switch {
	case o.State == lifecycle.OrphanGone && j.Class == lifecycle.ClassLive || o.State == lifecycle.OrphanSeen:
		o.ReportedAt = nil
	case told && (o.ReportedAt == nil || fellBack):
		o.ReportedAt = &c.Now
	}
	return o
}

// describe takes over what the group shows now.
func (o *OrphanRow) describe(j lifecycle.Judged) {
	o.Class, o.Why, o.Regions, o.ManagedBy = j.Class, j.Why, j.Regions, j.Managed
	o.Owner, o.Team, o.Name, o.ClusterID = j.Owner, j.Team, j.Name, nil
	if j.Of != nil {
		o.ClusterID, o.Owner, o.Team, o.Name = &j.Of.ID, j.Of.Owner, j.Of.Team, j.Of.Name
	}
	o.Resources, o.Evidence = len(j.Resources), slices.Clone(j.Resources[:min(len(j.Resources), mostEvidence)])
	o.HourlyCents, o.Unpriced = j.HourlyCents, j.Unpriced
}

func (o OrphanRow) standing() lifecycle.KnownOrphan {
	return lifecycle.KnownOrphan{Class: o.Class, Since: o.FirstSeenAt, Sights: o.Sights, State: o.State, StateAt: o.StateAt, StateWhy: o.StateWhy, DecidedBy: o.DecidedBy, DecidedWhy: o.DecidedWhy}
}

func (o *OrphanRow) become(k lifecycle.KnownOrphan) {
	o.Class, o.FirstSeenAt, o.Sights = k.Class, k.Since, k.Sights
	o.State, o.StateAt, o.StateWhy, o.DecidedBy, o.DecidedWhy, o.GoneAt = k.State, k.StateAt, k.StateWhy, k.DecidedBy, k.DecidedWhy, nil
	if k.State == lifecycle.OrphanGone {
		o.GoneAt = &k.StateAt
	}
}

func queueOrphan(b *pgx.Batch, o OrphanRow) {
	b.Queue(`
		INSERT INTO orphans (id, platform, account, installation, cluster_tag, identity, place, cluster_id, class, why, regions, managed_by, owner, team, name,
			resources, evidence, hourly_cents, unpriced, first_seen_at, last_seen_at, sights, state, state_at, state_why, decided_by, decided_why, reported_at, gone_at, cleanup_cluster)
		VALUES (@id, @platform, @account, @installation, @cluster_tag, @identity, @place, @cluster_id, @class, @why, @regions, @managed_by, @owner, @team, @name,
			@resources, @evidence, @hourly_cents, @unpriced, @first_seen_at, @last_seen_at, @sights, @state, @state_at, @state_why, @decided_by, @decided_why, @reported_at, @gone_at, @cleanup)
		ON CONFLICT (id) DO UPDATE SET cluster_id = @cluster_id, class = @class, why = @why, regions = @regions, managed_by = @managed_by, owner = @owner,
			team = @team, name = @name, resources = @resources, evidence = @evidence, hourly_cents = @hourly_cents, unpriced = @unpriced,
			first_seen_at = @first_seen_at, last_seen_at = @last_seen_at, sights = @sights, state = @state, state_at = @state_at, state_why = @state_why,
			decided_by = @decided_by, decided_why = @decided_why, reported_at = @reported_at, gone_at = @gone_at`, pgx.NamedArgs{
		"id": o.ID, "platform": o.Platform, "account": o.Account, "installation": o.Installation, "cluster_tag": o.ClusterTag, "identity": o.Identity,
		"place": o.Place, "cluster_id": o.ClusterID, "class": o.Class, "why": o.Why, "regions": o.Regions, "managed_by": o.ManagedBy, "owner": o.Owner,
		"team": o.Team, "name": o.Name, "resources": o.Resources, "evidence": o.Evidence, "hourly_cents": o.HourlyCents, "unpriced": o.Unpriced,
		"first_seen_at": o.FirstSeenAt, "last_seen_at": o.LastSeenAt, "sights": o.Sights, "state": o.State, "state_at": o.StateAt, "state_why": o.StateWhy,
		"decided_by": o.DecidedBy, "decided_why": o.DecidedWhy, "reported_at": o.ReportedAt, "gone_at": o.GoneAt, "cleanup": o.CleanupCluster,
	})
}

// announce tells whoever hears of the cluster or the team that an orphan is told for the first time.
func announce(ctx context.Context, c *db.Tx, o OrphanRow) error {
	facts, err := json.Marshal(map[string]any{"finding": lifecycle.Orphan, "identity": o.Called(), "why": o.Told(), "evidence": o.Evidence, "team": o.Team})
	if err != nil {
		return fmt.Errorf("encode an orphan: %w", err)
	}
	cluster := ""
	if o.ClusterID != nil {
		cluster = *o.ClusterID
	}
	cause := fmt.Sprintf("finding:orphan:%s:%d", o.ID, o.ReportedAt.UnixMicro())
	return clusters.Announce(ctx, c, clusters.Announcement{Cause: cause, Event: clusters.EventFinding, Cluster: cluster, Facts: facts})
}
