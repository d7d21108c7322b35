package clusters

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/db"
)

// EffectKind says what an effect changes.
type EffectKind string

// EffectRemoveDeployments removes the deployments of an environment that only one cluster had. Its content is the environment.
const EffectRemoveDeployments EffectKind = "remove_deployments"

// EffectGate brings a gate up to date. Its content is the gate's id.
const EffectGate EffectKind = "gate"

// GateEffect is the effect that brings a gate up to date.
func GateEffect(gate, cause string, installation int64, repo string) Effect {
	return Effect{Cause: "gate:" + gate + ":" + cause, Kind: EffectGate, Installation: installation, Repo: repo, Content: gate}
}

// AskGatesOn asks for the gates on some commits to be brought up to date.
func AskGatesOn(ctx context.Context, c *db.Tx, repo string, heads []string, cause string) error {
	list, err := db.All[struct {
		ID           string
		Installation int64
	}](ctx, c, `UPDATE gates SET asked_at = $3 WHERE repo = $1 AND head = ANY ($2) RETURNING id, installation`, repo, heads, c.Now)
	if err != nil {
		return fmt.Errorf("ask for the gates of %s: %w", repo, err)
	}
	var effects []Effect
	for _, g := range list {
		effects = append(effects, GateEffect(g.ID, cause, g.Installation, repo))
	}
	return SaveEffects(ctx, c, effects)
}

// Effect is one change on GitHub apart from a cluster's subscribers. It is made once for its cause.
type Effect struct {
	ID           string // filled by the store
	Cause        string // unique: what it is for, e.g. "react:eyes:comment:123"
	Kind         EffectKind
	Installation int64
	Repo         string
	Number       int       // of the pull request; 0: of the repository itself
	Target       int64     // the comment's id, of an effect on a comment
	Content      string    // the reaction (eyes, +1, confused), the label, the head's SHA, or why a comment is minimized
	CreatedAt    time.Time // filled by the store
}

func SaveEffects(ctx context.Context, c *db.Tx, effects []Effect) error {
	for _, e := range effects {
		id := db.NewID("eff")
		tag, err := c.Exec(ctx, `
			INSERT INTO effects (id, cause, kind, installation, repo, number, target, content, created_at, nudge_at)
			VALUES (@id, @cause, @kind, @installation, @repo, @number, @target, @content, @now, @nudge) ON CONFLICT (cause) DO NOTHING`,
			pgx.NamedArgs{
				"id": id, "cause": e.Cause, "kind": e.Kind, "installation": e.Installation, "repo": e.Repo, "number": e.Number,
				"target": e.Target, "content": e.Content, "now": c.Now, "nudge": c.Now.Add(NudgeAgain),
			})
		if err != nil {
			return fmt.Errorf("save the effect: %w", err)
		}
		if tag.RowsAffected() == 1 {
			c.Enqueue(queue.EffectArgs{Effect: id})
		}
	}
	return nil
}

func SaveReply(ctx context.Context, c *db.Tx, r Reply) error {
	id := db.NewID("rep")
	tag, err := c.Exec(ctx, `
		INSERT INTO replies (id, cause, thread, installation, repo, number, workspace, channel, person, body, blocks, created_at, nudge_at)
		SELECT @id, @cause, @thread, CASE WHEN here.github THEN @installation::bigint END, CASE WHEN here.github THEN @repo END,
			CASE WHEN here.github THEN @number::integer END, nullif(@workspace, ''), nullif(@channel, ''), nullif(@person, ''), @body, @blocks, @now, @nudge
		FROM (SELECT @workspace = '' AS github) here ON CONFLICT (cause) DO NOTHING`,
		pgx.NamedArgs{
			"id": id, "cause": r.Cause, "thread": r.Thread, "installation": r.Installation, "repo": r.Repo, "number": r.Number,
			"workspace": r.Workspace, "channel": r.Channel, "person": r.Person, "body": r.Body, "blocks": r.Blocks,
			"now": c.Now, "nudge": c.Now.Add(NudgeAgain),
		})
	if err != nil {
		return fmt.Errorf("save the reply: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return nil
	}
	c.Enqueue(queue.ReplyArgs{Reply: id})
	if r.Pressed == nil {
		return nil
	}
	return ShowPressed(ctx, c, *r.Pressed)
}

// ShowPressed writes what the press of a button in a notice did, and has the notice updated. Nothing happens to a notice that does not
// exist.
func ShowPressed(ctx context.Context, c *db.Tx, p Pressed) error {
	return RefreshNotices(ctx, c, `n.id = @id AND n.facts || @facts::jsonb <> n.facts`, `facts = n.facts || @facts::jsonb`, pgx.NamedArgs{"id": p.Notice, "facts": p.Facts})
}

const Answered = `SELECT EXISTS (SELECT 1 FROM replies WHERE cause = $1)`
