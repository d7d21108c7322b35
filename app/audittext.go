package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
)

// Told returns the text of an audit line: what changed, as far as the line says it, and the reason that somebody gave. The actor
// is shown next to it; empty: nothing more is known.
func Told(e store.Event) string {
	why := e.Why
	for _, who := range []string{e.Actor, e.Name} {
		if why == who+" asked for it" || why == "approved by "+who {
			why = ""
		}
	}
	changed := changedTo(e.Action, e.Meta, why)
	if changed == "" || why == "" || strings.HasPrefix(changed, why) {
		return cmp.Or(changed, why)
	}
	return changed + ": " + why
}

// change is what audit lines store about a change; each kind sets some of it.
type change struct {
	End           string
	At            *time.Time
	Capped        bool
	Before, After json.RawMessage
}

// counted are the texts of lines whose change is a number, by action.
var counted = map[string]string{"scale_asked": "%d workers instead of %s", "approval_voted": "%d approvals, %s before"}

// changedTo returns the change as text, for any kind of line.
func changedTo(action string, meta json.RawMessage, why string) string {
	var c change
	if len(meta) == 0 || json.Unmarshal(meta, &c) != nil {
		return ""
	}
	if c.End != "" {
		return c.ends(why)
	}
	var number *int
	if form := counted[action]; form != "" && json.Unmarshal(orEmpty(c.After), &number) == nil && number != nil {
		return fmt.Sprintf(form, *number, orEmpty(c.Before))
	}
	var before, after struct{ Kind, With, Access, Team, Owner string }
	if json.Unmarshal(orEmpty(c.Before), &before) != nil || json.Unmarshal(orEmpty(c.After), &after) != nil {
		return ""
	}
	switch {
	case after.Team != "":
		return fmt.Sprintf("from team %s to team %s, owner %s", before.Team, after.Team, after.Owner)
	case after.With != "":
		return fmt.Sprintf("with %s %s, to %s it", after.Kind, after.With, after.Access)
	case before.With != "":
		return fmt.Sprintf("no longer with %s %s", before.Kind, before.With)
	}
	return ""
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// ends returns which end moved, and why: the stored reason, else the usual one for this kind of end.
func (c change) ends(why string) string {
	because := map[string]string{
		"pr_closed": lifecycle.BecauseClosed, "label_removed": "its label was removed", "run_finished": "its workflow run finished",
	}[c.End]
	switch {
	case c.End == "hold" && c.At != nil:
		return "until " + chatops.Time(*c.At)
	case c.End == "hold":
		return ""
	case c.End == "ttl" && c.At != nil && c.Capped:
		return "it ends at " + chatops.Time(*c.At) + ", the latest its profile allows"
	case c.End == "ttl" && c.At != nil:
		return "it ends at " + chatops.Time(*c.At)
	case because == "":
		return ""
	case c.At == nil && why != "":
		return why + ", so it does not end"
	case c.At == nil:
		return "it no longer ends because " + because
	}
	return fmt.Sprintf("%s, so it ends at %s", cmp.Or(why, because), chatops.Time(*c.At))
}
