// Package blockstest shows blocks of Block Kit to people who read golden files.
package blockstest

import (
	"fmt"
	"strings"

	api "github.com/slack-go/slack"
)

// Readable writes blocks for a person to read.
func Readable(blocks []api.Block) string {
	var b strings.Builder
	for _, block := range blocks {
		switch block := block.(type) {
		case *api.HeaderBlock:
			fmt.Fprintf(&b, "# %s\n", block.Text.Text)
		case *api.SectionBlock:
			if block.Text != nil {
				fmt.Fprintf(&b, "%s\n", block.Text.Text)
			}
			for _, f := range block.Fields {
				fmt.Fprintf(&b, "| %s\n", strings.Replace(f.Text, "\n", " ", 1))
			}
			if block.Accessory != nil {
				b.WriteString(readElement(block.Accessory.ButtonElement))
			}
		case *api.ContextBlock:
			for _, e := range block.ContextElements.Elements {
				fmt.Fprintf(&b, "~ %s\n", e.(*api.TextBlockObject).Text)
			}
		case *api.ActionBlock:
			for _, e := range block.Elements.ElementSet {
				b.WriteString(readElement(e))
			}
		case *api.InputBlock:
			fmt.Fprintf(&b, "%s (%s)", block.Label.Text, block.BlockID)
			if block.Hint != nil {
				fmt.Fprintf(&b, " — %s", block.Hint.Text)
			}
			b.WriteString("\n" + readElement(block.Element))
		case *api.DividerBlock:
			b.WriteString("----\n")
		}
	}
	return b.String()
}

func readElement(e api.BlockElement) string {
	switch e := e.(type) {
	case *api.ButtonBlockElement:
		text := fmt.Sprintf("[%s] %s %s %s", e.Text.Text, e.Style, e.ActionID, e.Value)
		if e.Confirm != nil {
			text += fmt.Sprintf(" (%s %s [%s] [%s])", e.Confirm.Title.Text, e.Confirm.Text.Text, e.Confirm.Confirm.Text, e.Confirm.Deny.Text)
		}
		return text + "\n"
	case *api.SelectBlockElement:
		text := fmt.Sprintf("  %s: %s%s", e.Type, e.InitialConversation, e.InitialUser)
		return text + readOptions(e.Options, e.InitialOption) + "\n"
	case *api.MultiSelectBlockElement:
		return fmt.Sprintf("  %s:", e.Type) + readOptions(e.Options, e.InitialOptions...) + "\n"
	case *api.CheckboxGroupsBlockElement:
		return fmt.Sprintf("  %s:", e.Type) + readOptions(e.Options, e.InitialOptions...) + "\n"
	case *api.PlainTextInputBlockElement:
		return fmt.Sprintf("  %s: %q\n", e.Type, e.InitialValue)
	}
	return fmt.Sprintf("  unknown element %T\n", e)
}

func readOptions(all []*api.OptionBlockObject, chosen ...*api.OptionBlockObject) (text string) {
	for i, o := range all {
		if i == 5 {
			return text + fmt.Sprintf(" and %d more", len(all)-i)
		}
		mark := "( )"
		for _, c := range chosen {
			if c == o {
				mark = "(x)"
			}
		}
		text += fmt.Sprintf(" %s %s=%s", mark, o.Value, o.Text.Text)
	}
	return text
}
