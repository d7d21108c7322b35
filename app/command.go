package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

func (d *Desk) statusByComment(ctx context.Context, c command) (reply, note string, err error) {
	rows, _, err := d.store.List(ctx, store.Filter{Repo: c.pr.Repo, Number: c.pr.Number, Profile: c.Profile, Live: true})
	if err != nil {
		return "", "", fmt.Errorf("list clusters: %w", err)
	}
	return d.status(ctx, c, rows)
}

func (d *Desk) status(ctx context.Context, c command, rows []store.Row) (reply, note string, err error) {
	now, err := d.store.Now(ctx)
	if err != nil {
		return "", "", fmt.Errorf("read the clock: %w", err)
	}
	cards := make([]lifecycle.Card, 0, len(rows))
	for _, row := range rows {
		cards = append(cards, row.Card)
	}
	return chatops.StatusReply(c.event.Author, cards, chatops.Links{UI: d.ui}, now), "status of " + count(len(rows)), nil
}

func (d *Desk) exists(ctx context.Context, c command, row store.Row) (reply, note string, err error) {
	now, err := d.store.Now(ctx)
	if err != nil {
		return "", "", fmt.Errorf("read the clock: %w", err)
	}
	return chatops.Exists(c.event.Author, row.Card, chatops.Links{UI: d.ui}, now), row.Name + " is there already", nil
}

func (d *Desk) extendByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := d.one(ctx, c)
	if err != nil {
		return "", "", err
	}
	if err := c.mayChange(row, policy.ActExtend); err != nil {
		return "", "", err
	}
	if row.Wish != lifecycle.Present {
		return "", "", fail(Conflict, "`%s` is already going (%s); it cannot be extended. `/ocp create %s` starts a new one.",
			row.Name, quoted(row.WishWhy), row.Profile)
	}
	by := d.policy.Scale(c.TTL)
	err = d.store.ExtendOnce(ctx, row.ID, by, c.deed(""), c.cause,
		func(before, after lifecycle.Ends, capped bool) store.Reply {
			return c.reply(extended(c.event.Author, row, before, after, capped))
		})
	if errors.Is(err, store.ErrConflict) {
		return "", "", fail(Conflict, "`%s` went away meanwhile; it cannot be extended.", row.Name)
	}
	if err != nil {
		return "", "", fmt.Errorf("extend %s: %w", row.ID, err)
	}
	return "", "extended " + row.Name, nil
}

// extended tells what an extension did, and what still comes first.
func extended(actor string, row store.Row, before, after lifecycle.Ends, capped bool) string {
	words := fmt.Sprintf("@%s, `%s` now ends %s (it was %s).", actor, row.Name, when(after.TTL), when(before.TTL))
	if after.TTL.Equal(before.TTL) {
		words = fmt.Sprintf("@%s, `%s` ends %s, as before.", actor, row.Name, when(after.TTL))
	}
	if capped {
		words += fmt.Sprintf(" That is as far as the profile %s allows; for longer, create a new cluster.", row.Profile)
	}
	if end := after.DestroyAt(); end.Before(after.TTL) {
		words += fmt.Sprintf(" It still ends %s: %s.", when(end), after.Reason())
	}
	return words
}

func (d *Desk) destroyByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := d.one(ctx, c)
	if err != nil {
		return "", "", err
	}
	if err := c.mayChange(row, policy.ActDestroy); err != nil {
		return "", "", err
	}
	if row.Wish != lifecycle.Present {
		return fmt.Sprintf("@%s, `%s` is already going: %s. Its comment tells when nothing is left.",
			c.event.Author, row.Name, quoted(row.WishWhy)), "already going", nil
	}
	why := "@" + c.event.Author + " asked for it in a comment"
	err = d.store.DestroyOnce(ctx, row.ID, c.deed(why), c.cause, func(job string) store.Reply {
		return c.reply(fmt.Sprintf("@%s, `%s` is being destroyed (job `%s`). Its comment tells when nothing is left.",
			c.event.Author, row.Name, job))
	})
	if err != nil {
		return "", "", fmt.Errorf("destroy %s: %w", row.ID, err)
	}
	return "", "destroying " + row.Name, nil
}

// mayChange refuses what only the permission on the repository would allow: a cluster that is another team's, because it was
// given or asked for that way, is for those of that team and for who asked for it. Where the repository left the table the
// permission alone decides, so that what is there comes to its end.
func (c command) mayChange(row store.Row, act policy.Act) error {
	p, entry := c.request.Principal, c.request.Ownership.Team
	if entry == "" || row.Team == entry || row.RequestedBy == p.ID || p.May(act, row.Team) {
		return nil
	}
	return fail(Denied, "@%s, `%s` is team %s's, and this repository's is team %s: to %s takes a role in that team. Ask someone there, or a platform admin.",
		c.event.Author, row.Name, row.Team, entry, doing[act])
}

// deed is what the trail says of a command.
func (c command) deed(why string) store.Deed {
	return store.Deed{Actor: principalID(c.event.Author), Door: string(policy.DoorComment), Why: why}
}

// one finds the cluster a command means: the named profile's newest that is not released, or the only one there is.
func (d *Desk) one(ctx context.Context, c command) (store.Row, error) {
	filter := store.Filter{Repo: c.pr.Repo, Number: c.pr.Number, Profile: c.Profile, Live: true, Limit: 500}
	rows, _, err := d.store.List(ctx, filter)
	if err != nil {
		return store.Row{}, fmt.Errorf("list clusters: %w", err)
	}
	if present := slices.DeleteFunc(slices.Clone(rows), going); len(present) > 0 {
		rows = present
	} else if len(rows) > 1 {
		rows = rows[:1] // all are going; the newest is the one people mean
	}
	switch len(rows) {
	case 0:
		return store.Row{}, d.none(c)
	case 1:
		return rows[0], nil
	}
	var names []string
	for _, row := range rows {
		names = append(names, "`/ocp "+string(c.Verb)+" "+row.Profile+"`")
	}
	return store.Row{}, fail(Invalid, "@%s, this pull request has %s. Which one? %s",
		c.event.Author, count(len(rows)), strings.Join(names, " or "))
}

func (d *Desk) none(c command) error {
	if c.Profile == "" {
		return fail(NotFound, "@%s, this pull request has no cluster. `/ocp create %s` makes one.",
			c.event.Author, d.defaultProfile())
	}
	hint := ""
	if near, ok := chatops.Closest(c.Profile, d.profiles()); ok && near != c.Profile {
		hint = fmt.Sprintf(" Did you mean `%s`?", near)
	}
	return fail(NotFound, "@%s, this pull request has no cluster of profile %s.%s `/ocp status` shows what it has.",
		c.event.Author, quoted(c.Profile), hint)
}

func going(r store.Row) bool { return r.Wish != lifecycle.Present }

func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func count(n int) string {
	if n == 1 {
		return "one cluster"
	}
	return fmt.Sprintf("%d clusters", n)
}

// quoted shows as code what a person typed or a program said, whatever it holds: nobody is mentioned in code.
func quoted(word string) string { return "`" + strings.Map(noTick, word) + "`" }

func noTick(r rune) rune {
	if r == '`' || r < ' ' {
		return -1
	}
	return r
}
