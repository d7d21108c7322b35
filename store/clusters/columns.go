package clusters

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// column is a column of clusters that Decide reads or changes.
type column struct {
	name  string
	field func(*lifecycle.Cluster) any // returns a pointer to its value. The zero time, and no way to sleep, are NULL
	use   use
}

// use says what is done with a column besides reading it and writing it at acceptance.
type use int

const (
	decided use = iota // each decision writes it
	frozen             // nothing writes it after acceptance, but a claim from its pool
	timed              // each decision writes it, and a change of it alone makes no new version
	merged             // each decision writes what it changed; the rest stays, and is perhaps another release's
	counted            // the statement that writes the row counts it up
)

type cluster = lifecycle.Cluster

// columns are all of them. Select list, insert, update and comparison follow from them.
var columns = []column{
	{"id", func(c *cluster) any { return &c.ID }, frozen},
	{"row_version", func(c *cluster) any { return &c.Version }, counted},
	{"status", func(c *cluster) any { return &c.Status }, decided},
	{"phase", func(c *cluster) any { return &c.Phase }, decided},
	{"why", func(c *cluster) any { return &c.Why }, decided},
	{"desired", func(c *cluster) any { return &c.Desired }, decided},
	{"desired_why", func(c *cluster) any { return &c.DesiredWhy }, decided},
	{"teardown", func(c *cluster) any { return &c.Teardown }, decided},
	{"end_ttl", func(c *cluster) any { return &c.Ends.TTL }, decided},
	{"end_max", func(c *cluster) any { return &c.Ends.Max }, decided},
	{"end_pr_closed", func(c *cluster) any { return &c.Ends.PRClosed }, decided},
	{"pr_end_why", func(c *cluster) any { return &c.Ends.PRWhy }, decided},
	{"end_label_removed", func(c *cluster) any { return &c.Ends.LabelRemoved }, decided},
	{"end_run_finished", func(c *cluster) any { return &c.Ends.RunFinished }, decided},
	{"run_end_why", func(c *cluster) any { return &c.Ends.RunWhy }, decided},
	{"end_claim", func(c *cluster) any { return &c.Ends.Claim }, decided},
	{"end_idle", func(c *cluster) any { return &c.Ends.Idle }, decided},
	{"end_drain", func(c *cluster) any { return &c.Ends.Drain }, decided},
	{"drain_why", func(c *cluster) any { return &c.Ends.DrainWhy }, decided},
	{"end_hold", func(c *cluster) any { return &c.Ends.Hold }, decided},
	{"needs_approval", func(c *cluster) any { return &c.NeedsApproval }, decided},
	{"approve_by", func(c *cluster) any { return &c.ApproveBy }, decided},
	{"needs_turn", func(c *cluster) any { return &c.NeedsTurn }, decided},
	{"abandoned", func(c *cluster) any { return &c.Abandoned }, decided},
	{"max_tries", func(c *cluster) any { return &c.MaxTries }, decided},
	{"tries", func(c *cluster) any { return &c.Tries }, decided},
	{"destroy_failures", func(c *cluster) any { return &c.DestroyFailures }, decided},
	{"seen", func(c *cluster) any { return &c.Seen }, decided},
	{"retry_at", func(c *cluster) any { return &c.RetryAt }, decided},
	{"wake_at", func(c *cluster) any { return &c.WakeAt }, timed},
	{"ready_at", func(c *cluster) any { return &c.ReadyAt }, decided},
	{"destroyed_at", func(c *cluster) any { return &c.ReleasedAt }, decided},
	{"reopened_at", func(c *cluster) any { return &c.ReopenedAt }, decided},
	{"reopened", func(c *cluster) any { return &c.Reopened }, decided},
	{"fail_reason", func(c *cluster) any { return &c.FailReason }, decided},
	{"fail_message", func(c *cluster) any { return &c.FailMessage }, decided},
	{"fail_whose", func(c *cluster) any { return &c.FailWhose }, decided},
	{"fail_next", func(c *cluster) any { return &c.FailNext }, decided},
	{"blockers", func(c *cluster) any { return &c.Blockers }, decided},
	{"stuck_reason", func(c *cluster) any { return &c.StuckReason }, decided},
	{"stuck_whose", func(c *cluster) any { return &c.StuckWhose }, decided},
	{"stuck_next", func(c *cluster) any { return &c.StuckNext }, decided},
	{"position", func(c *cluster) any { return &c.Position }, decided},
	{"progress_percent", func(c *cluster) any { return &c.Progress.Percent }, decided},
	{"progress_step", func(c *cluster) any { return &c.Progress.Step }, decided},
	{"progress_eta", func(c *cluster) any { return &c.Progress.ETA }, decided},
	{"progress_late", func(c *cluster) any { return &c.Progress.Late }, decided},
	{"warn_before", func(c *cluster) any { return &c.WarnBefore }, frozen},
	{"warned_end", func(c *cluster) any { return &c.WarnedEnd }, decided},
	{"warned_before", func(c *cluster) any { return &c.WarnedBefore }, decided},
	{"workers", func(c *cluster) any { return &c.Workers }, decided},
	{"workers_wanted", func(c *cluster) any { return &c.WorkersWanted }, decided},
	{"workers_base", func(c *cluster) any { return &c.WorkersBase }, frozen},
	{"workers_least", func(c *cluster) any { return &c.WorkersLeast }, frozen},
	{"workers_most", func(c *cluster) any { return &c.WorkersMost }, frozen},
	{"addons", func(c *cluster) any { return &c.Addons }, frozen},
	{"provisioner", func(c *cluster) any { return &c.Provisioner }, frozen},
	{"pool", func(c *cluster) any { return &c.Pool }, frozen},
	{"pooled", func(c *cluster) any { return &c.Pooled }, frozen},
	{"spot", func(c *cluster) any { return &c.Spot }, decided},
	{"sleep_mode", func(c *cluster) any { return &c.SleepMode }, frozen},
	{"sleep_wanted", func(c *cluster) any { return &c.SleepWanted }, decided},
	{"sleep_until", func(c *cluster) any { return &c.SleepUntil }, decided},
	{"sleep_why", func(c *cluster) any { return &c.SleepWhy }, decided},
	{"power", func(c *cluster) any { return &c.Power }, decided},
	{"power_by", func(c *cluster) any { return &c.PowerBy }, decided},
	{"degraded", func(c *cluster) any { return &c.Degraded }, decided},
	{"off_hours", func(c *cluster) any { return &c.OffHours }, frozen},
	{"awake_until", func(c *cluster) any { return &c.AwakeUntil }, decided},
	{"active_at", func(c *cluster) any { return &c.ActiveAt }, decided},
	{"active_what", func(c *cluster) any { return &c.ActiveWhat }, decided},
	{"hours_at", func(c *cluster) any { return &c.HoursAt }, decided},
	{"rest_at", func(c *cluster) any { return &c.RestAt }, decided},
	{"rest_warned", func(c *cluster) any { return &c.RestWarned }, decided},
	{"idle_tell", func(c *cluster) any { return &c.Idle.TellAfter }, frozen},
	{"idle_sleep", func(c *cluster) any { return &c.Idle.SleepAfter }, frozen},
	{"idle_end", func(c *cluster) any { return &c.Idle.EndAfter }, frozen},
	{"use_extends", func(c *cluster) any { return &c.UseExtends }, frozen},
	{"awake_since", func(c *cluster) any { return &c.AwakeSince }, decided},
	{"idle_told", func(c *cluster) any { return &c.IdleTold }, decided},
	{"work", func(c *cluster) any { return &c.Work }, merged},
}

// LifecycleColumns selects what Decide reads of clusters c, as one value for a LifecycleRecord.
var LifecycleColumns = `ROW(` + joinColumns(func(column) bool { return true }, func(name string) string { return "c." + name }) + `) AS lifecycle`

// UpdateColumns sets the columns that a decision changes from LifecycleArgs, and merges ChangedWork.
var UpdateColumns = joinColumns(func(c column) bool { return c.use == decided || c.use == timed }, func(name string) string { return name + " = @" + name }) +
	`, work = work || @changed_work`

// ChangedWork returns what next changes in the work of a cluster.
func ChangedWork(cur, next lifecycle.Cluster) map[lifecycle.Kind]lifecycle.Work {
	changed := map[lifecycle.Kind]lifecycle.Work{}
	for _, all := range []map[lifecycle.Kind]lifecycle.Work{cur.Work, next.Work} {
		for k := range all {
			if w := next.Work[k]; w != cur.Work[k] {
				changed[k] = w
			}
		}
	}
	return changed
}

func joinColumns(which func(column) bool, write func(name string) string) string {
	var parts []string
	for _, c := range columns {
		if which(c) {
			parts = append(parts, write(c.name))
		}
	}
	return strings.Join(parts, ", ")
}

// LifecycleArgs are the values of the columns, by name.
func LifecycleArgs(c lifecycle.Cluster) pgx.NamedArgs {
	args := pgx.NamedArgs{}
	for _, col := range columns {
		args[col.name] = col.value(&c)
	}
	return args
}

// SameState reports whether two states of a cluster differ only in when to look again.
func SameState(a, b lifecycle.Cluster) bool {
	return !slices.ContainsFunc(columns, func(col column) bool {
		return col.use != timed && col.use != counted && !reflect.DeepEqual(col.value(&a), col.value(&b))
	})
}

// value returns a column's value as the database keeps it.
func (col column) value(c *lifecycle.Cluster) any {
	switch at := col.field(c).(type) {
	case *time.Time:
		return db.Null(*at)
	case *[]string:
		return append([]string{}, *at...)
	case *[]lifecycle.Blocker:
		return append([]lifecycle.Blocker{}, *at...)
	case *lifecycle.SleepMode:
		if *at == "" {
			return nil
		}
		return *at
	case *map[lifecycle.Kind]lifecycle.Work:
		return roundTimes(*at)
	default:
		return reflect.ValueOf(at).Elem().Interface()
	}
}

// roundTimes returns all work that there is, with times in the database's precision.
func roundTimes(all map[lifecycle.Kind]lifecycle.Work) map[lifecycle.Kind]lifecycle.Work {
	out := map[lifecycle.Kind]lifecycle.Work{}
	for k, w := range all {
		if w.RetryAt, w.DoneAt = db.Round(w.RetryAt), db.Round(w.DoneAt); w != (lifecycle.Work{}) {
			out[k] = w
		}
	}
	return out
}

// AskWork is lifecycle.Cluster.AskWork in an UPDATE of clusters, for the kind @kind.
var AskWork = AskWorkWithout("{failures,retry_at}")

// AskWorkWithout is AskWork that forgets only the given fields, a PostgreSQL array, of earlier tries.
func AskWorkWithout(forgotten string) string {
	return `work = work || jsonb_build_object(@kind::text, coalesce(work -> @kind::text, '{}') - '` + forgotten + `'::text[]
		|| jsonb_build_object('wanted', 1 + coalesce((work #>> ARRAY[@kind::text, 'wanted'])::int, 0)))`
}

// ResetPower forgets in an UPDATE of clusters that tries to put a cluster to sleep, or to wake it, have failed.
const ResetPower = `work = work #- '{sleep,failures}' #- '{sleep,retry_at}' #- '{wake,failures}' #- '{wake,retry_at}'`

// AccessDone is the number of the newest request for access to a cluster c that was met or given up.
const AccessDone = `coalesce((c.work #>> '{access,done}')::int, 0)`

// LifecycleRecord is a cluster as LifecycleColumns selects it.
type LifecycleRecord struct{ Cluster lifecycle.Cluster }

// ScanNull is never called: a row is no NULL.
func (*LifecycleRecord) ScanNull() error { return nil }

// ScanIndex returns where the value of a column goes.
func (r *LifecycleRecord) ScanIndex(i int) any {
	switch at := columns[i].field(&r.Cluster).(type) {
	case *time.Time:
		return (*nullTime)(at)
	case *lifecycle.SleepMode:
		return (*nullMode)(at)
	default:
		return at
	}
}

// nullTime reads NULL as the zero time.
type nullTime time.Time

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (t *nullTime) ScanTimestamptz(v pgtype.Timestamptz) error {
	*t = nullTime(v.Time)
	return nil
}

// nullMode reads NULL as no way to sleep.
type nullMode lifecycle.SleepMode

// ScanText implements pgtype.TextScanner.
func (m *nullMode) ScanText(v pgtype.Text) error {
	*m = nullMode(v.String)
	return nil
}
