package people

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// SlackPerson is what Slack said of somebody.
type SlackPerson struct {
	Workspace, ID string // where they act, and as whom
	Home          string // whose member they are
	Org           string // the Enterprise Grid organization; empty: none
	Name          string // display name
	Email         string // in lower case; empty: Slack did not say, or did not confirm it
	Mapped        string // the identity that the e-mail stands for, email:…; empty: none

	Bot, Deactivated, Guest, Stranger bool

	AskedAt time.Time // Slack, the last time; filled by the store
	Changed bool      // Slack said since that something changed; filled by the store
}

// IsMember reports whether somebody is a full member of the workspace: others may do nothing there.
func (p SlackPerson) IsMember() bool { return !p.Bot && !p.Deactivated && !p.Stranger && !p.Guest }

const slackPersonColumns = `workspace, id, home, org, name, email, mapped, bot, deactivated, guest, stranger, asked_at, changed`

// SlackPerson returns what Slack said of somebody the last time. ErrNotFound: it was never asked.
func (s *Store) SlackPerson(ctx context.Context, workspace, id string) (SlackPerson, error) {
	p, err := db.One[SlackPerson](ctx, s.db.Pool(), `SELECT `+slackPersonColumns+` FROM slack_people WHERE workspace = $1 AND id = $2`, workspace, id)
	if err != nil {
		return SlackPerson{}, fmt.Errorf("read the Slack account %s/%s: %w", workspace, id, err)
	}
	return p, nil
}

// KeepSlackPerson writes down what Slack says of somebody now. A new e-mail identity, or one that is gone, stands in the audit trail: it
// decides whom the account counts for.
func (s *Store) KeepSlackPerson(ctx context.Context, p SlackPerson) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		was, err := db.One[SlackPerson](ctx, c, `SELECT `+slackPersonColumns+` FROM slack_people WHERE workspace = $1 AND id = $2 FOR UPDATE`, p.Workspace, p.ID)
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return err
		}
		_, err = c.Exec(ctx, `
			INSERT INTO slack_people (workspace, id, home, org, name, email, mapped, bot, deactivated, guest, stranger, asked_at)
			VALUES (@workspace, @id, @home, @org, @name, @email, @mapped, @bot, @deactivated, @guest, @stranger, @now)
			ON CONFLICT (workspace, id) DO UPDATE SET home = excluded.home, org = excluded.org, name = excluded.name, email = excluded.email,
				mapped = excluded.mapped, bot = excluded.bot, deactivated = excluded.deactivated, guest = excluded.guest, stranger = excluded.stranger,
				asked_at = excluded.asked_at, changed = false`,
			pgx.NamedArgs{"workspace": p.Workspace, "id": p.ID, "home": p.Home, "org": p.Org, "name": p.Name, "email": p.Email, "mapped": p.Mapped,
				"bot": p.Bot, "deactivated": p.Deactivated, "guest": p.Guest, "stranger": p.Stranger, "now": c.Now})
		if err != nil || was.Mapped == p.Mapped {
			return err
		}
		clusters.NextTurns(c) // who is counted together changed
		account := "slack:" + p.Workspace + "/" + p.ID
		return clusters.RecordAction(c, clusters.Origin{Actor: account, Source: "slack", Why: "the e-mail that Slack confirmed"}, "account_mapped", "", clusters.Action{
			Before: map[string]string{"account": account, "identity": was.Mapped}, After: map[string]string{"account": account, "identity": p.Mapped},
		})
	})
	if err != nil {
		return fmt.Errorf("keep the Slack account %s/%s: %w", p.Workspace, p.ID, err)
	}
	return nil
}

// SlackPersonChanged says that what is known of somebody is out of date: Slack has to be asked before they act again.
func (s *Store) SlackPersonChanged(ctx context.Context, id string) error {
	if _, err := s.db.Pool().Exec(ctx, `UPDATE slack_people SET changed = true WHERE id = $1`, id); err != nil {
		return fmt.Errorf("note that the Slack account %s changed: %w", id, err)
	}
	return nil
}
