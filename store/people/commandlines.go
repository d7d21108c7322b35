package people

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// CommandLineState is how far the sign-in of a command line is.
type CommandLineState string

// The states.
const (
	CommandLineAsked     CommandLineState = "asked"     // it waits for a person
	CommandLineConfirmed CommandLineState = "confirmed" // the person confirmed it; its program has not fetched its tokens yet
	CommandLineRefused   CommandLineState = "refused"
	CommandLineOpen      CommandLineState = "open"
	CommandLineEnded     CommandLineState = "ended"
)

const (
	// mostAskedAlike and mostAsked limit how many command lines wait for a person, from one address and in all: nobody has proved anything yet.
	mostAskedAlike = 20
	mostAsked      = 2000

	// lostFor is how long the renewal token before is accepted after a renewal: the response with the new one may have been lost.
	lostFor = time.Minute
)

// CommandLine is a command line that a person signed in through the pages, or that waits for it.
type CommandLine struct {
	ID        string // 32 hexadecimal digits; also the id of its sessions
	Machine   string // as the program calls it
	Address   string // where the program asked from
	Challenge string // of RFC 7636, S256; empty: a device code
	Redirect  string // where the browser passed the code on
	State     CommandLineState
	AskedAt   time.Time
	CodeUntil time.Time       // of the codes
	Principal string          // empty: nobody confirmed it
	Claims    json.RawMessage // as proved at the sign-in that confirmed it
	RenewedAt *time.Time
	ExpiresAt *time.Time // of the sign-in; nil: nobody confirmed it
}

const commandLineColumns = `id, machine, address, challenge, redirect, state, asked_at, code_until, principal, claims, renewed_at, expires_at`

// AskCommandLine keeps a command line that waits for a person to type a code. The hashes are those of the program's code and of the typed
// one. ErrConflict: too many wait.
func (s *Store) AskCommandLine(ctx context.Context, l CommandLine, codeHash, typedHash string, lasts time.Duration) error {
	return s.db.Write(ctx, func(c *db.Tx) error {
		tag, err := c.Exec(ctx, `
			INSERT INTO command_lines (id, machine, address, code_hash, typed_hash, state, asked_at, code_until)
			SELECT @id, @machine, @address, @code, @typed, 'asked', @now, @until
			WHERE (SELECT count(*) FROM command_lines WHERE state = 'asked' AND address = @address AND code_until > @now) < @alike
				AND (SELECT count(*) FROM command_lines WHERE state = 'asked' AND code_until > @now) < @most`,
			pgx.NamedArgs{"id": l.ID, "machine": l.Machine, "address": l.Address, "code": codeHash, "typed": typedHash, "now": c.Now,
				"until": db.Round(c.Now.Add(lasts)), "alike": mostAskedAlike, "most": mostAsked})
		if err != nil {
			return fmt.Errorf("keep the command line: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return fmt.Errorf("%w: too many command lines wait to be signed in", db.ErrConflict)
		}
		return nil
	})
}

// AskedCommandLine returns the command line that waits for a person to type a code. ErrNotFound: none does.
func (s *Store) AskedCommandLine(ctx context.Context, typedHash string) (CommandLine, error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return CommandLine{}, err
	}
	return db.One[CommandLine](ctx, s.db.Pool(), `SELECT `+commandLineColumns+` FROM command_lines WHERE typed_hash = $1 AND state = 'asked' AND code_until > $2`, typedHash, now)
}

// ConfirmCommandLine records that a person signed in a command line: the one that waits for the typed code, else a new one, whose browser
// passes a code on. It ends at l.ExpiresAt. ErrNotFound: none waits for the code.
func (s *Store) ConfirmCommandLine(ctx context.Context, l CommandLine, codeHash, typedHash string, lasts time.Duration, d clusters.Origin) error {
	return s.db.Write(ctx, func(c *db.Tx) error {
		args := pgx.NamedArgs{"id": l.ID, "machine": l.Machine, "address": l.Address, "code": codeHash, "typed": typedHash, "challenge": l.Challenge, "redirect": l.Redirect,
			"now": c.Now, "until": db.Round(c.Now.Add(lasts)), "principal": l.Principal, "claims": l.Claims, "expires": l.ExpiresAt}
		sql := `INSERT INTO command_lines (id, machine, address, code_hash, challenge, redirect, state, asked_at, code_until, principal, claims, expires_at)
			VALUES (@id, @machine, @address, @code, @challenge, @redirect, 'confirmed', @now, @until, @principal, @claims, @expires) RETURNING machine`
		if typedHash != "" {
			sql = `UPDATE command_lines SET state = 'confirmed', principal = @principal, claims = @claims, expires_at = @expires
				WHERE typed_hash = @typed AND state = 'asked' AND code_until > @now RETURNING machine`
		}
		var machine string
		if err := c.QueryRow(ctx, sql, args).Scan(&machine); err != nil {
			return err
		}
		return clusters.RecordAction(c, d, "command_line_confirmed", "", clusters.Action{After: map[string]string{"machine": machine}})
	})
}

// RefuseCommandLine has a command line that waits for a typed code not signed in. ErrNotFound: none waits for it.
func (s *Store) RefuseCommandLine(ctx context.Context, typedHash string, d clusters.Origin) error {
	return s.db.Write(ctx, func(c *db.Tx) error {
		var machine string
		if err := c.QueryRow(ctx, `UPDATE command_lines SET state = 'refused' WHERE typed_hash = $1 AND state = 'asked' AND code_until > $2 RETURNING machine`,
			typedHash, c.Now).Scan(&machine); err != nil {
			return err
		}
		return clusters.RecordAction(c, d, "command_line_refused", "", clusters.Action{After: map[string]string{"machine": machine}})
	})
}

// OpenCommandLine opens the confirmed command line of a code, if check accepts it; from then on the token with renewalHash renews it.
// Whoever shows the code of an open one again ends it: one of the two stole the code (RFC 6749, 4.1.2). The row is returned as it was
// found. ErrNotFound: there is no such code.
func (s *Store) OpenCommandLine(ctx context.Context, codeHash, door string, check func(CommandLine) error, renew func(CommandLine) (renewalHash string, err error)) (found CommandLine, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		if found, err = db.One[CommandLine](ctx, c, `SELECT `+commandLineColumns+` FROM command_lines WHERE code_hash = $1 FOR UPDATE`, codeHash); err != nil {
			return err
		}
		switch {
		case found.State == CommandLineOpen:
			return endCommandLine(ctx, c, found, clusters.Origin{Actor: found.Principal, Source: door}, "its code was used twice")
		case found.State != CommandLineConfirmed || !c.Now.Before(found.CodeUntil):
			return nil
		}
		if err := check(found); err != nil {
			return err
		}
		hash, err := renew(found)
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, `UPDATE command_lines SET state = 'open', renewal_hash = $2, renewed_at = $3 WHERE id = $1`, found.ID, hash, c.Now)
		return err
	})
	return found, err
}

// RenewCommandLine accepts a renewal token once and replaces it. The token before is accepted for a moment longer, because its response may have
// been lost; whoever shows it later ends the command line: one of the two stole it. The row is returned as it is then. ErrNotFound: the
// token is of no open command line.
func (s *Store) RenewCommandLine(ctx context.Context, id, renewalHash, door string, renew func(CommandLine) (nextHash string, err error)) (l CommandLine, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		type renewable struct {
			CommandLine
			RenewalHash, LastHash string
		}
		row, err := db.One[renewable](ctx, c, `SELECT `+commandLineColumns+`, coalesce(renewal_hash, '') AS renewal_hash, coalesce(last_hash, '') AS last_hash
			FROM command_lines WHERE id = $1 AND state = 'open' AND expires_at > $2 FOR UPDATE`, id, c.Now)
		if err != nil {
			return err
		}
		l = row.CommandLine
		lost := row.LastHash == renewalHash && c.Now.Sub(*row.RenewedAt) < lostFor
		if row.RenewalHash != renewalHash && !lost {
			l.State = CommandLineEnded
			return endCommandLine(ctx, c, row.CommandLine, clusters.Origin{Actor: l.Principal, Source: door}, "a token that was replaced was used again")
		}
		next, err := renew(l)
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, `UPDATE command_lines SET renewal_hash = $2, last_hash = $3, renewed_at = $4 WHERE id = $1`, id, next, renewalHash, c.Now)
		return err
	})
	return l, err
}

// EndCommandLine signs a principal's command line out; its sessions end at once. Ending it again changes nothing. ErrNotFound: the principal
// has no such command line.
func (s *Store) EndCommandLine(ctx context.Context, id, principal string, d clusters.Origin) error {
	return s.db.Write(ctx, func(c *db.Tx) error {
		l, err := db.One[CommandLine](ctx, c, `SELECT `+commandLineColumns+` FROM command_lines WHERE id = $1 AND principal = $2 AND state IN ('confirmed', 'open', 'ended') FOR UPDATE`, id, principal)
		if err != nil || l.State == CommandLineEnded {
			return err
		}
		return endCommandLine(ctx, c, l, d, "")
	})
}

func endCommandLine(ctx context.Context, c *db.Tx, l CommandLine, d clusters.Origin, note string) error {
	if _, err := c.Exec(ctx, `UPDATE command_lines SET state = 'ended', ended_at = $2 WHERE id = $1`, l.ID, c.Now); err != nil {
		return fmt.Errorf("end the command line: %w", err)
	}
	if _, err := c.Exec(ctx, `INSERT INTO ended_sessions (id, principal, ended_at, expires_at) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING`,
		l.ID, l.Principal, c.Now, l.ExpiresAt); err != nil {
		return fmt.Errorf("end the command line's sessions: %w", err)
	}
	return clusters.RecordAction(c, d, "command_line_ended", "", clusters.Action{Note: note, After: map[string]string{"machine": l.Machine}})
}

// CommandLine returns the command line with an id, whatever its state. ErrNotFound: there is none.
func (s *Store) CommandLine(ctx context.Context, id string) (CommandLine, error) {
	return db.One[CommandLine](ctx, s.db.Pool(), `SELECT `+commandLineColumns+` FROM command_lines WHERE id = $1`, id)
}

// CommandLinesOf returns the open command lines of a principal, the newest first.
func (s *Store) CommandLinesOf(ctx context.Context, principal string) ([]CommandLine, error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	return db.All[CommandLine](ctx, s.db.Pool(), `SELECT `+commandLineColumns+` FROM command_lines WHERE principal = $1 AND state = 'open' AND expires_at > $2 ORDER BY asked_at DESC`, principal, now)
}
