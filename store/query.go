package store

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// installFailed selects clusters that end because their install failed, as lifecycle.Card.InstallFailed does. The index clusters_failed has
// the same condition.
const installFailed = "c.desired_why ->> 'code' = 'install_failed'"

// order is how a list is sorted: by a column, and then by id.
type order struct{ column, way string }

func orderOf(name string) order {
	o, known := map[string]order{
		"oldest": {"c.id", "ASC"}, "ends": {"c.destroy_at", "ASC"}, "name": {"c.name", "ASC"}, "owner": {"lower(c.owner)", "ASC"}, "price": {"c.hourly_cents", "DESC"},
	}[name]
	if !known {
		return order{"c.id", "DESC"}
	}
	return o
}

func (o order) by() string {
	if o.column == "c.id" {
		return " ORDER BY c.id " + o.way
	}
	return " ORDER BY " + o.column + " " + o.way + ", c.id " + o.way
}

// after selects what comes after the row with the id @cursor.
func (o order) after() string {
	than := map[string]string{"ASC": " > ", "DESC": " < "}[o.way]
	if o.column == "c.id" {
		return "c.id" + than + "@cursor"
	}
	return "(" + o.column + ", c.id)" + than + "(SELECT " + o.column + ", c.id FROM clusters c WHERE c.id = @cursor)"
}

// addQuery adds the conditions of a query. Each value is a parameter.
func addQuery(w *db.Conditions, q filter.Query) {
	for i, term := range q.Terms {
		var any []string
		for j, value := range term.Values {
			arg := fmt.Sprintf("q%d_%d", i, j)
			any = append(any, conditionOf(w, term.Key, value, arg))
		}
		condition := "(" + strings.Join(any, " OR ") + ")"
		if term.Not {
			condition = "NOT coalesce(" + condition + ", false)"
		}
		w.Add(true, condition, "", nil)
	}
}

// conditionOf returns the condition of one value, and adds its parameters, whose names begin with arg.
func conditionOf(w *db.Conditions, key filter.Key, v filter.Value, arg string) string {
	at := "@" + arg
	switch key {
	case filter.Owner:
		return matchOwner(w, v, arg)
	case filter.Status:
		return inState(v.Is)
	case filter.Ends:
		return "c.desired = 'present' AND c.destroyed_at IS NULL AND " + within(w, "c.destroy_at", v, arg)
	case filter.Created:
		return within(w, "c.created_at", v, arg)
	case filter.Ended:
		return within(w, "c.destroyed_at", v, arg)
	}
	w.Args[arg] = v.Is
	switch key {
	case filter.Source:
		w.Args[arg] = sources[v.Is]
		return "c.source = " + at
	case filter.Repo:
		if !strings.Contains(v.Is, "/") {
			return at + " IN (split_part(lower(c.repo), '/', 1), split_part(lower(c.repo), '/', 2))"
		}
		return "lower(c.repo) = " + at
	case filter.Pull:
		return "c.pr_number = " + at + "::text::integer"
	case filter.Version:
		return "(c.version = " + at + " OR starts_with(c.version, " + at + " || '.'))"
	case filter.Name:
		return "starts_with(c.name, " + at + ")"
	case filter.Run:
		return ofRun(at)
	case filter.Team, filter.Profile, filter.Platform, filter.Region:
		return "c." + string(key) + " = " + at
	}
	return "strpos(lower(c.id || ' ' || c.name || ' ' || c.profile || ' ' || c.owner || ' ' || c.team || ' ' || c.version || ' ' || c.region || coalesce(' ' || c.repo || '#' || c.pr_number, '')), " + at + ") > 0"
}

// sources are the sources of requests by what a filter calls them.
var sources = map[string]string{
	"label": "pr_label", "comment": "pr_comment", "api": "api", "web": "web", "slack": "slack", "environment": "environment", "queue": "merge_queue",
}

// inState selects what has a status, or is in a state that has a name of its own.
func inState(name string) string {
	switch name {
	case "live":
		return "c.destroyed_at IS NULL"
	case "gone":
		return "c.status = 'DESTROYED'"
	case "failed":
		return "(c.status = 'FAILED' OR " + installFailed + ")"
	case "asleep", "degraded":
		return "c.phase = '" + name + "'"
	case "blocked":
		return "c.phase = 'destroy_blocked'"
	}
	return "c.status = '" + strings.ToUpper(name) + "'"
}

// matchOwner selects what a person owns: by name, in any spelling of the person, and if the principal is known, also what was requested by one
// of their identities, or handed over to it.
func matchOwner(w *db.Conditions, v filter.Value, arg string) string {
	var any []string
	if v.Is != "" {
		w.Args[arg] = v.Is
		any = append(any, "lower(c.owner) = ANY (ARRAY(SELECT lower(@"+arg+`) UNION SELECT o.spelling FROM person_spellings o
			JOIN person_spellings asked ON asked.person = o.person WHERE asked.spelling = lower(@`+arg+`)))`)
	}
	if v.Principal != "" {
		w.Args[arg+"p"] = v.Principal
		own := "ANY ((SELECT identities_of(@" + arg + "p))::text[])" // asked once, not for each row
		any = append(any, "principal_key(c.requested_by) = "+own+" AND principal_key("+clusters.HeldBy+") = "+own,
			"c.id = ANY (ARRAY(SELECT h.cluster_id FROM handovers h WHERE h.state = 'accepted' AND principal_key(h.decided_by) = "+own+")) AND principal_key("+clusters.HeldBy+") = "+own)
	}
	return "(" + strings.Join(any, " OR ") + ")"
}

// within selects what has a time in a span.
func within(w *db.Conditions, column string, v filter.Value, arg string) string {
	var all []string
	if !v.From.IsZero() {
		w.Args[arg+"f"] = v.From
		all = append(all, column+" >= @"+arg+"f")
	}
	if !v.To.IsZero() {
		w.Args[arg+"t"] = v.To
		all = append(all, column+" < @"+arg+"t")
	}
	return strings.Join(all, " AND ")
}

// ofRun selects the clusters that belong to a run, by its id, its address, or what its platform identifies it by.
func ofRun(run string) string {
	return `c.id IN (SELECT b.cluster_id FROM run_clusters b JOIN runs u ON u.id = b.run_id
		WHERE u.id = ` + run + ` OR u.url = ` + run + ` OR u.key = ` + run + ` OR u.platform = 'tekton' AND split_part(u.key, '/', 2) = ` + run + `)`
}
