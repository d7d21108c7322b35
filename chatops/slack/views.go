package slack

import (
	"context"

	api "github.com/slack-go/slack"
)

// OpenForm opens a form for whoever caused the trigger, which lives for three seconds, and returns the form's id. ErrExpired: it is
// too late, or the trigger was used before.
func (c *Client) OpenForm(ctx context.Context, trigger string, form api.ModalViewRequest) (id string, err error) {
	opened, err := c.api.OpenViewContext(ctx, trigger, form)
	if err != nil {
		return "", explainError("open a form", err, ofTrigger)
	}
	return opened.ID, nil
}

// ReplaceWindow replaces an open form by the external id that it was opened with. ErrGone: there is none, or it was closed.
func (c *Client) ReplaceWindow(ctx context.Context, external string, form api.ModalViewRequest) error {
	_, err := c.api.UpdateViewContext(ctx, form, external, "", "")
	return explainError("replace the form "+external, err, ofView)
}

// UpdateForm replaces an open form; with a hash only if nobody replaced it since. ErrGone: it was closed or replaced.
func (c *Client) UpdateForm(ctx context.Context, id, hash string, form api.ModalViewRequest) error {
	_, err := c.api.UpdateViewContext(ctx, form, "", hash, id)
	return explainError("update the form "+id, err, ofView)
}

// ShowHome replaces a person's App Home. ErrNever: there is no such person.
func (c *Client) ShowHome(ctx context.Context, person string, home api.HomeTabViewRequest) error {
	_, err := c.api.PublishViewContext(ctx, api.PublishViewContextRequest{UserID: person, View: home})
	return explainError("show the App Home of "+person, err, ofPerson)
}
