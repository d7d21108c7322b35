package pulls

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// Place is where on a pull request somebody wrote. GitHub counts the ids of each place anew.
type Place string

// The places.
const (
	InConversation Place = "comment"
	InReview       Place = "review"         // about the whole of a review
	InCode         Place = "review_comment" // at a line
)

// CommentEvent is one comment on a pull request, or one review.
type CommentEvent struct {
	Installation int64
	Repo         string // owner/name
	Number       int
	ID           int64
	Place        Place  // empty: InConversation
	Author       string // login
	AuthorID     int64  // GitHub's id of the author, which a renaming does not change
	Bot          bool
	Action       string // created, edited, deleted
	Body         string
	At           time.Time // when it was written, by GitHub's clock; zero: unknown
}

// Comment does what the commands in a comment ask for and replies, once per comment and line. It ignores bots, edited comments
// and comments without a command.
func (s *Service) Comment(ctx context.Context, e CommentEvent) (note string, err error) {
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
	if note, err := s.noteIfAnsweredEnough(ctx, e); note != "" || err != nil {
		return note, err
	}
	if err := s.reactTo(ctx, e, "seen", "eyes"); err != nil {
		return "", err
	}
	pr, err := s.pullRequest(ctx, e, slices.ContainsFunc(lines, needsPresent))
	if err != nil {
		return "", s.endUnanswered(ctx, e, err)
	}
	request, err := s.newRequest(ctx, policy.SourceComment, pr, e.actorOf())
	if err != nil {
		return "", s.endUnanswered(ctx, e, err)
	}
	s.countAnswer(e, request, len(lines)+2)
	if note, err = s.runLines(ctx, e, pr, request, lines); err != nil {
		return "", err
	}
	return note, s.reactTo(ctx, e, outcome, "+1") // has no effect after a line that failed: that one has reacted already
}

// runLines runs the lines of one comment in their order. Nothing is posted before the last line was run, so that all answers stand in one
// comment from the beginning, also one with a link, whose stored text loses the link once it was posted.
func (s *Service) runLines(ctx context.Context, e CommentEvent, pr pullrequests.PullRequest, request policy.Request, lines []chatops.Parsed) (note string, err error) {
	if len(lines) > 1 {
		if err := s.store.Outbox.HoldThread(ctx, e.keyOfComment()); err != nil {
			return "", err
		}
	}
	var notes []string
	for i, line := range lines {
		c := command{event: e, pr: pr, request: request, cause: causeOfLine(e, i, line.Line), siblings: len(lines), Command: chatops.Command{Line: line.Line}}
		if line.Command != nil {
			c.Command = line.Command.For(s.core.ProfileNames())
		}
		said, err := s.runLine(ctx, c, line)
		if err != nil {
			return "", err
		}
		notes = append(notes, said)
	}
	if len(lines) > 1 {
		err = s.store.Outbox.ReleaseThread(ctx, e.keyOfComment())
	}
	return strings.Join(notes, "; "), err
}

// CommentGivenUp tells the author of a comment with commands that they are not tried any more. Commands that were done before
// have their own answer.
func (s *Service) CommentGivenUp(ctx context.Context, e CommentEvent, why error) error {
	if e.Action != "created" || e.Bot || len(chatops.Parse(e.Body)) == 0 {
		return nil
	}
	pr := pullrequests.PullRequest{Installation: e.Installation, Repo: e.Repo, Number: e.Number}
	if err := s.replyOnce(ctx, pr, "given up:"+e.keyOfComment(), messages.GivenUp(e.Author, asRefusal(why))); err != nil {
		return err
	}
	return s.reactTo(ctx, e, outcome, "confused")
}

// needsPresent reports whether a line needs the pull request's current state instead of the last one seen: what is created or
// approved is for its newest commit.
func needsPresent(line chatops.Parsed) bool {
	c := line.Command
	return c != nil && slices.Contains([]chatops.Verb{chatops.VerbCreate, chatops.VerbApprove, chatops.VerbRetry}, c.Verb)
}

// outcome is the kind of reaction that shows the result: a comment gets one.
const outcome = "outcome"

// reactTo asks for a reaction to a comment. Only the first of its kind counts. A review gets none: GitHub's REST API has no reactions to it,
// and the answer to what was written at a line stands in the conversation, as all answers do.
func (s *Service) reactTo(ctx context.Context, e CommentEvent, kind, reaction string) error {
	if !e.inConversation() {
		return nil
	}
	err := s.store.Outbox.SaveEffect(ctx, e.reactionEffect(kind, reaction))
	if err != nil {
		return fmt.Errorf("react: %w", err)
	}
	return nil
}

// keyOfComment identifies what was written.
func (e CommentEvent) keyOfComment() string {
	return fmt.Sprintf("%s:%d", cmp.Or(e.Place, InConversation), e.ID)
}

func (e CommentEvent) inConversation() bool { return cmp.Or(e.Place, InConversation) == InConversation }

func (e CommentEvent) reactionEffect(kind, reaction string) clusters.Effect {
	return clusters.Effect{
		Cause: fmt.Sprintf("react:%s:%s", kind, e.keyOfComment()), Kind: outbox.EffectReact,
		Installation: e.Installation, Repo: e.Repo, Number: e.Number, Target: e.ID, Content: reaction,
	}
}

// causeOfLine identifies one line of one comment: reading it again gives the same value, and another line gives another.
func causeOfLine(e CommentEvent, i int, line string) string {
	sum := sha256.Sum256([]byte(e.Author + "\n" + line))
	return fmt.Sprintf("%s:%d:%x", e.keyOfComment(), i, sum[:4])
}

// command is one line of a comment, a click or a workflow's request on its way through the service.
type command struct {
	event    CommentEvent // ID is 0 if it is not a comment
	pr       pullrequests.PullRequest
	request  policy.Request
	cause    string
	by       string // how it was given, as text; empty: in a comment
	siblings int    // how many commands its comment has
	chatops.Command
}

// declined is a refusal whose reply is more than its message.
type declined struct{ reply, note string }

// Error implements error. It returns the note for the delivery.
func (d declined) Error() string { return d.note }

// runLine runs one line of a comment.
func (s *Service) runLine(ctx context.Context, c command, line chatops.Parsed) (note string, err error) {
	return s.runOnce(ctx, c, func(c command) (string, string, error) {
		if line.Command == nil {
			return "", "", declined{line.Reply, "answered"}
		}
		return s.dispatchCommand(ctx, c)
	})
}

// runOnce runs a command and saves its answer. People's mistakes become answers; only what may pass by itself is an error. A
// command that was answered is done: a comment is read again if its process died between two of its lines.
func (s *Service) runOnce(ctx context.Context, c command, do func(command) (reply, note string, err error)) (note string, err error) {
	made, err := s.store.Made(ctx, c.request.Principal.ID, c.cause)
	if err != nil {
		return "", err
	}
	if made != "" { // the process may have died before it did the rest
		return "accepted before as " + made, s.followUp(ctx, c, made)
	}
	done, err := s.store.Outbox.Answered(ctx, c.cause)
	if err != nil || done {
		return "answered before", err
	}
	body, note, err := do(c)
	var said *app.Error
	var addressed addressedError
	var no declined
	switch {
	case errors.As(err, &addressed):
		body, note = chatops.Said(addressed.Error(), c.event.Author), string(c.Verb)+": "+addressed.Error()
	case errors.As(err, &said):
		body, note = chatops.Said(addressTo(c.event.Author, said.Message), c.event.Author), string(c.Verb)+": "+said.Message
	case errors.As(err, &no):
		body, note = no.reply, no.note
	case err != nil:
		return "", fmt.Errorf("%s: %w", c.Verb, err)
	}
	if err != nil && c.event.ID != 0 {
		if err := s.reactTo(ctx, c.event, outcome, "confused"); err != nil {
			return "", err
		}
	}
	if body == "" {
		return note, nil
	}
	if err := s.store.Outbox.SaveReply(ctx, c.replyWith(body)); err != nil {
		return "", fmt.Errorf("answer: %w", err)
	}
	return note, nil
}

// addressedError is an error whose message is addressed to the commenter already.
type addressedError struct{ of *app.Error }

func (e addressedError) Error() string { return e.of.Message }
func (e addressedError) Unwrap() error { return e.of }

// failTo returns an error whose message begins with the commenter's name.
func failTo(kind app.Kind, message string) error {
	return addressedError{&app.Error{Kind: kind, Message: message}}
}

// addressTo addresses a message to the commenter.
func addressTo(login, message string) string { return "@" + login + ": " + message }

// replyWith returns the command's reply, which is posted once.
func (c command) replyWith(body string) clusters.Reply {
	return clusters.Reply{
		Cause: c.cause, Thread: c.replyThread(), Installation: c.pr.Installation, Repo: c.pr.Repo, Number: c.pr.Number,
		Body: chatops.Answer(c.Line, body),
	}
}

// replyThread returns the comment in which the reply stands: together with those to the comment's other lines. Empty: there is no comment.
func (c command) replyThread() string {
	if c.event.ID == 0 {
		return ""
	}
	return c.event.keyOfComment()
}

// dispatchCommand runs the command's use case. It returns the reply for the pull request (empty: the cluster's own comment shows the
// result) and a note for the delivery.
func (s *Service) dispatchCommand(ctx context.Context, c command) (reply, note string, err error) {
	switch c.Verb {
	case chatops.VerbCreate:
		return s.createByComment(ctx, c)
	case chatops.VerbHelp:
		if about := chatops.HelpAbout(c.Topic); about != "" {
			return about, "help", nil
		}
		names, err := s.listOffered(ctx, c)
		return chatops.Help(names...), "help", err
	case chatops.VerbLink:
		return s.linkByComment(ctx, c)
	}
	if verdict := policy.Authorize(c.request, c.Verb.Act(), nil); !verdict.Allowed {
		return "", "", declined{chatops.Refusal(c.event.Author, verdict), refusalNote(string(c.Verb), verdict)}
	}
	if do, ok := map[chatops.Verb]func(context.Context, command) (string, string, error){
		chatops.VerbStatus: s.statusByComment, chatops.VerbList: s.statusByComment, chatops.VerbExplain: s.explainByComment,
		chatops.VerbExtend: s.extendByComment, chatops.VerbDestroy: s.destroyByComment,
		chatops.VerbApprove: s.voteByComment, chatops.VerbRefuse: s.voteByComment,
		chatops.VerbLogs: s.logsByComment, chatops.VerbKubeconfig: s.accessByComment, chatops.VerbConsole: s.accessByComment,
		chatops.VerbScale: s.scaleByComment, chatops.VerbRefresh: s.refreshByComment, chatops.VerbHold: s.holdByComment,
		chatops.VerbSleep: s.sleepByComment, chatops.VerbWake: s.wakeByComment,
		chatops.VerbShare: s.shareByComment, chatops.VerbRetry: s.retryByComment,
	}[c.Verb]; ok {
		return do(ctx, c)
	}
	return "", "", declined{fmt.Sprintf("`/ocp %s` does nothing here.\n\n%s", c.Verb, chatops.Help(s.core.ProfileNames()...)), "nothing"}
}

func (s *Service) createByComment(ctx context.Context, c command) (reply, note string, err error) {
	w, err := s.toClusterRequest(ctx, c.request, c.pr)
	if err != nil {
		return "", "", err
	}
	r := &w.Request
	r.Profile, r.Name, r.Region, r.Version, r.Team, r.TTL = c.Profile, c.Name, c.Region, c.Version, c.Team, c.TTL
	r.OffHours, r.Pool, r.Account = c.OffHours, c.Pool, c.Account
	if r.TTL == 0 {
		r.TTL = ttlFromLabels(c.pr.Labels)
	}
	if r.Profile, err = s.profileOf(ctx, *r); err != nil {
		return "", "", err
	}
	return s.createOnce(ctx, c, w)
}

// createOnce requests a cluster of a profile unless the pull request has one.
func (s *Service) createOnce(ctx context.Context, c command, w app.ClusterRequest) (reply, note string, err error) {
	profile := w.Request.Profile
	if !c.pr.Open {
		return "", "", app.Fail(app.Conflict, messages.PullRequestClosed(c.pr.Repo, c.pr.Number))
	}
	newest, err := s.store.ClusterForPR(ctx, c.pr.Repo, c.pr.Number, profile)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return "", "", fmt.Errorf("look for the cluster of %s: %w", profile, err)
	}
	if newest.ID != "" && newest.Desired == lifecycle.Present {
		if verdict := policy.Authorize(c.request, c.Verb.Act(), nil); !verdict.Allowed { // a create must not reveal the state of a cluster that the author may not see
			return "", "", declined{chatops.Refusal(c.event.Author, verdict), refusalNote(string(c.Verb), verdict)}
		}
		return s.showStatus(ctx, c, newest)
	}
	w.Request.Generation = newest.Generation + 1
	w.Actor, w.Key, w.Cause, w.Thread, w.Line = c.event.Author, c.cause, c.cause, c.replyThread(), c.Line
	if c.event.ID != 0 {
		w.AskedAt = latestOf(c.event.At, c.pr.UpdatedAt)
	}
	if c.event.ID != 0 && c.event.inConversation() {
		w.OnRefusal = []clusters.Effect{c.event.reactionEffect(outcome, "confused")}
	}
	if c.DryRun {
		return s.previewByComment(ctx, c, w)
	}
	made, err := s.core.CreateFrom(ctx, w)
	if err != nil {
		return "", "", err
	}
	if made.Row.ID == "" {
		return "", "", declined{note: refusalNote(profile, made.Verdict)}
	}
	return "", fmt.Sprintf("accepted %s as %s", profile, made.Row.ID), s.followUp(ctx, c, made.Row.ID)
}

// previewByComment replies with the expected result of a request, and stores nothing else.
func (s *Service) previewByComment(ctx context.Context, c command, w app.ClusterRequest) (reply, note string, err error) {
	preview, err := s.core.Rehearse(ctx, w)
	if err != nil {
		return "", "", err
	}
	if !preview.Allowed {
		return "", "", declined{chatops.Refusal(c.event.Author, preview.Verdict), refusalNote(w.Request.Profile, preview.Verdict)}
	}
	return chatops.Preview(c.event.Author, preview.Verdict, preview.Forecast), "dry run of " + w.Request.Profile, nil
}

func latestOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// followUp does what follows after a command created a cluster. A second call changes nothing.
func (s *Service) followUp(ctx context.Context, c command, made string) error {
	if _, err := s.settlePull(ctx, c.pr.Repo, c.pr.Number, c.event.actorOf()); err != nil {
		return err
	}
	row, err := s.store.Cluster(ctx, made)
	if err != nil {
		return fmt.Errorf("read cluster: %w", err)
	}
	return s.keepNew(ctx, c.pr, c.request, row)
}

// pullRequest returns the comment's pull request as last seen or, with now or if it was never seen, as GitHub has it.
func (s *Service) pullRequest(ctx context.Context, e CommentEvent, now bool) (pullrequests.PullRequest, error) {
	pr, err := s.store.PullRequests.PullRequest(ctx, e.Repo, e.Number)
	switch {
	case errors.Is(err, db.ErrNotFound):
		pr = pullrequests.PullRequest{Installation: e.Installation, Repo: e.Repo, Number: e.Number}
	case err != nil:
		return pullrequests.PullRequest{}, fmt.Errorf("read pull request: %w", err)
	}
	pr.Installation = e.Installation // a new installation has another id
	if !now && err == nil {
		return pr, nil
	}
	return s.askTruth(ctx, pr)
}
