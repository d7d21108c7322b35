package pulls

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
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
	At           time.Time // when it was written, by GitHub's clock; zero: not told
}

// Comment does what the commands in a comment ask for and answers in words, once per comment and line. Bots, edited
// comments and comments without a command are ignored.
func (d *Service) Comment(ctx context.Context, e CommentEvent) (note string, err error) {
	if e.Action != "created" {
		return "only new comments are read; this one was " + e.Action, nil
	}
	if e.Bot {
		return "comments of bots are ignored", nil
	}
	lines := chatops.Parse(e.Body)
	if len(lines) == 0 {
		return "no command", nil
	}
	if note, err := d.unanswered(ctx, e); note != "" || err != nil {
		return note, err
	}
	if err := d.react(ctx, e, "seen", "eyes"); err != nil {
		return "", err
	}
	pr, err := d.pullRequest(ctx, e, slices.ContainsFunc(lines, present))
	if err != nil {
		return "", d.endUnanswered(ctx, e, err)
	}
	request, err := d.request(ctx, policy.DoorComment, pr, actor{e.Author, e.AuthorID})
	if err != nil {
		return "", d.endUnanswered(ctx, e, err)
	}
	d.answering(e, request, len(lines)+2)
	var notes []string
	for i, line := range lines {
		c := command{event: e, pr: pr, request: request, cause: cause(e, i, line.Line), Command: chatops.Command{Line: line.Line}}
		if line.Command != nil {
			c.Command = line.Command.For(d.core.ProfileNames())
		}
		said, err := d.run(ctx, c, line)
		if err != nil {
			return "", err
		}
		notes = append(notes, said)
	}
	return strings.Join(notes, "; "), d.react(ctx, e, outcome, "+1") // nothing where a line was not done: that reacted already
}

// CommentGivenUp tells the author of a comment with commands that they are not tried any more. What was done of them before
// has its answer.
func (d *Service) CommentGivenUp(ctx context.Context, e CommentEvent) error {
	if e.Action != "created" || e.Bot || len(chatops.Parse(e.Body)) == 0 {
		return nil
	}
	words := fmt.Sprintf("@%s, this could not be completed: GitHub or a part of ocpctl did not answer for too long, so this will not be tried again. "+
		"Commands that were done have an answer here. Repeat the others; `/ocp status` shows the present state.", e.Author)
	pr := store.PullRequest{Installation: e.Installation, Repo: e.Repo, Number: e.Number}
	if err := d.say(ctx, pr, fmt.Sprintf("given up:comment:%d", e.ID), words); err != nil {
		return err
	}
	return d.react(ctx, e, outcome, "confused")
}

// present says whether a line is about the pull request as it is now, not as it was told of last: what is created or approved
// is of its newest commit.
func present(line chatops.Parsed) bool {
	c := line.Command
	return c != nil && slices.Contains([]chatops.Verb{chatops.VerbCreate, chatops.VerbApprove, chatops.VerbRetry}, c.Verb)
}

// outcome is the reaction that tells how it went: a comment gets one.
const outcome = "outcome"

// react has a comment get a reaction, the first of its kind.
func (d *Service) react(ctx context.Context, e CommentEvent, kind, reaction string) error {
	err := d.store.SaveEffect(ctx, e.reaction(kind, reaction))
	if err != nil {
		return fmt.Errorf("react: %w", err)
	}
	return nil
}

func (e CommentEvent) reaction(kind, reaction string) store.Effect {
	return store.Effect{
		Cause: fmt.Sprintf("react:%s:comment:%d", kind, e.ID), Kind: store.EffectReact,
		Installation: e.Installation, Repo: e.Repo, Number: e.Number, Target: e.ID, Content: reaction,
	}
}

// cause names one line of one comment: read again it is the same, and another line never counts as it.
func cause(e CommentEvent, i int, line string) string {
	sum := sha256.Sum256([]byte(e.Author + "\n" + line))
	return fmt.Sprintf("comment:%d:%d:%x", e.ID, i, sum[:4])
}

// command is one line of a comment, a click or a workflow's word on its way through the service.
type command struct {
	event   CommentEvent // ID is 0 where it is no comment
	pr      store.PullRequest
	request policy.Request
	cause   string
	by      string // what it was given by, in words; empty: in a comment
	chatops.Command
}

// declined is what was refused with more to it than words.
type declined struct{ reply, note string }

func (d declined) Error() string { return d.note }

// run does one line of a comment.
func (d *Service) run(ctx context.Context, c command, line chatops.Parsed) (note string, err error) {
	return d.once(ctx, c, func(c command) (string, string, error) {
		if line.Command == nil {
			return "", "", declined{line.Reply, "answered"}
		}
		return d.dispatch(ctx, c)
	})
}

// once does a command and has its answer posted. What people did wrong becomes an answer; only what may pass by itself is an
// error. A command that got its answer is done: the comment is read again where its process died between two of its lines.
func (d *Service) once(ctx context.Context, c command, do func(command) (reply, note string, err error)) (note string, err error) {
	made, err := d.store.Made(ctx, c.request.Principal.ID, c.cause)
	if err != nil {
		return "", err
	}
	if made != "" { // its process may have died before it was done with the rest
		return "accepted before as " + made, d.followUp(ctx, c, made)
	}
	done, err := d.store.Answered(ctx, c.cause)
	if err != nil || done {
		return "answered before", err
	}
	body, note, err := do(c)
	var said *app.Error
	var no declined
	switch {
	case errors.As(err, &said):
		body, note = chatops.Said(to(c.event.Author, said.Message), c.event.Author), string(c.Verb)+": "+said.Message
	case errors.As(err, &no):
		body, note = no.reply, no.note
	case err != nil:
		return "", fmt.Errorf("%s: %w", c.Verb, err)
	}
	if err != nil && c.event.ID != 0 {
		if err := d.react(ctx, c.event, outcome, "confused"); err != nil {
			return "", err
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

// to addresses a message to who commented.
func to(login, message string) string {
	if at := "@" + login; !strings.HasPrefix(message, at) {
		return at + ": " + message
	}
	return message
}

// reply answers the command with words, once.
func (c command) reply(body string) store.Reply {
	return store.Reply{
		Cause: c.cause, Thread: c.thread(), Installation: c.pr.Installation, Repo: c.pr.Repo, Number: c.pr.Number,
		Body: chatops.Answer(c.Line, body),
	}
}

// thread is where the answer stands: with those to the comment's other lines. It stands alone where there is no comment, where
// it holds a link, which is forgotten once it was said and could not be said again with the next line's, and where it is a log,
// which fills a comment by itself.
func (c command) thread() string {
	if c.event.ID == 0 || slices.Contains([]chatops.Verb{chatops.VerbLink, chatops.VerbKubeconfig, chatops.VerbLogs}, c.Verb) {
		return ""
	}
	return fmt.Sprintf("comment:%d", c.event.ID)
}

// dispatch picks the use case. It returns the answer for the pull request (empty: the cluster's own comment says it)
// and a note for the delivery.
func (d *Service) dispatch(ctx context.Context, c command) (reply, note string, err error) {
	switch c.Verb {
	case chatops.VerbCreate:
		return d.createByComment(ctx, c)
	case chatops.VerbHelp:
		names, err := d.offered(ctx, c)
		return chatops.Help(names...), "help", err
	case chatops.VerbLink:
		return d.linkByComment(ctx, c)
	}
	if verdict := policy.Authorize(c.request, c.Verb.Act(), nil); !verdict.Allowed {
		return "", "", declined{chatops.Refusal(c.event.Author, verdict), refusedNote(string(c.Verb), verdict)}
	}
	if do, ok := map[chatops.Verb]func(context.Context, command) (string, string, error){
		chatops.VerbStatus: d.statusByComment, chatops.VerbList: d.statusByComment,
		chatops.VerbExtend: d.extendByComment, chatops.VerbDestroy: d.destroyByComment,
		chatops.VerbApprove: d.voteByComment, chatops.VerbRefuse: d.voteByComment,
		chatops.VerbLogs: d.logsByComment, chatops.VerbKubeconfig: d.kubeconfigByComment,
		chatops.VerbScale: d.scaleByComment, chatops.VerbRefresh: d.refreshByComment, chatops.VerbHold: d.holdByComment,
		chatops.VerbShare: d.shareByComment, chatops.VerbRetry: d.retryByComment,
	}[c.Verb]; ok {
		return do(ctx, c)
	}
	return "", "", declined{fmt.Sprintf("`/ocp %s` does nothing here.\n\n%s", c.Verb, chatops.Help(d.core.ProfileNames()...)), "nothing"}
}

func (d *Service) createByComment(ctx context.Context, c command) (reply, note string, err error) {
	w, err := d.asked(ctx, c.request, c.pr)
	if err != nil {
		return "", "", err
	}
	r := &w.Request
	r.Profile, r.Name, r.Region, r.Version, r.Team, r.TTL = c.Profile, c.Name, c.Region, c.Version, c.Team, c.TTL
	if r.TTL == 0 {
		r.TTL = labelled(c.pr.Labels)
	}
	if r.Profile, err = d.profileOf(ctx, *r); err != nil {
		return "", "", err
	}
	return d.createOnce(ctx, c, w)
}

// createOnce asks for the cluster of a profile unless the pull request has it.
func (d *Service) createOnce(ctx context.Context, c command, w app.ClusterRequest) (reply, note string, err error) {
	profile := w.Request.Profile
	if !c.pr.Open {
		return "", "", app.Fail(app.Conflict, "%s#%d is closed, and clusters are created for open pull requests only. "+
			"Reopen it first.", c.pr.Repo, c.pr.Number)
	}
	newest, err := d.store.ClusterForPR(ctx, c.pr.Repo, c.pr.Number, profile)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", "", fmt.Errorf("look for the cluster of %s: %w", profile, err)
	}
	if newest.ID != "" && newest.Wish == lifecycle.Present {
		if verdict := policy.Authorize(c.request, c.Verb.Act(), nil); !verdict.Allowed { // asking for another is no way to be told how this one is
			return "", "", declined{chatops.Refusal(c.event.Author, verdict), refusedNote(string(c.Verb), verdict)}
		}
		return d.exists(ctx, c, newest)
	}
	w.Request.Generation = newest.Generation + 1
	w.Actor, w.Key, w.Cause, w.Thread, w.Line = c.event.Author, c.cause, c.cause, c.thread(), c.Line
	if c.event.ID != 0 {
		w.AskedAt = latest(c.event.At, c.pr.UpdatedAt)
		w.OnRefusal = []store.Effect{c.event.reaction(outcome, "confused")}
	}
	if c.DryRun {
		return d.previewByComment(ctx, c, w)
	}
	made, err := d.core.CreateFrom(ctx, w)
	if err != nil {
		return "", "", err
	}
	if made.Row.ID == "" {
		return "", "", declined{note: refusedNote(profile, made.Verdict)}
	}
	return "", fmt.Sprintf("accepted %s as %s", profile, made.Row.ID), d.followUp(ctx, c, made.Row.ID)
}

// previewByComment says what would become of a wish, and keeps nothing of it.
func (d *Service) previewByComment(ctx context.Context, c command, w app.ClusterRequest) (reply, note string, err error) {
	preview, err := d.core.Rehearse(ctx, w)
	if err != nil {
		return "", "", err
	}
	if !preview.Allowed {
		return "", "", declined{chatops.Refusal(c.event.Author, preview.Verdict), refusedNote(w.Request.Profile, preview.Verdict)}
	}
	return chatops.Preview(c.event.Author, preview.Verdict, preview.Forecast), "dry run of " + w.Request.Profile, nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// followUp does what follows for a cluster that a command made; again it changes nothing.
func (d *Service) followUp(ctx context.Context, c command, made string) error {
	if _, err := d.settle(ctx, c.pr.Repo, c.pr.Number, c.event.Author); err != nil {
		return err
	}
	row, err := d.store.Cluster(ctx, made)
	if err != nil {
		return fmt.Errorf("read cluster: %w", err)
	}
	return d.keepNew(ctx, c.pr, c.request, row)
}

// pullRequest is the comment's pull request as last seen, or as it is now; one never seen is asked from GitHub.
func (d *Service) pullRequest(ctx context.Context, e CommentEvent, now bool) (store.PullRequest, error) {
	pr, err := d.store.PullRequest(ctx, e.Repo, e.Number)
	switch {
	case errors.Is(err, store.ErrNotFound):
		pr = store.PullRequest{Installation: e.Installation, Repo: e.Repo, Number: e.Number}
	case err != nil:
		return store.PullRequest{}, fmt.Errorf("read pull request: %w", err)
	}
	pr.Installation = e.Installation // what was installed anew has another number
	if !now && err == nil {
		return pr, nil
	}
	return d.truth(ctx, pr)
}
