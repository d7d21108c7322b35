package slack

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/createform"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// createView returns the form for a cluster with what is filled in. wrong is what a submission was refused for; nil: the form shows
// what would happen if it were submitted now.
func (s *Service) createView(ctx context.Context, p policy.Principal, f filled, wrong []app.Field) (blocks.FormView, error) {
	form, err := s.createForm(p, f.values)
	if err != nil {
		return blocks.FormView{}, err
	}
	v := blocks.FormView{Callback: blocks.FormCreate, Title: messages.CreateFormTitle, Submit: "Create", Metadata: f.formMetadata()}
	if wrong != nil {
		v.Problems = []string{"Nothing was created. Correct the fields below and submit again."}
	} else if v.Preview, wrong, err = s.previewRequest(ctx, p, form.Values()); err != nil {
		return blocks.FormView{}, err
	}
	at, others := form.Blame(wrong)
	for _, field := range form.Fields {
		v.Fields = append(v.Fields, fieldOf(form, field, at[field.Name]))
	}
	label, hint := messages.FormField(postField)
	post := blocks.Field{Name: postField, Label: label, Hint: messages.FieldHint(hint), Kind: blocks.FieldChannel, Value: f.post}
	for _, other := range others {
		text := messages.ProblemText(other.Detail, other.Accept)
		if other.Name == postField {
			post.Problems = append(post.Problems, text)
		} else {
			v.Problems = append(v.Problems, text)
		}
	}
	v.Fields = append(v.Fields, post)
	for _, fact := range form.Locked {
		v.Fixed = append(v.Fixed, blocks.Fact(fact))
	}
	v.Fixed = append(v.Fixed, blocks.Fact{Name: "Tags", Value: strings.Join(createform.RequiredTags, ", ") + " on everything in the cloud, set by ocpctl"})
	return v, nil
}

// createForm returns the form's fields with those profiles that the person may choose.
func (s *Service) createForm(p policy.Principal, v createform.Values) (createform.Form, error) {
	list, unasked, err := s.admin.Profiles(p)
	if err != nil {
		return createform.Form{}, err
	}
	state, err := s.admin.Catalogue(p)
	if err != nil {
		return createform.Form{}, err
	}
	list = slices.DeleteFunc(list, func(one profiles.Profile) bool { return !one.Enabled || one.AdminOnly && !p.MayHoldKeys() })
	if len(list) == 0 {
		return createform.Form{}, app.Fail(app.Conflict, "No profile that you may choose is enabled on this control plane. Ask a platform admin to enable one.")
	}
	if !slices.ContainsFunc(list, func(one profiles.Profile) bool { return one.Name == unasked }) {
		unasked = list[0].Name
	}
	return createform.Of(p, state.Catalogue.Catalogue, list, unasked, v), nil
}

var kinds = map[createform.Kind]blocks.FieldKind{
	createform.Text: blocks.FieldText, createform.Lines: blocks.FieldArea, createform.Choice: blocks.FieldChoice, createform.Choices: blocks.FieldChoices,
}

func fieldOf(form createform.Form, f createform.Field, wrong []app.Field) blocks.Field {
	out := blocks.Field{
		Name: f.Name, Label: f.Label, Hint: messages.FieldHint(f.Hint), Kind: kinds[f.Kind], Value: f.Value, Required: f.Required,
		Live: f.Kind != createform.Lines, // Enter begins a line there
	}
	if basis := basisOf(form, f.Name); basis != "" {
		out.Name += basisMark + basis
	}
	for _, o := range f.Choices {
		option := blocks.Option{Value: o.Value, Text: o.Text}
		if f.Kind == createform.Choices { // Slack cuts what stands beside a box
			option.Text = o.Value
			out.Hint = strings.TrimSuffix(out.Hint, ".") + ".\n" + strings.TrimSuffix(o.Text, ".") + "."
		}
		out.Options = append(out.Options, option)
	}
	if f.Kind == createform.Choices {
		out.Value = strings.ReplaceAll(f.Value, ",", "\n")
	}
	for _, w := range wrong {
		out.Problems = append(out.Problems, messages.ProblemText(w.Detail, w.Accept))
	}
	return out
}

// basisOf returns the value on which a field's choices depend. It is part of the field's id: Slack keeps what was chosen in a field
// while its id stays, even if the new view has other choices and another value for it.
// https://docs.slack.dev/surfaces/modals#updating_views
func basisOf(form createform.Form, name string) string {
	switch name {
	case createform.Region, createform.Version, createform.BaseDomain, createform.Addons, createform.OffHours:
		return form.Profile.Name
	case createform.CostCenter, createform.Environment:
		return form.Field(createform.Team).Value
	}
	return ""
}

// previewRequest judges the values as if they were submitted now: what would happen, and what is wrong. A form without a name yet is judged
// with a made-up one.
func (s *Service) previewRequest(ctx context.Context, p policy.Principal, v createform.Values) (lines []string, wrong []app.Field, err error) {
	request := v.Request(policy.SourceSlack)
	if request.Name == "" {
		request.Name = "preview-" + strings.ToLower(rand.Text()[:8])
	}
	judged, err := s.core.DryRun(ctx, p, request)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return []string{"Judging the request takes longer than usual. The price and the verdict are shown as soon as you change a field."}, nil, nil
	case err != nil:
		wrong, err = problemsOf(err)
		return []string{messages.WouldBeRefused}, wrong, err
	case judged.Allowed:
		return sayFormPreview(judged.Verdict, judged.Forecast), nil, nil
	}
	wrong, err = problemsOf(app.Refused(judged.Verdict, request.Wrong))
	return []string{messages.WouldBeRefused}, wrong, err
}

// problemsOf returns what a service error says is wrong, field by field. Any other error is returned.
func problemsOf(err error) ([]app.Field, error) {
	var said *app.Error
	switch {
	case !errors.As(err, &said):
		return nil, err
	case said.Kind == app.Conflict: // a form is never submitted with the key of another, so this is about the name
		return []app.Field{{Name: createform.Name, Detail: said.Message}}, nil
	case len(said.Fields) == 0:
		return []app.Field{{Detail: said.Message}}, nil
	}
	return said.Fields, nil
}

// sayFormPreview says what would happen to a request that would be accepted: the price, the approval, the queue and when it could be
// ready, a paragraph each.
func sayFormPreview(v policy.Verdict, f lifecycle.Forecast) []string {
	first := "**It would be accepted.**"
	if price := messages.ExpectedPrice(v); price != "" {
		first = "**It would be accepted**: " + price + "."
	}
	lines := []string{first}
	if v.Approval != nil {
		lines = append(lines, "It would need an approval before it starts. "+v.Approval.Text())
	}
	for _, check := range v.Full() {
		lines = append(lines, "It would wait: "+check.Message)
	}
	if expected := chatops.Expected(f); expected != "" {
		lines = append(lines, expected)
	}
	for _, check := range v.Warnings() {
		lines = append(lines, "Note: "+strings.TrimSpace(check.Message+" "+check.Next))
	}
	return lines
}
