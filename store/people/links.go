package people

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// LinkKind says what a one-time link is for.
type LinkKind string

// The kinds.
const (
	LinkKubeconfig LinkKind = "kubeconfig"
	LinkKubeadmin  LinkKind = "kubeadmin"
	LinkConsole    LinkKind = "console"          // the password of a reader's account of the console
	LinkInstallers LinkKind = "admin-kubeconfig" // the installer's own kubeconfig, after an approval
	LinkOfAccount  LinkKind = "account"          // whoever signs in there claims the account
)

// Link is a one-time link that expires.
type Link struct {
	Kind      LinkKind
	Principal string   // the only one who may use it; empty for an account: whoever signs in
	Cluster   string   // empty for an account for which nothing was asked
	Access    string   // id of the access that a link to a kubeconfig or console hands out; empty: it is asked for when the link is used
	Account   string   // the account's principal id, e.g. "github:id/583231"; only for an account
	Number    string   // the account's id elsewhere; the release before needs it
	Asked     LinkKind // what the account's owner asked for, which is handed over once the account is linked; empty: nothing
	Role      string   // inside the cluster, of what is handed over; empty: the most that its reader may have
	ExpiresAt time.Time

	// What using an account's link gives; nowhere stored.
	Code string `db:"-"` // what the account has to type; empty: it is linked
	Next string `db:"-"` // handle of the link to what was asked for; empty: nothing was, or the account is not linked yet
}

// approvals are those that the links to the installer's credentials use up.
var approvals = map[LinkKind]clusters.ApprovalKind{LinkKubeadmin: clusters.ApproveKubeadmin, LinkInstallers: clusters.ApproveKubeconfig}

// handleBytes are 256 bits, of which one is fixed, so that nobody guesses a handle.
const handleBytes = 32

// NewLink makes a link that is valid for that long, and returns the handle that its URL ends with. The handle is a secret that
// is not stored: the store keeps its SHA-256. A link to one of the installer's credentials uses up its principal's approval; ErrNotFound:
// there is none.
func (s *Store) NewLink(ctx context.Context, l Link, lasts time.Duration, d clusters.Origin) (handle string, made Link, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		if kind, needed := approvals[l.Kind]; needed {
			if _, err := clusters.Lock(ctx, c, l.Cluster); err != nil {
				return err
			}
			if err := clusters.UseApproval(ctx, c, l.Cluster, kind, clusters.Origin{Actor: l.Principal, Source: d.Source, Why: d.Why}); err != nil {
				return err
			}
		}
		handle, made, err = insertLink(ctx, c, l, lasts, d)
		return err
	})
	if err != nil {
		return "", Link{}, fmt.Errorf("make a %s link: %w", l.Kind, err)
	}
	return handle, made, nil
}

func insertLink(ctx context.Context, c *db.Tx, l Link, lasts time.Duration, d clusters.Origin) (handle string, made Link, err error) {
	raw := make([]byte, handleBytes)
	if _, err := rand.Read(raw); err != nil {
		return "", Link{}, err
	}
	raw[0] &= 0x7f // the handle begins with a letter: on the command line a dash would begin an option
	handle = base64.RawURLEncoding.EncodeToString(raw)
	if l.Cluster != "" {
		if _, err := clusters.Lock(ctx, c, l.Cluster); err != nil {
			return "", Link{}, err
		}
	}
	l.ExpiresAt = db.Round(c.Now.Add(lasts))
	_, err = c.Exec(ctx, `
		INSERT INTO links (hash, kind, principal, cluster_id, access_id, account, number, asked, role, created_at, expires_at)
		VALUES (@hash, @kind, @principal, nullif(@cluster, ''), nullif(@access, ''), @account, @number, @asked, @role, @now, @expires)`,
		pgx.NamedArgs{
			"hash": hashHandle(handle), "kind": l.Kind, "principal": l.Principal, "cluster": l.Cluster, "access": l.Access, "account": l.Account, "number": l.Number,
			"asked": l.Asked, "role": l.Role, "now": c.Now, "expires": l.ExpiresAt,
		})
	if err != nil {
		return "", Link{}, fmt.Errorf("keep the link: %w", err)
	}
	return handle, l, clusters.RecordAction(c, d, "link_made", l.Cluster, clusters.Action{After: l.auditForm()})
}

// LinkFor returns what a link is for without using it up, for the confirmation page. ErrNotFound as with UseLink.
func (s *Store) LinkFor(ctx context.Context, handle, principal string) (Link, error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return Link{}, err
	}
	l, err := db.One[Link](ctx, s.db.Pool(), `SELECT `+linkColumns+` FROM links WHERE `+linkWorks,
		pgx.NamedArgs{"hash": hashHandle(handle), "actor": principal, "now": now})
	if errors.Is(err, db.ErrNotFound) {
		err = errNoLink
	}
	if err != nil {
		return Link{}, fmt.Errorf("look at a link: %w", err)
	}
	return l, nil
}

// SpentLink returns a link that the principal could use before, and since when it does not work. ErrNotFound: there is none; a link that was for
// somebody else is none.
func (s *Store) SpentLink(ctx context.Context, handle, principal string) (l Link, used bool, err error) {
	type spent struct {
		Link
		Used bool
	}
	found, err := db.One[spent](ctx, s.db.Pool(), `SELECT `+linkColumns+`, used_at IS NOT NULL AS used FROM links WHERE hash = $1 AND (principal = $2 OR kind = 'account')`,
		hashHandle(handle), principal)
	if err != nil {
		return Link{}, false, fmt.Errorf("look for a spent link: %w", err)
	}
	return found.Link, found.Used, nil
}

const (
	linkColumns = `kind, principal, coalesce(cluster_id, '') AS cluster, coalesce(access_id, '') AS access, account, number, asked, role, expires_at`
	linkWorks   = `hash = @hash AND used_at IS NULL AND expires_at > @now AND (principal = @actor OR kind = 'account')`
)

// errNoLink tells a caller nothing more, so that handles cannot be probed.
var errNoLink = fmt.Errorf("%w: the link does not work, or not any more", db.ErrNotFound)

// UseLink uses up a link for the signed-in principal; an account's link waits from then on for the account to type its code (CompleteLink). If the link is unknown, used,
// expired or another's, the caller gets only ErrNotFound; the audit trail says which. ErrConflict: the account is linked to
// another principal, who or an admin has to unlink it first, or it is another person's by the catalogue; the link is then not used up.
//
// Whoever follows an account's link must first confirm on one of our pages that the account is theirs.
func (s *Store) UseLink(ctx context.Context, handle string, by Owner, door string) (used Link, err error) {
	return s.useLink(ctx, handle, by, door, false)
}

// UseProvedLink is UseLink for the link of an account that the principal proved to be theirs: the account is linked.
func (s *Store) UseProvedLink(ctx context.Context, handle string, by Owner, door string) (used Link, err error) {
	return s.useLink(ctx, handle, by, door, true)
}

func (s *Store) useLink(ctx context.Context, handle string, by Owner, door string, proved bool) (used Link, err error) {
	refused, d := false, clusters.Origin{Actor: by.Principal, Source: door}
	err = s.db.Write(ctx, func(c *db.Tx) error {
		links, err := db.All[Link](ctx, c, `UPDATE links SET used_at = @now WHERE `+linkWorks+` RETURNING `+linkColumns,
			pgx.NamedArgs{"hash": hashHandle(handle), "actor": by.Principal, "now": c.Now})
		if err != nil {
			return fmt.Errorf("spend it: %w", err)
		}
		if refused = len(links) == 0; refused {
			return refuseLink(ctx, c, hashHandle(handle), d) // committed, for its audit line
		}
		used = links[0]
		if err := clusters.RecordAction(c, d, "link_used", used.Cluster, clusters.Action{After: used.auditForm()}); err != nil {
			return err
		}
		if used.Kind == LinkOfAccount {
			return used.claimAccount(ctx, c, by, d, proved)
		}
		return nil
	})
	switch {
	case err != nil:
		return Link{}, fmt.Errorf("use a link: %w", err)
	case refused:
		return Link{}, fmt.Errorf("use a link: %w", errNoLink)
	}
	return used, nil
}

// claimAccount links the account if it was proved to be the principal's, and hands over what was asked for; else it has the account type a code.
func (l *Link) claimAccount(ctx context.Context, c *db.Tx, by Owner, d clusters.Origin, proved bool) (err error) {
	if !proved {
		l.Code, err = awaitAccount(ctx, c, *l, by, d)
		return err
	}
	d.Why = "proved where the account is"
	if err := linkAccount(ctx, c, l.Account, l.Number, by, d); err != nil {
		return err
	}
	l.Next, _, err = l.linkToAsked(ctx, c, by.Principal, d)
	return err
}

// AskedLasts is how long a link to what was asked for is valid.
const AskedLasts = 10 * time.Minute

// linkToAsked makes the link to what was asked for, only for the account's owner. What they may have is judged when they use it.
func (l Link) linkToAsked(ctx context.Context, c *db.Tx, owner string, d clusters.Origin) (handle string, made Link, err error) {
	if l.Asked == "" {
		return "", Link{}, nil
	}
	return insertLink(ctx, c, Link{Kind: l.Asked, Principal: owner, Cluster: l.Cluster, Role: l.Role}, AskedLasts, d)
}

// refuseLink records in the audit trail why a link did not work.
func refuseLink(ctx context.Context, c *db.Tx, hash string, d clusters.Origin) error {
	type record struct {
		Kind               LinkKind
		Principal, Cluster string
		Used, Over         bool
	}
	r, err := db.One[record](ctx, c, `
		SELECT kind, principal, coalesce(cluster_id, '') AS cluster, used_at IS NOT NULL AS used, expires_at <= $2 AS over
		FROM links WHERE hash = $1`, hash, c.Now)
	why := "it was " + r.Principal + "'s"
	switch {
	case errors.Is(err, db.ErrNotFound):
		why = "there is no such link"
	case err != nil:
		return fmt.Errorf("look for the link: %w", err)
	case r.Used:
		why = "it was used before"
	case r.Over:
		why = "its time was over"
	}
	d.Instead = lifecycle.Noted(why)
	return clusters.RecordAction(c, d, "link_refused", r.Cluster, clusters.Action{Note: string(r.Kind)})
}

// auditForm is a link as the audit trail keeps it.
func (l Link) auditForm() any {
	return struct {
		Kind      LinkKind  `json:"kind"`
		For       string    `json:"for,omitempty"`
		Account   string    `json:"account,omitempty"`
		Asked     LinkKind  `json:"asked,omitempty"`
		ExpiresAt time.Time `json:"expiresAt"`
	}{l.Kind, l.Principal, l.Account, l.Asked, l.ExpiresAt}
}

func hashHandle(handle string) string {
	sum := sha256.Sum256([]byte(handle))
	return hex.EncodeToString(sum[:])
}
