package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/ocpctl/ocpctl/chatops"
)

// AddLabel adds a label to a pull request; repeating it changes nothing. ErrNotFound: no such pull request.
func (c *Client) AddLabel(ctx context.Context, installation int64, repo string, number int, label string) error {
	doing := fmt.Sprintf("put the label %q on %s#%d", label, repo, number)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return convertError(doing, c.changeAsInstallation(ctx, installation, func(client *gh.Client, leave func() error) error {
		if err := leave(); err != nil {
			return err
		}
		// Built by hand: go-github sends a bare list, which GitHub's API description no longer allows.
		req, err := client.NewRequest("POST", fmt.Sprintf("repos/%s/%s/issues/%d/labels", owner, name, number), map[string][]string{"labels": {label}})
		if err != nil {
			return err
		}
		_, err = client.Do(ctx, req, nil)
		return err
	}))
}

// RemoveLabel removes a label from a pull request. A missing label or pull request is no error.
func (c *Client) RemoveLabel(ctx context.Context, installation int64, repo string, number int, label string) error {
	doing := fmt.Sprintf("take the label %q off %s#%d", label, repo, number)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	err = c.changeAsInstallation(ctx, installation, func(client *gh.Client, leave func() error) error {
		if err := leave(); err != nil {
			return err
		}
		_, err := client.Issues.RemoveLabelForIssue(ctx, owner, name, number, url.PathEscape(label))
		return asGone(err)
	})
	if errors.Is(err, ErrGone) {
		return nil
	}
	return convertError(doing, err)
}

// EnsureLabels makes the repository's labels match the given ones and leaves all others alone. It returns the names that it created
// and changed, also with an error; called again, it continues.
func (c *Client) EnsureLabels(ctx context.Context, installation int64, repo string, labels []chatops.Label) (made, changed []string, err error) {
	doing := "make the labels of " + repo
	owner, name, err := splitRepository(repo)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", doing, err)
	}
	w := labelWriter{owner: owner, repo: name}
	err = c.changeAsInstallation(ctx, installation, func(client *gh.Client, leave func() error) error {
		w.client, w.leave = client, leave
		return w.writeLabels(ctx, labels)
	})
	return w.made, w.changed, convertError(doing, err)
}

type labelWriter struct {
	client        *gh.Client
	leave         func() error
	owner, repo   string
	made, changed []string
}

func (w *labelWriter) writeLabels(ctx context.Context, labels []chatops.Label) error {
	have, err := w.readLabels(ctx)
	if err != nil {
		return err
	}
	for _, l := range labels {
		known, ok := have[strings.ToLower(l.Name)]
		switch {
		case !ok:
			err = w.createLabel(ctx, l)
		case !strings.EqualFold(known.GetColor(), l.Color) || known.GetDescription() != l.Description:
			err = w.repairLabel(ctx, known.GetName(), l)
		}
		if err != nil {
			return fmt.Errorf("label %q: %w", l.Name, err)
		}
	}
	return nil
}

// readLabels reads the repository's labels by lowercase name: GitHub ignores case in label names.
func (w *labelWriter) readLabels(ctx context.Context) (map[string]*gh.Label, error) {
	labels, err := allPages(func(page gh.ListOptions) ([]*gh.Label, *gh.Response, error) {
		return w.client.Issues.ListLabels(ctx, w.owner, w.repo, &page)
	})
	out := make(map[string]*gh.Label, len(labels))
	for _, one := range labels {
		out[strings.ToLower(one.GetName())] = one
	}
	return out, err
}

func (w *labelWriter) createLabel(ctx context.Context, l chatops.Label) error {
	if err := w.leave(); err != nil {
		return err
	}
	_, _, err := w.client.Issues.CreateLabel(ctx, w.owner, w.repo, &gh.Label{Name: &l.Name, Color: &l.Color, Description: &l.Description})
	if alreadyExists(err) {
		return nil // another process created it first; its colour is compared next time
	}
	if err == nil {
		w.made = append(w.made, l.Name)
	}
	return err
}

func (w *labelWriter) repairLabel(ctx context.Context, known string, l chatops.Label) error {
	if err := w.leave(); err != nil {
		return err
	}
	_, _, err := w.client.Issues.EditLabel(ctx, w.owner, w.repo, url.PathEscape(known), &gh.Label{Color: &l.Color, Description: &l.Description})
	if err == nil {
		w.changed = append(w.changed, l.Name)
	}
	return err
}

func alreadyExists(err error) bool {
	var refused *gh.ErrorResponse
	if !errors.As(err, &refused) {
		return false
	}
	for _, e := range refused.Errors {
		if e.Code == "already_exists" {
			return true
		}
	}
	return false
}
