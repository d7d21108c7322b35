package blocks

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/slack"
)

// The forms, by the callback id of their submission.
const (
	FormCreate   = "create"
	FormReason   = "reason"
	FormShare    = "share"
	FormTransfer = "transfer"
)

// FormView is a form that opens as a modal.
type FormView struct {
	Callback, Title, Submit string
	Fields                  []Field
	Fixed                   []Fact   // what nobody can choose
	Preview, Problems       []string // what would happen, and what is wrong; in GitHub's Markdown
	Metadata                string   // comes back with the submission; at most 3,000 characters
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

// Slack's limits of menus.
const (
	maxOptions     = 100
	maxBoxes       = 10
	maxOption      = 75 // characters of its text
	maxValue       = 150
	maxLabel       = 2000
	maxPlaceholder = 150
)

// Form is a form as a modal. An option with an empty value cannot be chosen in Slack: its text stands where nothing is chosen yet.
func Form(v FormView) api.ModalViewRequest {
	m := newModal(v.Title)
	m.CallbackID, m.PrivateMetadata, m.Submit = v.Callback, v.Metadata, plainText(cmp.Or(v.Submit, "Submit"), maxTitle)
	m.Close = plainText("Cancel", maxTitle)
	var blocks []api.Block
	if len(v.Problems) > 0 {
		blocks = fitBlocks(sectionBlocks("⚠️ "+strings.Join(v.Problems, "\n⚠️ ")), 5)
	}
	if preview := sectionBlocks(v.Preview...); len(preview) > 0 { // first, because Slack scrolls no form when it changes
		blocks = append(append(blocks, preview...), dividerBlock())
	}
	for _, f := range v.Fields {
		blocks = append(blocks, inputBlock(f))
		if len(f.Problems) > 0 {
			blocks = append(blocks, contextOf("⚠️ "+chatops.Plain(strings.Join(f.Problems, " "))))
		}
	}
	blocks = append(blocks, constantFacts(v.Fixed)...)
	m.Blocks.BlockSet = fitBlocks(blocks, maxView)
	return m
}

// constantFacts are the facts that nobody can change in the form.
func constantFacts(facts []Fact) []api.Block {
	var safe []Fact
	for _, f := range facts {
		safe = append(safe, Fact{f.Name, chatops.Plain(f.Value)})
	}
	if blocks := factFields(safe...); len(blocks) > 0 {
		return append(append([]api.Block{dividerBlock()}, sectionBlocks("**Cannot be changed here**")...), blocks...)
	}
	return nil
}

func newModal(title string) api.ModalViewRequest {
	return api.ModalViewRequest{Type: api.VTModal, Title: plainText(title, maxTitle)}
}

// inputBlock is the block of a field.
func inputBlock(f Field) api.Block {
	b := api.NewInputBlock(f.Name, plainText(f.Label, maxLabel), nil, inputElement(f))
	b.Optional, b.DispatchAction = !f.Required, f.Live
	if strings.TrimSpace(f.Hint) != "" {
		b.Hint = bareLines(f.Hint, maxLabel)
	}
	return b
}

// inputElement is what a field is filled in with.
func inputElement(f Field) api.BlockElement {
	switch f.Kind {
	case FieldChoice:
		return selectMenu(f)
	case FieldChoices:
		return boxesOrMenu(f)
	case FieldChannel:
		s := api.NewOptionsSelectBlockElement(api.OptTypeConversations, nil, f.Name)
		s.InitialConversation, s.DefaultToCurrentConversation = f.Value, f.Value == ""
		return s
	case FieldPerson:
		s := api.NewOptionsSelectBlockElement(api.OptTypeUser, nil, f.Name)
		s.InitialUser = f.Value
		return s
	}
	t := api.NewPlainTextInputBlockElement(nil, f.Name)
	t.Multiline, t.MaxLength = f.Kind == FieldArea, maxInput
	t.InitialValue = strings.ToValidUTF8(f.Value, "")
	for slack.Length(t.InitialValue) > maxInput {
		_, last := utf8.DecodeLastRuneInString(t.InitialValue)
		t.InitialValue = t.InitialValue[:len(t.InitialValue)-last]
	}
	if f.Live {
		t.DispatchActionConfig = &api.DispatchActionConfig{TriggerActionsOn: []string{"on_enter_pressed"}}
	}
	return t
}

// selectMenu is a field with one of several options.
func selectMenu(f Field) api.BlockElement {
	options, chosen := optionsOf(f.Options, []string{f.Value}, maxOptions)
	s := api.NewOptionsSelectBlockElement(api.OptTypeStatic, nothingChosen(f), f.Name, options...)
	if len(chosen) > 0 {
		s.InitialOption = chosen[0]
	}
	return s
}

// boxesOrMenu is a field with any of several options: boxes to tick if they are few, otherwise a menu.
func boxesOrMenu(f Field) api.BlockElement {
	options, chosen := optionsOf(f.Options, strings.Split(f.Value, "\n"), maxOptions)
	if len(options) > maxBoxes {
		m := api.NewOptionsMultiSelectBlockElement(api.MultiOptTypeStatic, nothingChosen(f), f.Name, options...)
		m.InitialOptions = chosen
		return m
	}
	boxes := api.NewCheckboxGroupsBlockElement(f.Name, options...)
	boxes.InitialOptions = chosen
	return boxes
}

// nothingChosen is what a menu shows while nothing is chosen.
func nothingChosen(f Field) *api.TextBlockObject {
	for _, o := range f.Options {
		if o.Value == "" && o.Text != "" {
			return plainText(o.Text, maxPlaceholder)
		}
	}
	return plainText("Choose", maxPlaceholder)
}

// optionsOf are the options that Slack can offer, and those of them that are chosen. There is always one, as Slack demands.
func optionsOf(all []Option, values []string, most int) (options, chosen []*api.OptionBlockObject) {
	seen := map[string]bool{"": true}
	for _, o := range all {
		if seen[o.Value] || slack.Length(o.Value) > maxValue || len(options) == most {
			continue
		}
		seen[o.Value] = true
		option := api.NewOptionBlockObject(o.Value, plainText(cmp.Or(o.Text, o.Value), maxOption), nil)
		options = append(options, option)
		if slices.Contains(values, o.Value) {
			chosen = append(chosen, option)
		}
	}
	if len(options) == 0 {
		options = append(options, api.NewOptionBlockObject("none", plainText("There is nothing to choose", maxOption), nil))
	}
	return options, chosen
}

// Working is the modal that is shown while a submission is judged.
func Working(title string) api.ModalViewRequest {
	return Done(title, "Your request is being checked. This takes a few seconds. You can close this window: the answer comes as a message then.")
}

// Opening is the modal that is shown until it is known what it shows.
func Opening(title string) api.ModalViewRequest {
	return Done(title, "One moment: this window is being prepared. If nothing else appears here within a minute, close it and try again.")
}

// Done is the modal that says what a submission led to, in GitHub's Markdown.
func Done(title, markdown string) api.ModalViewRequest {
	m := newModal(title)
	m.Close = plainText("Close", maxTitle)
	m.Blocks.BlockSet = fitBlocks(sectionBlocks(cmp.Or(markdown, "Done.")), maxView)
	return m
}
