package github

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	gh "github.com/google/go-github/v66/github"

	"github.com/ocpctl/ocpctl/chatops"
)

// CommentTarget is a comment that exists or should exist.
type CommentTarget struct {
	Installation int64
	Repo         string // owner/name
	Number       int    // of the pull request
	ExternalID   int64  // the comment's id; 0: unknown
	Sure         bool   // ExternalID is certain, even if it is 0: GitHub is not asked whether an earlier try left a comment
	Marker       string // identifies the comment permanently, e.g. the subscriber's or reply's id
}

// maxBody is the longest body that GitHub accepts, in characters.
const maxBody = 65536

// cut is appended to a body that was too long.
const cut = "\n\n… (cut: longer than GitHub takes)"

// UpsertComment makes the comment show body, in which a mail that quotes it holds no command, and returns its id. With ExternalID 0 it first looks for our comment with the marker, and
// posts only if there is none. ErrGone: the comment was deleted; call again with ExternalID 0.
func (c *Client) UpsertComment(ctx context.Context, t CommentTarget, body string) (int64, error) {
	doing := fmt.Sprintf("comment on %s#%d", t.Repo, t.Number)
	owner, repo, err := splitRepository(t.Repo)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	if t.Marker == "" {
		return 0, fmt.Errorf("%s: no marker", doing)
	}
	mark := markerLine(t.Marker)
	text := &gh.IssueComment{Body: new(truncateText(chatops.Quotable(body), maxBody-utf8.RuneCountInString(mark)-2) + "\n\n" + mark)}
	id := t.ExternalID
	err = c.changeAsInstallation(ctx, t.Installation, func(client *gh.Client, leave func() error) error {
		if id == 0 && !t.Sure {
			login, err := c.OwnLogin(ctx)
			if err != nil {
				return err
			}
			// Edited even if found: the text may have changed since the crash.
			if id, err = findComment(ctx, client, owner, repo, t.Number, login, mark); err != nil {
				return err
			}
		}
		if err := leave(); err != nil {
			return err
		}
		if id != 0 {
			_, _, err := client.Issues.EditComment(ctx, owner, repo, id, text)
			return asGone(err)
		}
		posted, _, err := client.Issues.CreateComment(ctx, owner, repo, t.Number, text)
		id = posted.GetID()
		if hasStatus(err, http.StatusForbidden) {
			return explainLocked(ctx, client, owner, repo, t.Number, err)
		}
		return err
	})
	if err != nil {
		return 0, convertError(doing, err)
	}
	return id, nil
}

// explainLocked returns ErrLocked if GitHub says of a pull request that its conversation is locked, which explains the refusal; otherwise err.
func explainLocked(ctx context.Context, client *gh.Client, owner, repo string, number int, err error) error {
	if pr, _, asked := client.PullRequests.Get(ctx, owner, repo, number); asked != nil || !pr.GetLocked() {
		return err
	}
	return fmt.Errorf("%w: %w: %w", ErrRefused, ErrLocked, err)
}

// findComment looks through the conversation for our newest comment that ends with the mark. Only the end counts: our answers may
// quote what a person typed, and a person may type a mark.
func findComment(ctx context.Context, client *gh.Client, owner, repo string, number int, login, mark string) (int64, error) {
	var found int64
	opts := &gh.IssueListCommentsOptions{ListOptions: gh.ListOptions{PerPage: 100}}
	for {
		page, answer, err := client.Issues.ListComments(ctx, owner, repo, number, opts)
		if err != nil {
			return 0, err
		}
		for _, one := range page {
			if strings.EqualFold(one.GetUser().GetLogin(), login) && strings.HasSuffix(strings.TrimSpace(one.GetBody()), mark) {
				found = max(found, one.GetID())
			}
		}
		if answer.NextPage == 0 {
			return found, nil
		}
		opts.Page = answer.NextPage
	}
}

// React adds a reaction ("eyes", "+1" …) to a comment; repeating it changes nothing. ErrGone: there is no such comment, not even
// after some seconds.
func (c *Client) React(ctx context.Context, installation int64, repo string, commentID int64, content string) error {
	doing := fmt.Sprintf("react to comment %d of %s", commentID, repo)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	// Each try waits for its own turn: others go on in between.
	err = c.retryNotFound(ctx, func() error {
		return c.changeAsInstallation(ctx, installation, func(client *gh.Client, leave func() error) error {
			if err := leave(); err != nil {
				return err
			}
			_, _, err := client.Reactions.CreateIssueCommentReaction(ctx, owner, name, commentID, content)
			return err
		})
	})
	return convertError(doing, asGone(err))
}

const minimizeMutation = `mutation($id: ID!, $classifier: ReportedContentClassifiers!) {
  minimizeComment(input: {subjectId: $id, classifier: $classifier}) { minimizedComment { isMinimized } }
}`

// MinimizeComment hides a comment for a reason (OUTDATED, RESOLVED …), so that readers see it only if they open it; repeating it changes nothing.
// Only GraphQL can do that, by the comment's node id. ErrGone: there is no such comment. ErrRefused: the App may not.
// https://docs.github.com/graphql/reference/mutations#minimizecomment
func (c *Client) MinimizeComment(ctx context.Context, installation int64, repo string, commentID int64, classifier string) error {
	doing := fmt.Sprintf("minimize comment %d of %s", commentID, repo)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	err = c.changeAsInstallation(ctx, installation, func(client *gh.Client, leave func() error) error {
		comment, _, err := client.Issues.GetComment(ctx, owner, name, commentID)
		if err != nil {
			return asGone(err)
		}
		if err := leave(); err != nil {
			return err
		}
		got, err := c.postGraphQL(toMutate(ctx), client, installation, graphRequest{
			Query: minimizeMutation, Variables: map[string]any{"id": comment.GetNodeID(), "classifier": classifier},
		})
		if err != nil || len(got.Errors) == 0 {
			return err
		}
		switch problem := got.Errors[0]; problem.Type {
		case "NOT_FOUND":
			return fmt.Errorf("%w: %w", ErrGone, problem)
		case "FORBIDDEN":
			return fmt.Errorf("%w: %w", ErrRefused, problem)
		default:
			return problem
		}
	})
	return convertError(doing, err)
}

var plainMarker = regexp.MustCompile(`^[A-Za-z0-9_.:/#@]+(-[A-Za-z0-9_.:/#@]+)*$`)

// markerLine is the hidden line that identifies a comment. A name that could end an HTML comment early is hashed.
func markerLine(name string) string {
	if !plainMarker.MatchString(name) {
		name = fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	}
	return "<!-- ocpctl:" + name + " -->"
}

// truncateText cuts a text to at most n characters.
func truncateText(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-utf8.RuneCountInString(cut)]) + cut
}

var fullName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+$`)

// splitRepository splits owner/name. The parts are put into URLs unescaped, so nothing else may pass.
func splitRepository(repo string) (owner, name string, err error) {
	owner, name, _ = strings.Cut(repo, "/")
	if !fullName.MatchString(repo) || name == "." || name == ".." {
		return "", "", fmt.Errorf("%w: repository %q: want owner/name", ErrRefused, repo) // as GitHub would
	}
	return owner, name, nil
}
