package slack

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/createform"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
)

// previewWithin is the time that the first preview may take before the form is shown without one.
const previewWithin = 5 * time.Second

// openForm returns, as an error, the form for a cluster with what is known already filled in. Whoever has no window for it gets a button
// that opens one. Any other error is for people if they may not create clusters.
func (s *Service) openForm(ctx context.Context, r inbound.Request, p policy.Principal, known app.CreateRequest) error {
	return s.openFilled(ctx, r, p, createform.ValuesOf(known))
}

// openFilled is openForm with the content of the form.
func (s *Service) openFilled(ctx context.Context, r inbound.Request, p policy.Principal, values createform.Values) error {
	if err := app.MayForEverybody(p, policy.ActCreate, messages.ToCreateClusters); err != nil {
		return err
	}
	if s.slack == nil {
		return app.Fail(app.Conflict, "Forms are not available here. Create a cluster with `/ocp create PROFILE --name NAME`, or on the web page.")
	}
	f := filled{values: values.ProposeName(s.nameOf(task{by: p}), causeOf(r)), from: r.Channel}
	if isShared(r.Channel) {
		f.post = r.Channel
	}
	soon, cancel := context.WithTimeout(ctx, previewWithin)
	defer cancel()
	view, err := s.createView(soon, p, f, nil)
	if err != nil {
		return err
	}
	return inWindow{blocks.Form(view), blocks.Offer("The form could not be shown: Slack lets it open for three seconds only, or its window was closed. Press the button to open it, or type `/ocp create PROFILE --name NAME`.", "Open the form", openAgain(values))}
}

// changeForm shows what a changed field changes: other choices, the price and the verdict. A change that was followed by another one,
// or by the submission, changes nothing: a late answer never replaces a newer one.
func (s *Service) changeForm(ctx context.Context, r inbound.Request) (note string, err error) {
	if r.View == nil || r.View.Callback != blocks.FormCreate || s.slack == nil {
		return "not a form that changes", nil
	}
	const late = "the form was changed again since"
	if newer, err := s.isFollowed(ctx, r); err != nil || newer {
		return late, err
	}
	p, err := s.identifyRequester(ctx, r)
	var view blocks.FormView
	if err == nil {
		view, err = s.createView(ctx, p, readForm(*r.View), nil)
	}
	if app.KindOf(err) != "" { // they may not create clusters any more, which the submission says
		return "not shown: " + err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	err = s.slack.UpdateForm(ctx, r.View.ID, r.View.Hash, blocks.Form(view))
	if errors.Is(err, slack.ErrGone) { // closed, or changed by the answer to an earlier change, of which this one did not know
		newer, asked := s.isFollowed(ctx, r)
		if asked != nil || newer {
			return late, asked
		}
		err = s.slack.UpdateForm(ctx, r.View.ID, "", blocks.Form(view))
	}
	if errors.Is(err, slack.ErrGone) {
		return "the form was closed", nil
	}
	if errors.Is(err, slack.ErrRefused) { // the submission says more
		return "not shown: " + err.Error(), nil
	}
	return "form updated", err
}

// isFollowed reports whether the person did something else in the same form that is not processed yet.
func (s *Service) isFollowed(ctx context.Context, r inbound.Request) (bool, error) {
	behind, err := s.store.Inbox.Behind(ctx, deliverySource, r.ID)
	if err != nil {
		return false, err
	}
	for _, body := range behind {
		var later inbound.Request
		if json.Unmarshal(body, &later) == nil && later.View != nil && later.View.ID == r.View.ID {
			return true, nil
		}
	}
	return false, nil
}

// deliverySource is the source of Slack's deliveries in the inbox.
const deliverySource = "slack"
