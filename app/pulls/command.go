package pulls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

func (d *Service) statusByComment(ctx context.Context, c command) (reply, note string, err error) {
	rows, _, err := d.store.List(ctx, store.Filter{Repo: c.pr.Repo, Number: c.pr.Number, Profile: c.Profile, Live: true})
	if err != nil {
		return "", "", fmt.Errorf("list clusters: %w", err)
	}
	if len(rows) == 0 {
		if rows, err = d.lastGone(ctx, c); err != nil {
			return "", "", err
		}
	}
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

func (d *Service) exists(ctx context.Context, c command, row store.Row) (reply, note string, err error) {
	now, err := d.store.Now(ctx)
	if err != nil {
		return "", "", fmt.Errorf("read the clock: %w", err)
	}
	return chatops.Exists(c.event.Author, row.Card, chatops.Links{UI: d.ui}, now), row.Name + " is there already", nil
}

func (d *Service) extendByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := d.one(ctx, c)
	if err != nil {
		return "", "", err
	}
	return d.extend(ctx, c, row)
}

// extend adds to a cluster's end what the command says, once, and answers.
func (d *Service) extend(ctx context.Context, c command, row store.Row) (reply, note string, err error) {
	if err := mayChange(c.request, row, policy.ActExtend); err != nil {
		return "", "", err
	}
	switch {
	case app.IsGone(row):
		return "", "", app.Fail(app.Conflict, "%s It cannot be extended. `/ocp create %s` creates a new one.", goneSince(row), row.Profile)
	case row.Wish != lifecycle.Present:
		return "", "", app.Fail(app.Conflict, "`%s` is already being destroyed (%s) and cannot be extended. `/ocp create %s` creates a new one.",
			row.Name, chatops.Code(row.WishWhy), row.Profile)
	}
	by := d.policy.Scale(c.TTL)
	var warned string
	deed := d.core.Origin(c.deed(""), c.request.Principal)
	deed.Afford = d.core.Afford(c.request.Principal, row, "extended", &warned)
	err = d.store.ExtendOnce(ctx, row.ID, by, deed, c.cause,
		func(before, after lifecycle.Ends, capped bool) store.Reply {
			return c.reply(chatops.Said(extended(c.event.Author, row, before, after, capped)+warned, c.event.Author))
		})
	if refused := app.Unaffordable(err); refused != nil {
		return "", "", refused.To(c.event.Author)
	}
	if errors.Is(err, store.ErrConflict) {
		return "", "", app.Fail(app.Conflict, "`%s` is being destroyed; it cannot be extended.", row.Name)
	}
	if err != nil {
		return "", "", fmt.Errorf("extend %s: %w", row.ID, err)
	}
	return "", "extended " + row.Name, nil
}

// extended tells what an extension did, and what still comes first.
func extended(actor string, row store.Row, before, after lifecycle.Ends, capped bool) string {
	words := fmt.Sprintf("@%s, the lifetime of `%s` now ends %s (it was %s).", actor, row.Name, chatops.Time(after.TTL), chatops.Time(before.TTL))
	if after.TTL.Equal(before.TTL) {
		words = fmt.Sprintf("@%s, the lifetime of `%s` ends %s, as before.", actor, row.Name, chatops.Time(after.TTL))
	}
	if capped {
		words += fmt.Sprintf(" That is the maximum of profile %s; for more time, create a new cluster.", row.Profile)
	}
	switch end := after.DestroyAt(); {
	case end.Before(after.TTL):
		words += fmt.Sprintf(" The cluster still ends before that, %s: %s.", chatops.Time(end), after.Reason())
	case end.After(after.TTL):
		words += fmt.Sprintf(" That is without its hold, which keeps it until %s.", chatops.Time(end))
	}
	return words
}

func (d *Service) destroyByComment(ctx context.Context, c command) (reply, note string, err error) {
	row, err := d.one(ctx, c)
	if err != nil {
		return "", "", err
	}
	return d.destroy(ctx, c, row)
}

// destroy takes a cluster down, once, and answers.
func (d *Service) destroy(ctx context.Context, c command, row store.Row) (reply, note string, err error) {
	if err := mayChange(c.request, row, policy.ActDestroy); err != nil {
		return "", "", err
	}
	switch {
	case app.IsGone(row):
		return fmt.Sprintf("@%s, %s", c.event.Author, goneSince(row)), "gone already", nil
	case row.Wish != lifecycle.Present:
		return fmt.Sprintf("@%s, `%s` is already being destroyed: %s. Its comment says when nothing is left.",
			c.event.Author, row.Name, chatops.Code(row.WishWhy)), "already going", nil
	}
	why := "@" + c.event.Author + " asked for it " + c.how()
	if c.Reason != "" {
		why = "@" + c.event.Author + ": " + c.Reason
	}
	err = d.store.DestroyOnce(ctx, row.ID, d.core.Origin(c.deed(why), c.request.Principal), c.cause, func(job string) store.Reply {
		return c.reply(fmt.Sprintf("@%s, `%s` is being destroyed (job `%s`). Its comment says when nothing is left.",
			c.event.Author, row.Name, job))
	})
	if err != nil {
		return "", "", fmt.Errorf("destroy %s: %w", row.ID, err)
	}
	return "", "destroying " + row.Name, nil
}

// mayChange refuses what only the permission on the repository would allow: a cluster that is another team's, because it was
// given or asked for that way, is for those of that team and for who asked for it. Where the repository left the table the
// permission alone takes it down, so that what is there comes to its end, and does nothing else.
func mayChange(r policy.Request, row store.Row, act policy.Act) error {
	p, entry := r.Principal, r.Ownership.Team
	switch {
	case entry == "" && act == policy.ActDestroy, entry != "" && row.Team == entry, row.RequestedBy == p.ID, p.May(act, row.Team):
		return nil
	case entry == "":
		return app.Fail(app.Denied, "@%s, `%s` belongs to team %s, and this repository is no longer configured: to %s you need a role in that team. "+
			"Ask someone there, or a platform admin.", p.Name, row.Name, row.Team, app.ActWords[act])
	}
	return app.Fail(app.Denied, "@%s, `%s` belongs to team %s, and this repository to team %s: to %s you need a role in the cluster's team. Ask someone there, or a platform admin.",
		p.Name, row.Name, row.Team, entry, app.ActWords[act])
}

// deed is how a command asks for something.
func (c command) deed(why string) app.Deed { return app.Deed{Door: policy.DoorComment, Why: why} }

// how says in words by what the command was given.
func (c command) how() string {
	if c.by == "" {
		return "in a comment"
	}
	return c.by
}

// one finds the cluster a command means: the live one (see liveOne), or else the newest that is gone, so that its end can still
// be read.
func (d *Service) one(ctx context.Context, c command) (store.Row, error) {
	row, err := d.liveOne(ctx, c)
	if app.KindOf(err) != app.NotFound {
		return row, err
	}
	gone, problem := d.lastGone(ctx, c)
	switch {
	case problem != nil:
		return store.Row{}, problem
	case len(gone) == 0:
		return store.Row{}, err
	}
	return gone[0], nil
}

// lastGone is the newest cluster of the pull request, of the command's profile where it names one. It is asked for where none is
// live; a pull request that never had one gives none.
func (d *Service) lastGone(ctx context.Context, c command) ([]store.Row, error) {
	rows, _, err := d.store.List(ctx, store.Filter{Repo: c.pr.Repo, Number: c.pr.Number, Profile: c.Profile, Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("look for the last cluster of %s#%d: %w", c.pr.Repo, c.pr.Number, err)
	}
	return rows, nil
}

// goneSince is GoneSince for a comment.
func goneSince(row store.Row) string {
	return strings.Replace(app.GoneSince(row), row.Name, "`"+row.Name+"`", 1)
}

// liveOne finds the named profile's newest cluster that is not gone, or the only one there is.
func (d *Service) liveOne(ctx context.Context, c command) (store.Row, error) {
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
	return store.Row{}, d.which(c, rows)
}

// which asks for the one of several that a command means.
func (d *Service) which(c command, rows []store.Row) error {
	typed := chatops.Prefix + " " + string(c.Verb)
	if c.Line != "" && len(c.Line) <= 200 && !strings.Contains(c.Line, "`") {
		typed = c.Line // what else was said is said again: /ocp extend 4h aws-standard
	}
	var names []string
	for _, row := range rows {
		names = append(names, "`"+typed+" "+row.Profile+"`")
	}
	return app.Fail(app.Invalid, "@%s, this pull request has %s. Which one? %s", c.event.Author, count(len(rows)), strings.Join(names, " or "))
}

func (d *Service) none(c command) error {
	if c.Profile == "" {
		return app.Fail(app.NotFound, "@%s, this pull request has no cluster. `/ocp create` makes one.", c.event.Author)
	}
	hint := ""
	if near, ok := chatops.Closest(c.Profile, d.core.ProfileNames()); ok && near != c.Profile {
		hint = fmt.Sprintf(" Did you mean `%s`?", near)
	}
	return app.Fail(app.NotFound, "@%s, this pull request has no cluster of profile %s.%s `/ocp status` shows what it has.",
		c.event.Author, chatops.Code(c.Profile), hint)
}

func going(r store.Row) bool { return r.Wish != lifecycle.Present }

func count(n int) string {
	if n == 1 {
		return "one cluster"
	}
	return fmt.Sprintf("%d clusters", n)
}
