package play

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/slack"
)

// viewer renders what one person sees.
type viewer struct {
	p        *playground
	at       spot
	people   []slack.Person
	channels []slack.Channel
}

func (p *playground) viewer(at spot) *viewer {
	return &viewer{p, at, p.slack.Members(), p.slack.Channels(at.As.ID)}
}

// line is a message as one person sees it.
type line struct {
	Spot spot
	slack.Message
	Author  slack.Person
	Where   string // in the activity: the channel's name
	HTML    template.HTML
	Nodes   []node
	Private bool // only this person sees it
	Replies int
	Mine    bool
}

// TSLink is the page with the message's thread.
func (l line) TSLink() string { return l.Spot.Link("", l.Channel, l.TS) }

// Clock is the time at which it was written.
func (l line) Clock() string { return l.At.UTC().Format("15:04") }

func (v *viewer) line(m slack.Message, all []slack.Message) line {
	l := line{Spot: v.at, Message: m, Mine: m.From == v.at.As.ID}
	if i := slices.IndexFunc(v.people, func(p slack.Person) bool { return p.ID == m.From }); i >= 0 {
		l.Author = v.people[i]
	}
	l.Private = m.Kind == slack.KindCommand || m.Kind == slack.KindAck || m.Kind == slack.KindEphemeral
	if !m.Deleted {
		l.HTML, l.Nodes = v.mrkdwn(m.Text), v.nodes(m.Blocks, m.TS, nil, nil)
	}
	for _, r := range all {
		if r.Thread == m.TS && !r.Deleted {
			l.Replies++
		}
	}
	return l
}

// conversation returns a channel's messages, and those of its open thread.
func (v *viewer) conversation(channel, thread string) (lines []line, root *line, replies []line) {
	all := v.p.slack.Visible(v.at.As.ID, channel)
	for _, m := range all {
		l := v.line(m, all)
		switch {
		case m.Thread == "":
			lines = append(lines, l)
		case m.Broadcast:
			lines = append(lines, l)
		}
		if m.TS == thread {
			root = &l
		}
		if m.Thread == thread && thread != "" {
			replies = append(replies, l)
		}
	}
	return lines, root, replies
}

// activity returns what the app sent to this person alone, in all channels.
func (v *viewer) activity() (lines []line) {
	for _, m := range v.p.slack.Messages() {
		if m.To != v.at.As.ID || m.Deleted {
			continue
		}
		l := v.line(m, nil)
		l.Where = v.place(m.Channel)
		lines = append(lines, l)
	}
	return lines
}

func (v *viewer) place(id string) string {
	for _, c := range v.channels {
		if c.ID == id && c.Direct == "" {
			return "#" + c.Name
		}
	}
	if strings.HasPrefix(id, "D") {
		return "direct message"
	}
	return id
}

// person is how somebody is mentioned.
func (v *viewer) person(id string) string {
	for _, p := range v.people {
		if p.ID == id {
			return "@" + p.Login
		}
	}
	return "@" + id
}

// Initial and Colour make a person's picture.
func (l line) Initial() string { return initial(l.Author) }

// Colour is a number from 0 to 7.
func (l line) Colour() int { return colour(l.Author) }

func initial(p slack.Person) string {
	if p.ID == slack.Bot {
		return "oc"
	}
	return fmt.Sprintf("%.1s", p.Name)
}

func colour(p slack.Person) int {
	n := 0
	for _, b := range []byte(p.ID) {
		n += int(b)
	}
	return n % 8
}
