package scans

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/oklog/ulid/v2"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// MostReopened is how often the setting opens a cluster's teardown again. After that a person has to look.
const MostReopened = 3

// Approve records that an administrator approved the removal of these orphans, all or none, and asks for its beginning. ErrNotFound: there
// is none of that id. ErrConflict: nobody may approve one of them as it is now; the error says which and why.
func (s *Store) Approve(ctx context.Context, ids []string, d clusters.Origin) error {
	err := s.decide(ctx, ids, lifecycle.OrphanApproved, "orphan_approved", d, func(o OrphanRow) string {
		switch {
		case !slices.Contains(lifecycle.Removable, o.Class):
			return fmt.Sprintf("ocpctl never removes what is %s", o.Class)
		case o.State == lifecycle.OrphanSeen:
			return "it was not seen often and long enough yet"
		case o.State == lifecycle.OrphanRemoving || o.State == lifecycle.OrphanGone || o.State == lifecycle.OrphanKept:
			return fmt.Sprintf("it is %s", o.State)
		}
		return ""
	})
	if err != nil {
		return fmt.Errorf("approve the removal of orphans: %w", err)
	}
	return nil
}

// Exempt records that an administrator lets these orphans stay, all or none.
func (s *Store) Exempt(ctx context.Context, ids []string, d clusters.Origin) error {
	err := s.decide(ctx, ids, lifecycle.OrphanExempt, "orphan_exempted", d, func(o OrphanRow) string {
		if o.State == lifecycle.OrphanRemoving || o.State == lifecycle.OrphanGone {
			return fmt.Sprintf("it is %s", o.State)
		}
		return ""
	})
	if err != nil {
		return fmt.Errorf("exempt orphans: %w", err)
	}
	return nil
}

// decide gives the orphans a state on a person's decision, with an audit line for each. One that has the state by a person stays as it is.
func (s *Store) decide(ctx context.Context, ids []string, to lifecycle.OrphanState, action string, d clusters.Origin, wrong func(OrphanRow) string) error {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	return s.db.Write(ctx, func(c *db.Tx) error {
		locked, err := db.All[OrphanRow](ctx, c, `SELECT `+orphanColumns+` FROM orphans o WHERE o.id = ANY ($1) ORDER BY o.id FOR UPDATE`, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if !slices.ContainsFunc(locked, func(o OrphanRow) bool { return o.ID == id }) {
				return fmt.Errorf("orphan %s: %w", id, db.ErrNotFound)
			}
		}
		for _, o := range locked {
			if why := wrong(o); why != "" {
				return fmt.Errorf("%w: orphan %s: %s", db.ErrConflict, o.ID, why)
			}
			if o.State == to && o.DecidedBy != "" {
				continue
			}
			if err := setState(ctx, c, o, to, d.Actor, d.Reason()); err != nil {
				return err
			}
			if err := clusters.RecordAction(c, d, action, describeKnown(o), clusters.Action{Before: o.State, After: to, Note: o.ID + ": " + o.Why}); err != nil {
				return err
			}
		}
		c.Enqueue(queue.CleanupArgs{News: ulid.Make().String()})
		return nil
	})
}

func describeKnown(o OrphanRow) string {
	if o.ClusterID == nil {
		return ""
	}
	return *o.ClusterID
}

// setState gives an orphan a state. What is approved or exempt keeps the reason of the decision, whatever happens about it afterwards.
func setState(ctx context.Context, c *db.Tx, o OrphanRow, to lifecycle.OrphanState, by, why string) error {
	decision := ""
	if to == lifecycle.OrphanApproved || to == lifecycle.OrphanExempt {
		decision = why
	}
	_, err := c.Exec(ctx, `
		UPDATE orphans SET state = $2, state_at = $3, state_why = $4, decided_by = $5, decided_why = $6, cleanup_cluster = NULL, tried_at = NULL WHERE id = $1`,
		o.ID, to, c.Now, why, by, decision)
	if err != nil {
		return fmt.Errorf("set the state of orphan %s: %w", o.ID, err)
	}
	return nil
}

// bySetting selects what the configuration lets ocpctl remove by itself: reported orphans of these classes, every resource of which is tagged
// as ocpctl's and as this installation's, and which scans saw often and long enough.
const bySetting = `o.state = @reported AND o.gone_at IS NULL AND o.class = ANY (@classes) AND o.class = ANY (@removable)
	AND o.managed_by AND o.cluster_tag <> '' AND o.installation = @ours AND @ours <> ''
	AND o.sights >= @sights AND o.last_seen_at - o.first_seen_at >= @age::interval AND coalesce((SELECT k.reopened FROM clusters k WHERE k.id = o.cluster_id), 0) < @most`

func (s *Store) settingArgs(classes []lifecycle.OrphanClass, l lifecycle.FindingLimits) pgx.NamedArgs {
	return pgx.NamedArgs{
		"reported": lifecycle.OrphanReported, "classes": classes, "removable": []lifecycle.OrphanClass{lifecycle.ClassReleased, lifecycle.ClassUnknown},
		"ours": s.db.Options.Installation, "sights": l.MinSights, "age": l.MinAge, "most": MostReopened,
	}
}

// BySetting returns the ids of the orphans that the configuration lets ocpctl remove by itself.
func (s *Store) BySetting(ctx context.Context, classes []lifecycle.OrphanClass, l lifecycle.FindingLimits) (ids []string, err error) {
	found, _ := s.db.Pool().Query(ctx, `SELECT o.id FROM orphans o WHERE `+bySetting+` ORDER BY o.id`, s.settingArgs(classes, l)) // the rows return its error
	if ids, err = pgx.CollectRows(found, pgx.RowTo[string]); err != nil {
		return nil, fmt.Errorf("list what the setting removes: %w", err)
	}
	return ids, nil
}

// ApproveBySetting approves those of the orphans that the configuration still lets ocpctl remove by itself. It returns how many.
func (s *Store) ApproveBySetting(ctx context.Context, ids []string, classes []lifecycle.OrphanClass, l lifecycle.FindingLimits) (n int, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	err = s.db.Write(ctx, func(c *db.Tx) error {
		args := s.settingArgs(classes, l)
		args["ids"] = ids
		found, err := db.All[OrphanRow](ctx, c, `SELECT `+orphanColumns+` FROM orphans o WHERE o.id = ANY (@ids) AND `+bySetting+` ORDER BY o.id FOR UPDATE OF o`, args)
		if err != nil {
			return err
		}
		for _, o := range found {
			why := fmt.Sprintf("scan.remove has %s", o.Class)
			if err := setState(ctx, c, o, lifecycle.OrphanApproved, "", why); err != nil {
				return err
			}
			line := clusters.Action{Move: db.Move{Why: why}, Before: o.State, After: lifecycle.OrphanApproved, Note: o.ID + ": " + o.Why}
			if err := c.RecordLine(db.Lifecycle, "orphan_approved", "", describeKnown(o), line); err != nil {
				return err
			}
		}
		n = len(found)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("approve removals by the setting: %w", err)
	}
	return n, nil
}

// Explain records why an orphan stays in a state, if it still is in that.
func (s *Store) Explain(ctx context.Context, id string, in lifecycle.OrphanState, why string) error {
	_, err := s.db.Pool().Exec(ctx, `UPDATE orphans SET state_why = $3 WHERE id = $1 AND state = $2 AND state_why <> $3`, id, in, why)
	if err != nil {
		return fmt.Errorf("record why orphan %s stays %s: %w", id, in, err)
	}
	return nil
}

// Refuse takes back an approved removal that no teardown can do, and says why.
func (s *Store) Refuse(ctx context.Context, id, why string) error {
	return s.back(ctx, `o.id = @id AND o.state = @approved`, pgx.NamedArgs{"id": id, "approved": lifecycle.OrphanApproved}, func(OrphanRow) string {
		return "its removal was approved, but no teardown can do it: " + why
	})
}

// Remaining reports again what was still seen a while after the teardown that was to remove it had counted zero.
func (s *Store) Remaining(ctx context.Context, after time.Duration) error {
	return s.back(ctx, `o.state IN (@removing, @seen) AND o.gone_at IS NULL AND EXISTS (
			SELECT FROM clusters k WHERE k.id = o.cleanup_cluster AND o.last_seen_at >= k.destroyed_at + @after::interval)`,
		pgx.NamedArgs{"removing": lifecycle.OrphanRemoving, "seen": lifecycle.OrphanSeen, "after": after}, func(OrphanRow) string {
			return "the teardown that was to remove it counted zero, but it is still there"
		})
}

// back reports orphans again and announces that, with an audit line for each. Their sights begin anew, so that the setting tries again only after
// scans saw them often and long enough since.
func (s *Store) back(ctx context.Context, where string, args pgx.NamedArgs, why func(OrphanRow) string) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		found, err := db.All[OrphanRow](ctx, c, `SELECT `+orphanColumns+` FROM orphans o WHERE `+where+` ORDER BY o.id FOR UPDATE OF o`, args)
		if err != nil {
			return err
		}
		for _, o := range found {
			if err := setState(ctx, c, o, lifecycle.OrphanReported, "", why(o)); err != nil {
				return err
			}
			if _, err := c.Exec(ctx, `UPDATE orphans SET sights = 0, reported_at = $2 WHERE id = $1`, o.ID, c.Now); err != nil {
				return err
			}
			o.ReportedAt = &c.Now
			if err := announce(ctx, c, o); err != nil {
				return err
			}
			line := clusters.Action{Move: db.Move{Why: why(o)}, Before: o.State, After: lifecycle.OrphanReported, Note: o.ID + ": " + o.Why}
			if err := c.RecordLine(db.Lifecycle, "orphan_reported", "", describeKnown(o), line); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("report orphans again: %w", err)
	}
	return nil
}
