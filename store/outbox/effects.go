package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// The kinds.
const (
	EffectReact       clusters.EffectKind = "react"        // to a comment
	EffectAddLabel    clusters.EffectKind = "add_label"    // to a pull request
	EffectRemoveLabel clusters.EffectKind = "remove_label" // from a pull request
	EffectCheckConfig clusters.EffectKind = "check_config" // checks the repository's file at a pull request's head
	// EffectCheckCatalogue checks the catalogue's files at a pull request's head.
	EffectCheckCatalogue clusters.EffectKind = "check_catalogue"

	// EffectProposeCatalogue opens a pull request with a changed document of the catalogue.
	EffectProposeCatalogue clusters.EffectKind = "propose_catalogue"

	EffectEnsureLabels clusters.EffectKind = "ensure_labels" // creates all our labels in a repository
	EffectMinimize     clusters.EffectKind = "minimize"      // hides an answer that a newer one made outdated
)

// SaveEffect asks for a change to be made. A cause has one effect: later ones are ignored.
func (s *Store) SaveEffect(ctx context.Context, e clusters.Effect) error {
	err := s.db.Write(ctx, func(c *db.Tx) error { return clusters.SaveEffects(ctx, c, []clusters.Effect{e}) })
	if err != nil {
		return fmt.Errorf("save the effect of %s: %w", e.Cause, err)
	}
	return nil
}

// AskEffect is SaveEffect for a person's request: it writes an audit line in the same transaction. It returns the cause's
// effect. If that was asked for before, the earlier effect is returned and no second line is written.
func (s *Store) AskEffect(ctx context.Context, e clusters.Effect, d clusters.Origin, action string) (EffectState, error) {
	var state EffectState
	err := s.db.Write(ctx, func(c *db.Tx) (err error) {
		if err = clusters.SaveEffects(ctx, c, []clusters.Effect{e}); err != nil {
			return err
		}
		if len(c.Jobs) > 0 { // it is a new one
			meta := map[string]string{"why": d.Reason(), "repository": e.Repo}
			if err = c.RecordLine(d.Actor, action, d.Source, "", meta); err != nil {
				return err
			}
		}
		state, err = db.One[EffectState](ctx, c, effectState+` WHERE cause = $1`, e.Cause)
		return err
	})
	if err != nil {
		return EffectState{}, fmt.Errorf("ask for the effect of %s: %w", e.Cause, err)
	}
	return state, nil
}

// Effect returns one effect. done: it was made, or given up.
func (s *Store) Effect(ctx context.Context, id string) (e clusters.Effect, done bool, err error) {
	type record struct {
		clusters.Effect
		Done bool
	}
	r, err := db.One[record](ctx, s.db.Pool(), `
		SELECT id, cause, kind, installation, repo, number, target, content, created_at, done_at IS NOT NULL AS done FROM effects WHERE id = $1`, id)
	if err != nil {
		return clusters.Effect{}, false, fmt.Errorf("read effect %s: %w", id, err)
	}
	return r.Effect, r.Done, nil
}

// HasNewer reports whether a later effect of the same kind and content is still to be made.
func (s *Store) HasNewer(ctx context.Context, e clusters.Effect) (newer bool, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM effects WHERE done_at IS NULL AND kind = $1 AND content = $2 AND (created_at, id) > ($3, $4))`,
		e.Kind, e.Content, e.CreatedAt, e.ID).Scan(&newer)
	if err != nil {
		return false, fmt.Errorf("look for what replaces effect %s: %w", e.ID, err)
	}
	return newer, nil
}

// EffectFailed records that an effect was not made, and why, and returns since when GitHub refuses it, without another answer in between; the zero
// time: GitHub does not.
func (s *Store) EffectFailed(ctx context.Context, id string, refused bool, why string) (since time.Time, err error) {
	var at *time.Time
	err = s.db.Pool().QueryRow(ctx, `
		UPDATE effects SET refused_since = CASE WHEN $2 THEN coalesce(refused_since, $3::timestamptz, clock_timestamp()) END,
			note = CASE WHEN done_at IS NULL THEN $4 ELSE note END
		WHERE id = $1 RETURNING refused_since`, id, refused, s.db.Fixed(), why).Scan(&at)
	if err != nil {
		return time.Time{}, fmt.Errorf("record that effect %s was not made: %w", id, db.Plain(err))
	}
	return db.Zero(at), nil
}

// Awaited reports whether such an effect on a pull request is still to be made.
func (s *Store) Awaited(ctx context.Context, kind clusters.EffectKind, repo string, number int, content string) (awaited bool, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM effects WHERE done_at IS NULL AND kind = $1 AND repo = $2 AND number = $3 AND content = $4)`,
		kind, repo, number, content).Scan(&awaited)
	if err != nil {
		return false, fmt.Errorf("look for what %s#%d awaits: %w", repo, number, err)
	}
	return awaited, nil
}

// EffectState is an effect and its result.
type EffectState struct {
	clusters.Effect
	DoneAt  *time.Time // nil: it is still to be made
	Note    string     // the result; of one that is still to be made: why the last try failed
	GivenUp bool       // it could not be made; the note says why
}

const effectState = `
	SELECT id, cause, kind, installation, repo, number, target, content, created_at, done_at, note, given_up FROM effects`

// EffectState returns the current state of one effect. ErrNotFound: there is none of that id.
func (s *Store) EffectState(ctx context.Context, id string) (EffectState, error) {
	state, err := db.One[EffectState](ctx, s.db.Pool(), effectState+` WHERE id = $1`, id)
	if err != nil {
		return EffectState{}, fmt.Errorf("read effect %s: %w", id, err)
	}
	return state, nil
}

// EffectDone records that an effect was made, or is given up. The note is the result. Only the first call counts.
func (s *Store) EffectDone(ctx context.Context, id, note string, givenUp bool) error {
	_, err := s.db.Pool().Exec(ctx, `
		UPDATE effects SET done_at = coalesce($3::timestamptz, clock_timestamp()), note = $2, given_up = $4 WHERE id = $1 AND done_at IS NULL`, id, note, s.db.Fixed(), givenUp)
	if err != nil {
		return fmt.Errorf("remember effect %s: %w", id, err)
	}
	return nil
}
