package blocks

import (
	api "github.com/slack-go/slack"
)

// The forms, by the callback id of their submission.
const (
	FormCreate   = "create"
	FormReason   = "reason"
	FormExtend   = "extend"
	FormShare    = "share"
	FormTransfer = "transfer"
)

// FormView is a form that opens as a modal.
type FormView struct {
	Callback, Title, Submit string
	Fields                  []Field
	Fixed                   []Fact   // what the profile has decided
	Preview, Problems       []string // what would happen, and what is wrong; in GitHub's Markdown
	Metadata                string   // comes back with the submission
}

// Fact is a name with its value.
type Fact struct{ Name, Value string }

// FieldKind is how a field is filled in.
type FieldKind string

// The kinds of fields.
const (
	FieldText    FieldKind = "text"
	FieldArea    FieldKind = "area" // several lines
	FieldChoice  FieldKind = "choice"
	FieldChoices FieldKind = "choices" // several of the options; its value has one per line
	FieldCheck   FieldKind = "check"   // yes or no; its value is "true" or empty
	FieldChannel FieldKind = "channel" // a channel's id
	FieldPerson  FieldKind = "person"  // a person's id
)

// Field is one field of a form. Its name is its block's and its action's id.
type Field struct {
	Name, Label, Hint string
	Kind              FieldKind
	Value             string
	Options           []Option
	Required          bool
	Live              bool     // a change is sent at once, so that the preview can follow
	Problems          []string // what is wrong with its value
}

// Option is one that can be chosen.
type Option struct{ Value, Text string }

// Form is a form as a modal.
func Form(v FormView) api.ModalViewRequest {
	m := Done(v.Title, "…")
	m.CallbackID, m.PrivateMetadata = v.Callback, v.Metadata
	return m
}

// Working is the modal that is shown while a submission is judged.
func Working(title string) api.ModalViewRequest { return Done(title, "One moment, please.") }

// Done is the modal that says what a submission led to.
func Done(title, markdown string) api.ModalViewRequest {
	return api.ModalViewRequest{
		Type: api.VTModal, Title: api.NewTextBlockObject(api.PlainTextType, title, false, false),
		Blocks: api.Blocks{BlockSet: []api.Block{api.NewSectionBlock(api.NewTextBlockObject(api.MarkdownType, Answer(markdown).Text, false, false), nil, nil)}},
	}
}
