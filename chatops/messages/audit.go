package messages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// AuditLine is what the audit trail stores about one event.
type AuditLine struct {
	Actor, Name string // the actor's principal id, and their display name
	Action      string
	Why         string
	Meta        json.RawMessage
}

// AuditText says what an audit line records: what changed, as far as the line says it, and the reason that somebody gave. The actor is
// shown next to it; empty: nothing more is known.
func AuditText(l AuditLine) string {
	why := l.Why
	for _, who := range []string{l.Actor, l.Name} {
		if why == who+" asked for it" || why == "approved by "+who {
			why = ""
		}
	}
	text := changeText(l.Action, l.Meta, why)
	if text == "" || why == "" || strings.HasPrefix(text, why) {
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

// changeText returns the change as text, for any kind of line.
func changeText(action string, meta json.RawMessage, why string) string {
	var c auditChange
	if len(meta) == 0 || json.Unmarshal(meta, &c) != nil {
		return ""
	}
	if c.End != "" {
		return c.endText(why)
	}
	var number *int
	if form := countedChanges[action]; form != "" && json.Unmarshal(orEmpty(c.After), &number) == nil && number != nil {
		return fmt.Sprintf(form, *number, orEmpty(c.Before))
	}
	var before, after struct{ Kind, With, Access, Role, Reader, Team, Owner, To, Name string }
	if json.Unmarshal(orEmpty(c.Before), &before) != nil || json.Unmarshal(orEmpty(c.After), &after) != nil {
		return ""
	}
	switch {
	case after.To != "":
		return "to " + cmp.Or(after.Name, after.To)
	case after.Team != "":
		return fmt.Sprintf("from team %s to team %s, owner %s", before.Team, after.Team, after.Owner)
	case after.With != "":
		return fmt.Sprintf("with %s %s, to %s it%s", after.Kind, after.With, after.Access, asAuditRole(after.Role))
	case before.With != "":
		return fmt.Sprintf("no longer with %s %s", before.Kind, before.With)
	case cmp.Or(after.Reader, before.Reader) != "":
		return "of " + cmp.Or(after.Reader, before.Reader) + asAuditRole(cmp.Or(after.Role, before.Role))
	}
	return ""
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
func (c auditChange) endText(why string) string {
	usual := lifecycle.Reason{Code: map[string]lifecycle.ReasonCode{
		"pr_closed": lifecycle.ReasonPRClosed, "label_removed": lifecycle.ReasonLabelRemoved, "run_finished": lifecycle.ReasonRunFinished,
	}[c.End]}.String()
	switch {
	case c.End == "hold" && c.At != nil:
		return "until " + chatops.Time(*c.At)
	case c.End == "hold":
		return ""
	case c.End == "ttl" && c.At != nil && c.Capped:
		return "it ends at " + chatops.Time(*c.At) + ", the latest its profile allows"
	case c.End == "ttl" && c.At != nil:
		return "it ends at " + chatops.Time(*c.At)
	case usual == "":
		return ""
	case c.At == nil && why != "":
		return why + ", so it does not end"
	case c.At == nil:
		return "it no longer ends because " + usual
	}
	return fmt.Sprintf("%s, so it ends at %s", cmp.Or(why, usual), chatops.Time(*c.At))
}
