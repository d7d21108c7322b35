package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// CommentEvent is one comment on a pull request.
type CommentEvent struct {
	Installation int64
	Repo         string // owner/name
	Number       int
	ID           int64
	Author       string // login
	AuthorID     int64  // GitHub's own number of the author, which no renaming changes
	Bot          bool
	Action       string // created, edited, deleted
	Body         string
}

// Comment does what the commands in a comment ask for and answers in words, once per comment and line. Bots, edited
// comments and comments without a command are ignored.
func (d *Desk) Comment(ctx context.Context, e CommentEvent) (note string, err error) {
	if e.Action != "created" {
		return "only new comments are read; this one was " + e.Action, nil
	}
	if e.Bot {
		return "bots are not listened to", nil
	}
	lines := chatops.Parse(e.Body)
	if len(lines) == 0 {
		return "no command", nil
	}
	pr, err := d.pullRequest(ctx, e)
	if err != nil {
		return "", err
	}
	request, err := d.request(ctx, policy.DoorComment, pr, actor{e.Author, e.AuthorID})
	if err != nil {
		return "", err
	}
	var notes []string
	for i, line := range lines {
		c := command{event: e, pr: pr, request: request, cause: cause(e, i, line.Line)}
		said, err := d.run(ctx, c, line)
		if err != nil {
			return "", err
		}
		notes = append(notes, said)
	}
	return strings.Join(notes, "; "), nil
}

// cause names one line of one comment: read again it is the same, and another line never counts as it.
func cause(e CommentEvent, i int, line string) string {
	sum := sha256.Sum256([]byte(e.Author + "\n" + line))
	return fmt.Sprintf("comment:%d:%d:%x", e.ID, i, sum[:4])
}

// command is one line of a comment on its way through the desk.
type command struct {
	event   CommentEvent
	pr      store.PullRequest
	request policy.Request
	cause   string
	chatops.Command
}

// run does one command. What people did wrong becomes an answer; only what may pass by itself is an error. A command that
// got its answer is done: the comment is read again where its process died between two of its lines.
func (d *Desk) run(ctx context.Context, c command, line chatops.Parsed) (string, error) {
	done, err := d.store.Answered(ctx, c.cause)
	if err != nil || done {
		return "answered before", err
	}
	c.Line = line.Line
	body, note := line.Reply, "answered"
	if line.Command != nil {
		c.Command = *line.Command
		body, note, err = d.dispatch(ctx, c)
		var said *Error
		if errors.As(err, &said) {
			body, note = said.Message, string(c.Verb)+": "+said.Message
		} else if err != nil {
			return "", fmt.Errorf("%s: %w", c.Verb, err)
		}
	}
	if body == "" {
		return note, nil
	}
	if err := d.store.SaveReply(ctx, c.reply(body)); err != nil {
		return "", fmt.Errorf("answer: %w", err)
	}
	return note, nil
}

// reply answers the command with words, once.
func (c command) reply(body string) store.Reply {
	return store.Reply{
		Cause: c.cause, Installation: c.pr.Installation, Repo: c.pr.Repo, Number: c.pr.Number,
		Body: chatops.Answer(c.Line, body),
	}
}

// dispatch picks the use case. It returns the answer for the pull request (empty: the cluster's own comment says it)
// and a note for the delivery.
func (d *Desk) dispatch(ctx context.Context, c command) (reply, note string, err error) {
	if c.Verb == chatops.VerbCreate {
		return d.createByComment(ctx, c)
	}
	switch c.Verb {
	case chatops.VerbHelp:
		return chatops.Help(d.profiles()...), "help", nil
	case chatops.VerbLink:
		return d.linkByComment(ctx, c)
	}
	if verdict := policy.May(c.request, string(c.Verb)); !verdict.Allowed {
		return chatops.Refusal(c.event.Author, verdict), refusedNote(string(c.Verb), verdict), nil
	}
	switch c.Verb {
	case chatops.VerbStatus, chatops.VerbList:
		return d.statusByComment(ctx, c)
	case chatops.VerbExtend:
		return d.extendByComment(ctx, c)
	case chatops.VerbDestroy:
		return d.destroyByComment(ctx, c)
	case chatops.VerbApprove:
		return d.approveByComment(ctx, c)
	}
	return "", "", fail(Invalid, "`/ocp %s` does nothing here.\n\n%s", c.Verb, chatops.Help(d.profiles()...))
}

func (d *Desk) createByComment(ctx context.Context, c command) (reply, note string, err error) {
	r := c.request
	r.Profile, r.Name, r.Region, r.Version, r.Team, r.TTL = c.Profile, c.Name, c.Region, c.Version, c.Team, c.TTL
	if r.Profile == "" {
		r.Profile = d.defaultProfile()
	}
	if !c.pr.Open {
		return "", "", fail(Conflict, "%s#%d is closed, and clusters are created for open pull requests only. "+
			"Reopen it first.", c.pr.Repo, c.pr.Number)
	}
	newest, err := d.store.ClusterForPR(ctx, c.pr.Repo, c.pr.Number, r.Profile)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", "", fmt.Errorf("look for the cluster of %s: %w", r.Profile, err)
	}
	if newest.ID != "" && newest.Wish == lifecycle.Present {
		made, err := d.store.Made(ctx, r.Principal.ID, c.cause)
		if err != nil || made == newest.ID { // by this very comment, whose process died before it was done
			return "", "accepted before as " + made, err
		}
		return d.exists(ctx, c, newest)
	}
	r.Generation = newest.Generation + 1
	made, err := d.create(ctx, wish{request: r, pr: c.pr, actor: c.event.Author, key: c.cause, cause: c.cause, line: c.Line})
	if err != nil {
		return "", "", err
	}
	if made.Row.ID == "" {
		return "", refusedNote(r.Profile, made.Verdict), nil
	}
	if _, err := d.settle(ctx, c.pr.Repo, c.pr.Number, c.event.Author); err != nil {
		return "", "", err
	}
	return "", fmt.Sprintf("accepted %s as %s", r.Profile, made.Row.ID), nil
}

// pullRequest is the comment's pull request as last seen; one never seen is asked from GitHub.
func (d *Desk) pullRequest(ctx context.Context, e CommentEvent) (store.PullRequest, error) {
	pr, err := d.store.PullRequest(ctx, e.Repo, e.Number)
	if err == nil {
		return pr, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return store.PullRequest{}, fmt.Errorf("read pull request: %w", err)
	}
	if pr, err = d.github.PullRequest(ctx, e.Installation, e.Repo, e.Number); err != nil {
		return store.PullRequest{}, fmt.Errorf("ask pull request %s#%d: %w", e.Repo, e.Number, err)
	}
	if _, err := d.store.SeePullRequest(ctx, pr, false); err != nil {
		return store.PullRequest{}, fmt.Errorf("remember pull request: %w", err)
	}
	return pr, nil
}
