package blocks

import (
	"strings"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/slack"
)

// Answer is an answer in words, from GitHub's Markdown. A long one is split into sections.
func Answer(markdown string) slack.Message {
	text := slack.Markup(markdown)
	switch {
	case strings.TrimSpace(text) == "":
		return slack.Message{Text: nothing}
	case slack.Length(text) <= maxSection:
		return slack.Message{Text: text}
	}
	return newMessage(sectionsOf(text))
}

// Help is the list of commands, or all about one, with buttons for what most people want first. The short list has a button for the whole one.
func Help(about string) slack.Message {
	buttons := []*api.ButtonBlockElement{
		newButton(labels[chatops.VerbOpenForm], Press{Verb: chatops.VerbOpenForm, Value: FormCreate}), newButton(labels[chatops.VerbList], Press{Verb: chatops.VerbList}),
	}
	if about == "" {
		buttons = append(buttons, newButton("More commands", Press{Verb: chatops.VerbHelp, Value: chatops.AllCommands}))
	}
	blocks := fitBlocks(sectionBlocks(chatops.SlackHelp(about)), maxMessage-1)
	return newMessage(append(blocks, actionBlocks(buttons...)...))
}

// splitMarkup splits Slack markup into texts of at most so many characters, at the ends of lines. A code block stays whole if it fits; if
// not, each part of it is a code block.
func splitMarkup(text string, most int) (all []string) {
	var b strings.Builder
	flush := func() {
		if piece := strings.Trim(b.String(), "\n"); strings.TrimSpace(piece) != "" {
			all = append(all, piece)
		}
		b.Reset()
	}
	for _, unit := range splitUnits(text, most) {
		if b.Len() > 0 && slack.Length(b.String())+1+slack.Length(unit) > most {
			flush()
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(unit)
	}
	flush()
	return all
}

const fence = "```"

// splitUnits are the lines and code blocks of a text, each of at most so many characters.
func splitUnits(text string, most int) (all []string) {
	var code []string // the lines of the open code block; nil: none is open
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case line == fence && code == nil:
			code = []string{}
		case line == fence:
			all, code = append(all, codeBlocks(code, most)...), nil
		case code != nil:
			code = append(code, line)
		default:
			for rest := line; ; {
				line, rest = slack.Cut(rest, most)
				all = append(all, line)
				if rest == "" {
					break
				}
			}
		}
	}
	return append(all, codeBlocks(code, most)...)
}

// codeBlocks are code blocks with these lines, none of more than so many characters.
func codeBlocks(lines []string, most int) (all []string) {
	most -= 2 * len(fence+"\n")
	var some []string
	size := 0
	flush := func() {
		if len(some) > 0 {
			all = append(all, fence+"\n"+strings.Join(some, "\n")+"\n"+fence)
		}
		some, size = nil, 0
	}
	for _, line := range lines {
		line, _ = slack.Cut(line, most)
		if size+slack.Length(line)+1 > most {
			flush()
		}
		some, size = append(some, line), size+slack.Length(line)+1
	}
	flush()
	return all
}
