package github

import (
	"context"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	gh "github.com/google/go-github/v66/github"
)

// CommentTarget is a comment that is there or should be.
type CommentTarget struct {
	Installation int64
	Repo         string // owner/name
	Number       int    // of the pull request
	ExternalID   int64  // the comment's id; 0: not known
	Sure         bool   // ExternalID is certain, 0 too: GitHub is not asked whether an earlier try left a comment
	Marker       string // names the comment for ever, e.g. the subscriber's or reply's id
}

// maxBody is the longest body GitHub takes, in characters.
const maxBody = 65536

// cut stands where a body was too long.
const cut = "\n\n… (cut: longer than GitHub takes)"

// UpsertComment makes the comment say body and returns its id. With ExternalID 0 it looks for a comment of ours with
// the marker first and posts only when there is none. ErrGone: the comment was deleted; call again with ExternalID 0.
func (c *Client) UpsertComment(ctx context.Context, t CommentTarget, body string) (int64, error) {
	doing := fmt.Sprintf("comment on %s#%d", t.Repo, t.Number)
	owner, repo, err := split(t.Repo)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	if t.Marker == "" {
		return 0, fmt.Errorf("%s: no marker", doing)
	}
	mark := marker(t.Marker)
	text := &gh.IssueComment{Body: gh.String(fit(body, maxBody-utf8.RuneCountInString(mark)-2) + "\n\n" + mark)}
	id := t.ExternalID
	err = c.change(ctx, t.Installation, func(client *gh.Client, leave func() error) error {
		if id == 0 && !t.Sure {
			login, err := c.OwnLogin(ctx)
			if err != nil {
				return err
			}
			// Found and edited rather than found and left alone: the words may have changed since the crash.
			if id, err = findComment(ctx, client, owner, repo, t.Number, login, mark); err != nil {
				return err
			}
		}
		if err := leave(); err != nil {
			return err
		}
		if id != 0 {
			_, _, err := client.Issues.EditComment(ctx, owner, repo, id, text)
			return goneIf(err)
		}
		posted, _, err := client.Issues.CreateComment(ctx, owner, repo, t.Number, text)
		id = posted.GetID()
		return err
	})
	if err != nil {
		return 0, explain(doing, err)
	}
	return id, nil
}

// findComment looks through the conversation for the newest comment by us that ends with the mark. Only the end counts:
// an answer of ours may quote what a person typed, and a person may type a mark.
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

// React puts a reaction ("eyes", "+1" …) on a comment; doing it twice changes nothing. ErrGone: there is no
// such comment, nor was some seconds later.
func (c *Client) React(ctx context.Context, installation int64, repo string, commentID int64, content string) error {
	doing := fmt.Sprintf("react to comment %d of %s", commentID, repo)
	owner, name, err := split(repo)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	// Each try takes its own turn: others go on while this one waits.
	err = c.settled(ctx, func() error {
		return c.change(ctx, installation, func(client *gh.Client, leave func() error) error {
			if err := leave(); err != nil {
				return err
			}
			_, _, err := client.Reactions.CreateIssueCommentReaction(ctx, owner, name, commentID, content)
			return err
		})
	})
	return explain(doing, goneIf(err))
}

var plainMarker = regexp.MustCompile(`^[A-Za-z0-9_.:/#@]+(-[A-Za-z0-9_.:/#@]+)*$`)

// marker is the hidden line that names a comment. What could end an HTML comment early is hashed.
func marker(name string) string {
	if !plainMarker.MatchString(name) {
		name = fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	}
	return "<!-- ocpctl:" + name + " -->"
}

// fit cuts a text to at most n characters.
func fit(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-utf8.RuneCountInString(cut)]) + cut
}

var fullName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+$`)

// split takes owner/name apart. The parts travel in URLs unescaped, so nothing else may pass.
func split(repo string) (owner, name string, err error) {
	owner, name, _ = strings.Cut(repo, "/")
	if !fullName.MatchString(repo) || name == "." || name == ".." {
		return "", "", fmt.Errorf("%w: repository %q: want owner/name", ErrRefused, repo) // as GitHub would
	}
	return owner, name, nil
}
