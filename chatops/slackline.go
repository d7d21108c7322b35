package chatops

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/internal/commands"
)

// Slack writes people, user groups, channels and links as <…>, and the characters of its own markup as entities.
// https://docs.slack.dev/messaging/formatting-message-text
var (
	slackEscape  = regexp.MustCompile(`<([^<>]*)>`)
	slackPerson  = regexp.MustCompile(`^<@([UW][A-Z0-9]{1,30})(?:\|[^<>]*)?>$`)
	slackGroup   = regexp.MustCompile(`^<!subteam\^(S[A-Z0-9]{1,30})(?:\|[^<>]*)?>$`)
	slackChannel = regexp.MustCompile(`^<#([CDG][A-Z0-9]{1,30})(?:\|[^<>]*)?>$`)
	slackName    = regexp.MustCompile(`<[@#!](?:subteam\^)?([A-Za-z0-9]+)(?:\|([@#]?)([^<>]*))?>`)
)

// slackLine restores the line that a person typed after /ocp, beginning with Prefix. People, groups and channels stay as Slack writes
// them, each in one word; a link becomes what it shows.
func slackLine(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	text = slackEscape.ReplaceAllStringFunc(text, func(escape string) string {
		target, label, _ := strings.Cut(escape[1:len(escape)-1], "|")
		switch {
		case target == "":
			return escape
		case strings.ContainsRune("@#!", rune(target[0])):
			if label == "" || strings.ContainsFunc(label, func(r rune) bool { _, quote := quotes[r]; return quote || r == '\\' || blank(r) }) {
				return "<" + target + ">"
			}
			return escape
		case label != "":
			return label
		}
		return strings.TrimPrefix(target, "mailto:")
	})
	text = strings.TrimFunc(strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text), blank)
	if inner, closed := strings.CutSuffix(strings.TrimPrefix(text, "`"), "`"); closed && strings.HasPrefix(text, "`") && !strings.Contains(inner, "`") {
		text = strings.TrimFunc(inner, blank) // all of it was written as code
	}
	first, rest := text, ""
	if end := strings.IndexFunc(text, blank); end >= 0 {
		first, rest = text[:end], text[end:]
	}
	if strings.EqualFold(first, Prefix) { // the prefix was typed or pasted too
		text = rest
	}
	return strings.TrimRightFunc(Prefix+" "+strings.TrimFunc(text, blank), blank)
}

// asSlackShows is a line as Slack shows it to people: names in place of ids.
func asSlackShows(line string) string {
	return slackName.ReplaceAllStringFunc(line, func(escape string) string {
		m := slackName.FindStringSubmatch(escape)
		name := m[3]
		if name == "" {
			name = m[1]
		}
		if escape[1] == '#' {
			return "#" + name
		}
		return "@" + name
	})
}

// takesSomebody reports whether the word names a person or group, rightly or wrongly.
func (r *reading) takesSomebody(text string) bool {
	c := &r.command
	text = strings.Trim(text, ",;")
	person, group := slackPerson.FindStringSubmatch(text), slackGroup.FindStringSubmatch(text)
	switch {
	case person != nil && c.Person == "":
		c.Person = person[1]
	case group != nil && r.takes == commands.Grantee && c.Group == "":
		c.Group = group[1]
	case person != nil:
		r.wrong("%s is one person too many.", Code(asSlackShows(text)))
	case group != nil && r.takes == commands.Grantee:
		r.wrong("%s is one group too many.", Code(asSlackShows(text)))
	case group != nil:
		r.wrong("%s is a group; a cluster has one owner. Name a person.", Code(asSlackShows(text)))
	case strings.HasPrefix(text, "<!") || slices.Contains([]string{"@here", "@channel", "@everyone"}, text):
		r.wrong("%s is not a person or a user group.", Code(asSlackShows(text)))
	case strings.HasPrefix(text, "@"):
		r.wrong("%s is nobody whom Slack knows by this name. Type @ and choose from the list that Slack shows.", Code(text))
	default:
		return false
	}
	return true
}

// oneReceiver checks that a cluster is shared with, or goes to, exactly one.
func (r *reading) oneReceiver() {
	c, given := &r.command, 0
	for _, to := range []string{c.Team, c.With, c.Person, c.Group} {
		if to != "" {
			given++
		}
	}
	switch {
	case given == 1:
	case r.at != commands.Slack:
		r.wrong("Say with whom: either %s or %s.", Code("--team platform"), Code("--with github:maya"))
	case r.takes == commands.Receiver:
		r.wrong("Say to whom: either a person, as in %s, or a team, as in %s.", Code("@maya"), Code("--team platform"))
	default:
		r.wrong("Say with whom: one person, as in %s, one user group, or a team, as in %s.", Code("@maya"), Code("--team platform"))
	}
}

// channelOf reads a channel. problem says what is wrong with it; both are empty: the word is no channel.
func channelOf(text string) (id, problem string) {
	text = strings.Trim(text, ",;")
	if m := slackChannel.FindStringSubmatch(text); m != nil {
		return m[1], ""
	}
	if strings.HasPrefix(text, "#") || strings.HasPrefix(text, "<#") {
		return "", Code(asSlackShows(text)) + " is no channel that Slack knows by this name. Type # and choose from the list that Slack shows."
	}
	return "", ""
}

// takesEvents reports whether the word names events, rightly or wrongly.
func (r *reading) takesEvents(text string) bool {
	if strings.HasPrefix(text, "#") || strings.HasPrefix(text, "<#") {
		return false
	}
	for event := range strings.SplitSeq(strings.ToLower(text), ",") {
		event = bare(event)
		switch {
		case event == "" || slices.Contains(r.command.Events, event):
		case slices.Contains(commands.EventNames, event):
			r.command.Events = append(r.command.Events, event)
		default:
			r.noEvent(event)
			return true
		}
	}
	return true
}

func (r *reading) noEvent(word string) {
	if near, ok := closest.Match(word, commands.EventNames); ok {
		r.wrong("%s is not an event. Did you mean %s?", Code(word), Code(near))
		return
	}
	r.wrong("%s is not an event. The events are: %s. A channel begins with #.", Code(word), list(commands.EventNames))
}

// subscription checks that a subscription says what it is about.
func (r *reading) subscription() {
	c := &r.command
	if len(c.Events) == 0 && !c.Off && (c.Team != "" || c.Repo != "") {
		r.wrong("Say what to post, for example %s. The events are: %s.", Code(Prefix+" "+r.form.Example), list(commands.EventNames))
	}
}
