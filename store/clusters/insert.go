package clusters

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// An accepted request sets these columns. A recovered cluster may have others that are not as the database sets them.
var (
	acceptedColumns, otherColumns = splitColumns(strings.Fields(`id status phase why end_ttl end_max needs_approval approve_by needs_turn position max_tries wake_at warn_before
		workers_base workers_least workers_most addons provisioner pool pooled spot sleep_mode off_hours idle_tell idle_sleep idle_end use_extends work`))
	insertAccepted  = insertOf(acceptedColumns)
	insertRecovered = insertOf(slices.Concat(acceptedColumns, otherColumns))
)

func splitColumns(names []string) (these, others []column) {
	for _, c := range columns {
		switch {
		case slices.Contains(names, c.name):
			these = append(these, c)
		case c.use != counted:
			others = append(others, c)
		}
	}
	return these, others
}

func insertOf(which []column) db.Insert {
	const (
		kinds = `name text, generation integer, platform text, version text, profile text, region text, base_domain text, owner text, team text, cost_center text, ` +
			`environment text, requested_by text, source text, ttl interval, hourly_cents integer, request_tags jsonb, effective_tags jsonb, spec jsonb, installation bigint, ` +
			`repo text, pr_number integer, pr_head text, weight integer, priority integer, nodes integer, asleep_cents integer, worker_micros integer, on_demand_cents integer, retry_of text, pool_digest text, account text, exclusive boolean, created_at timestamptz, updated_at timestamptz`
		repoID = `coalesce((SELECT p.repo_id FROM pull_requests p WHERE p.repo = given.repo AND p.number = given.pr_number), 0)`
	)
	var names, given, values []string
	for _, c := range which {
		kind, value := c.kind()
		names, given, values = append(names, c.name), append(given, c.name+" "+kind), append(values, value)
	}
	for _, column := range strings.Split(kinds, ", ") {
		name, _, _ := strings.Cut(column, " ")
		names, given, values = append(names, name), append(given, column), append(values, name)
	}
	return db.NewInsert("insert the cluster", strings.Join(given, ", "),
		`INSERT INTO clusters (`+strings.Join(names, ", ")+`, repo_id) SELECT `+strings.Join(values, ", ")+`, `+repoID+` FROM given`)
}

// kind returns the type in which PostgreSQL gets the column's value, and how it reads it.
func (col column) kind() (kind, value string) {
	switch t := reflect.TypeOf(col.field(new(cluster))).Elem(); {
	case t == reflect.TypeFor[[]string]():
		return "text", col.name + "::text[]"
	case t == reflect.TypeFor[[]time.Duration]():
		return "text", col.name + "::interval[]"
	case t == reflect.TypeFor[time.Time]():
		return "timestamptz", col.name
	case t == reflect.TypeFor[time.Duration]():
		return "interval", col.name
	case t.Kind() == reflect.String:
		return "text", col.name
	case t.Kind() == reflect.Bool:
		return "boolean", col.name
	case t.Kind() == reflect.Int, t.Kind() == reflect.Pointer:
		return "integer", col.name
	}
	return "jsonb", col.name
}

// QueueRow adds a new cluster to a batch. asked are the user's own tags, and retryOf is the cluster in whose place it is.
func QueueRow(b *db.Batch, row Row, asked map[string]string, weight int, retryOf string, now time.Time) {
	into, which, usual := insertAccepted, acceptedColumns, cluster{Desired: lifecycle.Present}
	if slices.ContainsFunc(otherColumns, func(c column) bool { return !reflect.DeepEqual(c.value(&row.Cluster), c.value(&usual)) }) {
		into, which = insertRecovered, slices.Concat(acceptedColumns, otherColumns)
	}
	values := make([]any, 0, len(columns)+32)
	for _, c := range which {
		values = append(values, listText(c.value(&row.Cluster)))
	}
	values = append(values, row.Name, row.Generation, row.Platform, row.Release, row.Profile, row.Region, row.BaseDomain, row.Owner, row.Team, row.CostCenter,
		row.Environment, row.RequestedBy, row.Source, row.TTL, row.HourlyCents, orEmpty(asked), orEmpty(row.Tags), row.Spec)
	if pr := row.PR; pr != nil {
		values = append(values, pr.Installation, pr.Repo, pr.Number, pr.Head)
	} else {
		values = append(values, nil, nil, nil, nil)
	}
	var of *string
	if retryOf != "" {
		of = &retryOf
	}
	b.Insert(into, append(values, weight, row.Priority, row.Nodes, row.ListAsleep, row.WorkerMicros, row.OnDemandCents, of, row.PoolDigest, row.Account, row.Exclusive, row.AcceptedAt, now)...)
}

// Written returns the row of a new cluster as a read returns it that was made with the batch.
func (row Row) Written(now time.Time) Row {
	c := row.Cluster
	c.Version = 1
	for _, col := range columns {
		switch at := col.field(&c).(type) {
		case *time.Time:
			*at = db.Round(*at)
		case *time.Duration:
			*at = at.Truncate(time.Microsecond)
		case *[]time.Duration:
			*at = slices.Clone(*at)
			for i := range *at {
				(*at)[i] = (*at)[i].Truncate(time.Microsecond)
			}
		case *[]string, *[]lifecycle.Blocker, *map[lifecycle.Kind]lifecycle.Work:
			reflect.ValueOf(at).Elem().Set(reflect.ValueOf(col.value(&c)))
		}
	}
	r := RowRecord{
		Lifecycle: LifecycleRecord{c}, MeterRecord: usage.MeterRecord{MeterAt: new(db.Round(now))},
		Name: row.Name, Platform: row.Platform, Version: row.Release, Profile: row.Profile, Region: row.Region, BaseDomain: row.BaseDomain, Generation: row.Generation,
		Owner: row.Owner, Team: row.Team, CostCenter: row.CostCenter, Environment: row.Environment, RequestedBy: row.RequestedBy, Source: row.Source,
		TTL: row.TTL.Truncate(time.Microsecond), HourlyCents: row.HourlyCents, PoolDigest: row.PoolDigest, Account: row.Account, Exclusive: row.Exclusive, Priority: row.Priority, EffectiveTags: orEmpty(row.Tags), Spec: row.Spec.read(), Nodes: row.Nodes,
		DestroyAt: c.Ends.DestroyAt(), CreatedAt: db.Round(row.AcceptedAt), UpdatedAt: db.Round(now), AsleepCents: row.ListAsleep, WorkerMicros: row.WorkerMicros, OnDemandCents: row.OnDemandCents,
		JobID: row.JobID, Identities: []string{},
	}
	if c.NeedsTurn {
		r.WaitsSince = &r.CreatedAt
	}
	if pr := row.PR; pr != nil {
		r.Installation, r.Repo, r.PRNumber, r.PRHead = &pr.Installation, &pr.Repo, &pr.Number, &pr.Head
	}
	return r.Row()
}

// read returns a spec as it is read: JSON leaves out what is empty.
func (s Spec) read() Spec {
	for _, list := range []*[]string{&s.Approvers, &s.Mention} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	if len(s.Notify) == 0 {
		s.Notify = nil
	}
	if len(s.ServiceAccounts) == 0 {
		s.ServiceAccounts = nil
	}
	return s
}

// listText returns a list as text, and another value as it is.
func listText(v any) any {
	switch list := v.(type) {
	case []string:
		return db.ListText(list)
	case []time.Duration:
		var texts []string
		for _, d := range list {
			texts = append(texts, fmt.Sprintf("%.6f seconds", d.Seconds()))
		}
		return db.ListText(texts)
	}
	return v
}

func orEmpty(tags map[string]string) map[string]string {
	if tags == nil {
		return map[string]string{}
	}
	return tags
}
