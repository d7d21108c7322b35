package messages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// AuditLine is what the audit trail stores about one event.
type AuditLine struct {
	Actor, Name string // the actor's principal id, and their display name
	Action      string
	Why         string
	Reason      lifecycle.Reason // why, if nobody gave words for it
	Meta        json.RawMessage
	NameOf      func(id string) string // how people read a principal; nil: by its id
}

// AuditText says what an audit line records: what changed, as far as the line says it, and the reason that somebody gave. The actor is
// shown next to it; empty: nothing more is known.
func AuditText(l AuditLine) string {
	why := l.Why
	if l.Reason.IsUnworded() && l.Reason.Via == "" && (l.Reason.By == l.Actor || l.Reason.By == l.Name) {
		why = ""
	}
	if l.NameOf == nil {
		l.NameOf = func(id string) string { return id }
	}
	text, explained := l.changeText(why)
	if text == "" || why == "" || explained {
		return cmp.Or(text, why)
	}
	return text + ": " + why
}

// The reasons in the audit trail of what nobody gives a reason for.
const (
	BecauseDownloaded = "it was downloaded" // a kubeconfig or a password
)

// auditChange is what audit lines store about a change; each kind sets some of it.
type auditChange struct {
	End           string
	At            *time.Time
	Capped        bool
	Before, After json.RawMessage
}

// countedChanges are the texts of lines whose change is a number, by action.
var countedChanges = map[string]string{"scale_asked": "%d workers instead of %s", "approval_voted": "%d approvals, %s before"}

// changeText returns the change as text, for any kind of line. explained: the text has the reason.
func (l AuditLine) changeText(why string) (text string, explained bool) {
	action, meta := l.Action, l.Meta
	var c auditChange
	if len(meta) == 0 || json.Unmarshal(meta, &c) != nil {
		return "", false
	}
	if c.End != "" {
		return c.endText(why)
	}
	var number *int
	if form := countedChanges[action]; form != "" && json.Unmarshal(orEmpty(c.After), &number) == nil && number != nil {
		return fmt.Sprintf(form, *number, orEmpty(c.Before)), false
	}
	var before, after struct{ Kind, With, Access, Role, Reader, Team, Owner, To, Name string }
	if json.Unmarshal(orEmpty(c.Before), &before) != nil || json.Unmarshal(orEmpty(c.After), &after) != nil {
		return "", false
	}
	switch {
	case after.To != "":
		return "to " + cmp.Or(after.Name, l.NameOf(after.To)), false
	case after.Team != "":
		return fmt.Sprintf("from team %s to team %s, owner %s", before.Team, after.Team, after.Owner), false
	case after.With != "":
		return fmt.Sprintf("with %s, to %s it%s", l.nameGrantee(after.Kind, after.With), after.Access, asAuditRole(after.Role)), false
	case before.With != "":
		return "no longer with " + l.nameGrantee(before.Kind, before.With), false
	case after.Reader != "":
		return "for " + l.NameOf(after.Reader) + asAuditRole(after.Role), false
	case before.Reader != "":
		return "of " + l.NameOf(before.Reader) + asAuditRole(before.Role), false
	}
	return "", false
}

// nameGrantee names whom a cluster is shared with: a person or program, or a team.
func (l AuditLine) nameGrantee(kind, with string) string {
	if kind == "team" {
		return "team " + with
	}
	return l.NameOf(with)
}

// asAuditRole adds a role in the cluster; empty: the line has none.
func asAuditRole(role string) string {
	if role == "" {
		return ""
	}
	return " as " + role
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// endText returns which end moved, and why: the stored reason, else the usual one for this kind of end.
func (c auditChange) endText(why string) (text string, explained bool) {
	usual := lifecycle.Reason{Code: map[string]lifecycle.ReasonCode{
		"pr_closed": lifecycle.ReasonPRClosed, "label_removed": lifecycle.ReasonLabelRemoved, "run_finished": lifecycle.ReasonRunFinished,
	}[c.End]}.String()
	switch {
	case c.End == "hold" && c.At != nil:
		return "until " + chatops.Time(*c.At), false
	case c.End == "hold":
		return "", false
	case c.End == "ttl" && c.At != nil && c.Capped:
		return "it ends at " + chatops.Time(*c.At) + ", the latest its profile allows", false
	case c.End == "ttl" && c.At != nil:
		return "it ends at " + chatops.Time(*c.At), false
	case c.End == "drain" && c.At != nil:
		return why + ", so it ends at " + chatops.Time(*c.At), true
	case usual == "":
		return "", false
	case c.At == nil && why != "":
		return why + ", so it does not end", true
	case c.At == nil:
		return "it no longer ends because " + usual, true
	}
	return fmt.Sprintf("%s, so it ends at %s", cmp.Or(why, usual), chatops.Time(*c.At)), true
}
