package people

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Grantee is the person to whom a cluster is offered.
type Grantee struct {
	Account string // where the offer goes, e.g. "slack:T012AB3CD/U023BECGF"
	Name    string // for people; empty: the account
}

// Handover is an offer of a cluster to a person.
type Handover struct {
	ID                      string
	Cluster                 string // id
	Team                    string // the cluster's when it was offered
	FromPrincipal, FromName string
	ToAccount, ToName       string
	State                   clusters.HandoverState
	CreatedAt, ExpiresAt    time.Time
	DecidedAt               *time.Time // nil while it is offered
	DecidedBy               string     // principal
	Note                    string     // why it ended; empty: no reason was given
	FromClaims              []byte     // what the person who offered it had proved, as JSON; nil: not known
}

const handoverColumns = `id, cluster_id AS cluster, team, from_principal, from_name, to_account, to_name,
	CASE WHEN state = 'offered' AND expires_at <= @now THEN 'expired' ELSE state END AS state, created_at, expires_at, decided_at, decided_by, note, from_claims`

// OfferHandover offers a cluster to a person for that long. Another open offer of the cluster is withdrawn; one to the same account is
// returned as it is, and so is that of the same cause. claims is what the actor had proved, as JSON; nil: not known. ErrConflict: the cluster is going away. ErrStale: the row is not the version
// that the actor saw.
func (s *Store) OfferHandover(ctx context.Context, id string, to Grantee, cause string, lasts time.Duration, claims []byte, d clusters.Origin) (offered Handover, err error) {
	_, err = clusters.ChangeSeen(ctx, s.db, id, d, func(c *db.Tx, cur usage.Held, out *clusters.Outcome) error {
		known, err := db.All[Handover](ctx, c, `SELECT `+handoverColumns+` FROM handovers
			WHERE cause = @cause OR cluster_id = @cluster AND to_account = @to AND state = 'offered' AND expires_at > @now ORDER BY cause = @cause DESC`,
			pgx.NamedArgs{"cause": cause, "cluster": id, "to": to.Account, "now": c.Now})
		switch {
		case err != nil:
			return fmt.Errorf("look for a handover: %w", err)
		case len(known) > 0:
			offered, out.Already = known[0], true
			return nil
		case cur.Desired == lifecycle.Absent:
			return fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, cur.DesiredWhy)
		}
		if err := clusters.WithdrawHandover(ctx, c, id, clusters.Origin{Actor: d.Actor, Name: d.Name, Source: d.Source, Why: "it was offered to somebody else"}); err != nil {
			return err
		}
		offered, err = offer(ctx, c, id, to, cause, lasts, claims, d)
		return err
	})
	if err != nil {
		return Handover{}, fmt.Errorf("offer %s: %w", id, err)
	}
	return offered, nil
}

// offer writes an offer, and the announcement that brings it to the person.
func offer(ctx context.Context, c *db.Tx, id string, to Grantee, cause string, lasts time.Duration, claims []byte, d clusters.Origin) (Handover, error) {
	h, err := db.One[Handover](ctx, c, `
		INSERT INTO handovers (id, cluster_id, team, from_principal, from_name, to_account, to_name, cause, from_claims, created_at, expires_at)
		SELECT @id, c.id, c.team, @from, @from_name, @to, @to_name, @cause, @claims::jsonb, @now, @expires FROM clusters c WHERE c.id = @cluster
		RETURNING `+handoverColumns,
		pgx.NamedArgs{
			"id": db.NewID("hnd"), "cluster": id, "from": d.Actor, "from_name": d.DisplayName(), "to": to.Account, "to_name": to.Name,
			"cause": cause, "claims": db.JSON(claims), "now": c.Now, "expires": db.Round(c.Now.Add(lasts)),
		})
	if err != nil {
		return Handover{}, fmt.Errorf("write the handover: %w", err)
	}
	facts, err := json.Marshal(map[string]string{"handover": h.ID, "from": h.FromName, "to": to.Account})
	if err != nil {
		return Handover{}, fmt.Errorf("write the handover: %w", err)
	}
	err = clusters.Announce(ctx, c, clusters.Announcement{Cause: h.ID + ":offered", Event: "handover", Cluster: id, Facts: facts})
	if err != nil {
		return Handover{}, fmt.Errorf("announce the handover: %w", err)
	}
	if err := clusters.NewVersion(ctx, c, id); err != nil { // its thread tells it
		return h, err
	}
	return h, clusters.RecordAction(c, d, "handover_offered", id, clusters.Action{After: map[string]string{"to": to.Account, "name": to.Name}, Note: h.ID})
}

// Handover returns an offer. One whose time is over is expired, even if that is not stored yet.
func (s *Store) Handover(ctx context.Context, id string) (Handover, error) {
	return s.handover(ctx, "id = @key", id)
}

// HandoverOf returns the offer that a cause made. ErrNotFound: it made none.
func (s *Store) HandoverOf(ctx context.Context, cause string) (Handover, error) {
	return s.handover(ctx, "cause = @key", cause)
}

func (s *Store) handover(ctx context.Context, where, key string) (Handover, error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return Handover{}, err
	}
	h, err := db.One[Handover](ctx, s.db.Pool(), `SELECT `+handoverColumns+` FROM handovers WHERE `+where, pgx.NamedArgs{"key": key, "now": now})
	if err != nil {
		return Handover{}, fmt.Errorf("read the handover %s: %w", key, err)
	}
	return h, nil
}

// EndHandover ends an open offer without giving the cluster away: state is HandoverDeclined or HandoverWithdrawn. ErrConflict: it is no
// longer offered.
func (s *Store) EndHandover(ctx context.Context, h Handover, state clusters.HandoverState, d clusters.Origin) error {
	_, err := clusters.ChangeSeen(ctx, s.db, h.Cluster, d, func(c *db.Tx, _ usage.Held, _ *clusters.Outcome) error {
		return clusters.EndHandover(ctx, c, h.ID, state, d)
	})
	if err != nil {
		return fmt.Errorf("end the handover %s: %w", h.ID, err)
	}
	return nil
}

// EndOfferOfFormer withdraws an open offer whose maker may no longer transfer the cluster, and announces that to them; name
// is the cluster's. ErrConflict as
// with EndHandover.
func (s *Store) EndOfferOfFormer(ctx context.Context, h Handover, name string, d clusters.Origin) error {
	_, err := clusters.ChangeSeen(ctx, s.db, h.Cluster, d, func(c *db.Tx, _ usage.Held, _ *clusters.Outcome) error {
		if err := clusters.EndHandover(ctx, c, h.ID, clusters.HandoverWithdrawn, d); err != nil {
			return err
		}
		facts, err := json.Marshal(map[string]string{"to": h.FromPrincipal, "offered": name, "offered_to": h.ToName})
		if err != nil {
			return fmt.Errorf("tell the end of the handover: %w", err)
		}
		return clusters.Announce(ctx, c, clusters.Announcement{Cause: h.ID + ":ended", Event: clusters.EventHandoverEnded, Facts: facts})
	})
	if err != nil {
		return fmt.Errorf("end the handover %s of a former member: %w", h.ID, err)
	}
	return nil
}
