package slack

import (
	"context"
	"errors"
	"fmt"
	"strings"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/createform"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// submitForm does what a form was filled in for. The person sees a form that says to wait, until the result replaces it.
func (s *Service) submitForm(ctx context.Context, r inbound.Request) (note string, err error) {
	if r.View == nil || s.slack == nil {
		return "not a form of ocpctl", nil
	}
	p, err := s.identifyRequester(ctx, r)
	if app.KindOf(err) == app.Busy { // the form waits; as an answer it would lose what was entered
		return "", fmt.Errorf("who submitted the form: %s", err.Error())
	}
	if err == nil && len(p.Seats) == 0 {
		err = app.Fail(app.Denied, messages.NoRoleOnSlack)
	}
	if err == nil && r.View.Callback == blocks.FormCreate {
		return s.submitCreate(ctx, r, p)
	}
	if done, err := s.store.Outbox.Answered(ctx, causeOf(r)); err != nil || done { // its process died before the form showed it
		return "answered before", errors.Join(err, s.concludeDone(ctx, r, done))
	}
	if err != nil {
		return s.concludeVerb(ctx, r, slack.Message{}, err)
	}
	return s.submitVerb(ctx, r, p)
}

// concludeDone shows that a submission was done whose answer is in a message.
func (s *Service) concludeDone(ctx context.Context, r inbound.Request, done bool) error {
	if !done {
		return nil
	}
	answer := blocks.Answer(messages.SubmissionDone)
	return s.replaceForm(ctx, r, blocks.Shown(formTitle(r.View.Callback), answer), answer)
}

// submitCreate creates the cluster that the form describes. One submission makes one cluster, however often it comes: the view's hash
// changes whenever the form is shown again, so submitting it again after a refusal is another request.
func (s *Service) submitCreate(ctx context.Context, r inbound.Request, p policy.Principal) (note string, err error) {
	f := readForm(*r.View)
	at := r
	at.Channel = f.post
	place, instead, err := s.choosePlace(ctx, p, at, f.values[createform.Team])
	if kind := app.KindOf(err); kind == app.Denied || kind == app.Busy {
		return s.refuseForm(ctx, r, p, f, &app.Error{Kind: kind, Message: err.Error(), Fields: []app.Field{{Name: postField, Detail: err.Error(), Told: true}}})
	}
	if err != nil {
		return "", err
	}
	where := s.whereShown(ctx, at.Channel, instead)
	request := f.values.Request(policy.SourceSlack)
	request.Show = &place
	request.Once = &store.Once{Key: "slack:" + r.Workspace + ":" + r.View.ID + ":" + r.View.Hash, Request: f.values.Hash()}
	made, err := s.core.Create(ctx, p, request)
	if err == nil && made.Row.ID != "" {
		text := sayFormAccepted(made.Row.Name, where, made.Verdict)
		return "created", s.replaceForm(ctx, r, blocks.Done(messages.CreateFormTitle, text), blocks.Answer(text))
	}
	if err == nil {
		err = app.Refused(made.Verdict, nil)
	}
	return s.refuseForm(ctx, r, p, f, err)
}

// refuseForm shows the form again with everything that was entered, and the problems at their fields.
func (s *Service) refuseForm(ctx context.Context, r inbound.Request, p policy.Principal, f filled, refusal error) (note string, err error) {
	wrong, err := problemsOf(refusal)
	if err != nil {
		return "", err
	}
	view, err := s.createView(ctx, p, f, wrong)
	if err != nil && app.KindOf(err) == "" {
		return "", err
	}
	words := blocks.Answer("The cluster was not created.\n\n- " + strings.Join(problemTexts(wrong), "\n- "))
	form := blocks.Form(view)
	if err != nil { // there is no form for them any more
		form = blocks.Shown(messages.CreateFormTitle, words)
	}
	return "refused: " + strings.Join(problemTexts(wrong), " "), s.replaceForm(ctx, r, form, words)
}

func problemTexts(wrong []app.Field) (texts []string) {
	for _, w := range wrong {
		text := messages.ProblemText(w.Detail, w.Accept)
		if label, _ := messages.FormField(w.Name); label != "" {
			text = "**" + label + "**: " + text
		}
		texts = append(texts, text)
	}
	return texts
}

// replaceForm replaces the form that says to wait. If it was closed meanwhile, or Slack does not let it be replaced, the person gets the
// answer in words.
func (s *Service) replaceForm(ctx context.Context, r inbound.Request, view api.ModalViewRequest, words slack.Message) error {
	err := s.slack.UpdateForm(ctx, r.View.ID, "", view)
	if errors.Is(err, slack.ErrGone) || errors.Is(err, slack.ErrRefused) {
		if from := readForm(*r.View).from; r.Channel == "" && isShared(from) {
			r.Channel = from
		}
		err = s.saveAnswer(ctx, r, words)
	}
	if err != nil {
		return fmt.Errorf("show the result of a form: %w", err)
	}
	return nil
}

// whereShown says where a cluster's message is.
func (s *Service) whereShown(ctx context.Context, channel string, instead messages.Instead) string {
	if instead != "" || !isShared(channel) {
		return sayShownDirectly(instead)
	}
	known, err := s.slack.Channel(ctx, channel)
	if err != nil { // only its name is missing
		return messages.ShownIn("")
	}
	return messages.ShownIn(known.Name)
}

// sayFormAccepted says what a form led to. where is one of the two texts below.
func sayFormAccepted(name, where string, v policy.Verdict) string {
	text := fmt.Sprintf("%s is accepted. Its message is %s and shows the progress.", chatops.Code(name), where)
	if v.Approval != nil {
		text += " It starts when it is approved."
	}
	if len(v.Waits) > 0 {
		text += " It waits in the queue, because a quota is full."
	}
	for _, check := range v.Warnings() {
		text += " " + check.Message
	}
	return text
}

// sayShownDirectly says that direct messages show a cluster, and whether a channel was chosen in which ocpctl is not a member.
func sayShownDirectly(instead messages.Instead) string {
	if instead == messages.InsteadNotMember {
		return "in your direct messages with ocpctl, because ocpctl is not a member of the channel that you chose,"
	}
	return "in your direct messages with ocpctl"
}
