package rows

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/internal/pg"
	"github.com/ocpctl/ocpctl/store/internal/usage"
)

// LifecycleColumns are the columns that Decide reads and changes.
const LifecycleColumns = `
	c.id, c.row_version, c.status, c.phase, c.why, c.desired, c.desired_why, c.teardown,
	c.end_ttl, c.end_max, c.end_pr_closed, c.end_label_removed, c.end_run_finished, c.end_claim,
	c.needs_approval, c.abandoned, c.max_tries, c.tries, c.destroy_failures, c.seen, c.retry_at, c.wake_at,
	c.ready_at, c.destroyed_at, c.reopened_at, c.reopened, c.fail_reason, c.fail_message, c.fail_whose, c.fail_next, c.blockers, c.stuck_reason, c.stuck_whose, c.stuck_next, c.place,
	c.progress_percent, c.progress_step, c.progress_eta, c.progress_late,
	c.pr_end_why, c.run_end_why, c.end_hold, c.approve_by, c.needs_turn, c.workers, c.workers_wanted, c.workers_base, c.workers_least, c.workers_most, c.scale_failures,
	c.addons, c.addons_wanted, c.addons_done, c.addon_failures, c.warn_before, c.warned_end, c.warned_before,
	c.access_wanted, c.access_done, c.access_failures, c.access_retry_at,
	c.sleep_mode, c.sleep_wanted, c.sleep_until, c.sleep_why, c.power, c.sleep_failures, c.sleep_retry_at,
	c.power_by, c.off_hours, c.awake_until, c.active_at, c.active_what, c.hours_at, c.rest_at, c.rest_warned,
	c.idle_tell, c.idle_sleep, c.idle_end, c.use_extends, c.awake_since, c.idle_told, c.end_idle,
	c.observed_at, c.observe_failures, c.observe_failed_at, c.tagged_at, c.degraded`

type LifecycleRecord struct {
	ID              string
	RowVersion      int64
	Status          lifecycle.Status
	Phase           lifecycle.Phase
	Why             string
	Desired         lifecycle.Desired
	DesiredWhy      string
	Teardown        lifecycle.JobType
	EndTTL          time.Time
	EndMax          time.Time
	EndPRClosed     *time.Time
	PREndWhy        string
	EndLabelRemoved *time.Time
	EndRunFinished  *time.Time
	RunEndWhy       string
	EndClaim        *time.Time
	NeedsApproval   bool
	Abandoned       bool
	MaxTries        int
	Tries           int
	DestroyFailures int
	Seen            int
	RetryAt         *time.Time
	WakeAt          *time.Time
	ReadyAt         *time.Time
	DestroyedAt     *time.Time
	ReopenedAt      *time.Time
	Reopened        int
	FailReason      string
	FailMessage     string
	FailWhose       string
	FailNext        string
	Blockers        []string
	StuckReason     string
	StuckWhose      string
	StuckNext       string
	Place           int
	ProgressPercent int
	ProgressStep    string
	ProgressETA     *time.Time
	ProgressLate    *time.Time
	EndHold         *time.Time
	ApproveBy       *time.Time
	NeedsTurn       bool
	Workers         *int
	WorkersWanted   *int
	WorkersBase     *int
	WorkersLeast    *int
	WorkersMost     *int
	ScaleFailures   int
	Addons          []string
	AddonsWanted    int
	AddonsDone      int
	AddonFailures   int
	WarnBefore      []time.Duration
	WarnedEnd       *time.Time
	WarnedBefore    time.Duration
	AccessWanted    int
	AccessDone      int
	AccessFailures  int
	AccessRetryAt   *time.Time
	SleepMode       *lifecycle.SleepMode
	SleepWanted     bool
	SleepUntil      *time.Time
	SleepWhy        string
	Power           lifecycle.Power
	SleepFailures   int
	SleepRetryAt    *time.Time
	PowerBy         lifecycle.PowerBy
	OffHours        bool
	AwakeUntil      *time.Time
	ActiveAt        *time.Time
	ActiveWhat      lifecycle.Activity
	HoursAt         *time.Time
	RestAt          *time.Time
	RestWarned      *time.Time
	IdleTell        time.Duration
	IdleSleep       time.Duration
	IdleEnd         time.Duration
	UseExtends      bool
	AwakeSince      *time.Time
	IdleTold        *time.Time
	EndIdle         *time.Time
	ObservedAt      *time.Time
	ObserveFailures int
	ObserveFailedAt *time.Time
	TaggedAt        *time.Time
	Degraded        string
}

func (r LifecycleRecord) Cluster() lifecycle.Cluster {
	var mode lifecycle.SleepMode
	if r.SleepMode != nil {
		mode = *r.SleepMode
	}
	return lifecycle.Cluster{
		ID: r.ID, Version: r.RowVersion, Status: r.Status, Phase: r.Phase, Why: r.Why,
		Desired: r.Desired, DesiredWhy: r.DesiredWhy, Teardown: r.Teardown,
		Ends: lifecycle.Ends{
			TTL: r.EndTTL, Max: r.EndMax, PRClosed: pg.Zero(r.EndPRClosed), PRWhy: r.PREndWhy, LabelRemoved: pg.Zero(r.EndLabelRemoved),
			RunFinished: pg.Zero(r.EndRunFinished), RunWhy: r.RunEndWhy, Claim: pg.Zero(r.EndClaim), Idle: pg.Zero(r.EndIdle), Hold: pg.Zero(r.EndHold),
		},
		NeedsApproval: r.NeedsApproval, ApproveBy: pg.Zero(r.ApproveBy), NeedsTurn: r.NeedsTurn, Abandoned: r.Abandoned,
		MaxTries: r.MaxTries, Tries: r.Tries, DestroyFailures: r.DestroyFailures, Seen: r.Seen,
		RetryAt: pg.Zero(r.RetryAt), WakeAt: pg.Zero(r.WakeAt), ReadyAt: pg.Zero(r.ReadyAt), ReleasedAt: pg.Zero(r.DestroyedAt),
		ReopenedAt: pg.Zero(r.ReopenedAt), Reopened: r.Reopened,
		FailReason: r.FailReason, FailMessage: r.FailMessage, FailWhose: r.FailWhose, FailNext: r.FailNext,
		Blockers: r.Blockers, StuckReason: r.StuckReason, StuckWhose: r.StuckWhose, StuckNext: r.StuckNext, Place: r.Place,
		Progress: lifecycle.Progress{Percent: r.ProgressPercent, Step: r.ProgressStep, ETA: pg.Zero(r.ProgressETA), Late: pg.Zero(r.ProgressLate)},
		Workers:  r.Workers, WorkersWanted: r.WorkersWanted, WorkersBase: r.WorkersBase, WorkersLeast: r.WorkersLeast, WorkersMost: r.WorkersMost,
		ScaleFailures: r.ScaleFailures,
		Addons:        r.Addons, AddonsWanted: r.AddonsWanted, AddonsDone: r.AddonsDone, AddonFailures: r.AddonFailures,
		WarnBefore: r.WarnBefore, WarnedEnd: pg.Zero(r.WarnedEnd), WarnedBefore: r.WarnedBefore,
		AccessWanted: r.AccessWanted, AccessDone: r.AccessDone, AccessFailures: r.AccessFailures, AccessRetryAt: pg.Zero(r.AccessRetryAt),
		SleepMode: mode, SleepWanted: r.SleepWanted, SleepUntil: pg.Zero(r.SleepUntil), SleepWhy: r.SleepWhy,
		Power: r.Power, SleepFailures: r.SleepFailures, SleepRetryAt: pg.Zero(r.SleepRetryAt), Degraded: r.Degraded,
		PowerBy: r.PowerBy, OffHours: r.OffHours, AwakeUntil: pg.Zero(r.AwakeUntil), ActiveAt: pg.Zero(r.ActiveAt), ActiveWhat: r.ActiveWhat,
		HoursAt: pg.Zero(r.HoursAt), RestAt: pg.Zero(r.RestAt), RestWarned: pg.Zero(r.RestWarned),
		Idle: lifecycle.Idle{TellAfter: r.IdleTell, SleepAfter: r.IdleSleep, EndAfter: r.IdleEnd}, UseExtends: r.UseExtends,
		AwakeSince: pg.Zero(r.AwakeSince), IdleTold: pg.Zero(r.IdleTold),
		ObservedAt: pg.Zero(r.ObservedAt), ObserveFailures: r.ObserveFailures, ObserveFailedAt: pg.Zero(r.ObserveFailedAt), TaggedAt: pg.Zero(r.TaggedAt),
	}
}

// LifecycleArgs are the values of heartColumns, by name.
func LifecycleArgs(c lifecycle.Cluster) pgx.NamedArgs {
	blockers, addons := c.Blockers, c.Addons
	var mode *lifecycle.SleepMode
	if c.SleepMode != "" {
		mode = &c.SleepMode
	}
	if blockers == nil {
		blockers = []string{}
	}
	if addons == nil {
		addons = []string{}
	}
	return pgx.NamedArgs{
		"id": c.ID, "status": c.Status, "phase": c.Phase, "why": c.Why,
		"desired": c.Desired, "desired_why": c.DesiredWhy, "teardown": c.Teardown,
		"end_ttl": c.Ends.TTL, "end_max": c.Ends.Max, "end_pr_closed": pg.Null(c.Ends.PRClosed), "pr_end_why": c.Ends.PRWhy,
		"end_label_removed": pg.Null(c.Ends.LabelRemoved), "end_run_finished": pg.Null(c.Ends.RunFinished), "run_end_why": c.Ends.RunWhy, "end_claim": pg.Null(c.Ends.Claim),
		"end_hold": pg.Null(c.Ends.Hold), "needs_approval": c.NeedsApproval, "approve_by": pg.Null(c.ApproveBy), "needs_turn": c.NeedsTurn,
		"abandoned": c.Abandoned,
		"max_tries": c.MaxTries, "tries": c.Tries, "destroy_failures": c.DestroyFailures, "seen": c.Seen,
		"retry_at": pg.Null(c.RetryAt), "wake_at": pg.Null(c.WakeAt), "ready_at": pg.Null(c.ReadyAt), "destroyed_at": pg.Null(c.ReleasedAt),
		"reopened_at": pg.Null(c.ReopenedAt), "reopened": c.Reopened,
		"fail_reason": c.FailReason, "fail_message": c.FailMessage, "fail_whose": c.FailWhose, "fail_next": c.FailNext,
		"blockers": blockers, "stuck_reason": c.StuckReason, "stuck_whose": c.StuckWhose, "stuck_next": c.StuckNext, "place": c.Place,
		"progress_percent": c.Progress.Percent, "progress_step": c.Progress.Step, "progress_eta": pg.Null(c.Progress.ETA), "progress_late": pg.Null(c.Progress.Late),
		"workers": c.Workers, "workers_wanted": c.WorkersWanted, "workers_base": c.WorkersBase, "workers_least": c.WorkersLeast,
		"workers_most": c.WorkersMost, "scale_failures": c.ScaleFailures,
		"addons": addons, "addons_wanted": c.AddonsWanted, "addons_done": c.AddonsDone, "addon_failures": c.AddonFailures,
		"warn_before": c.WarnBefore, "warned_end": pg.Null(c.WarnedEnd), "warned_before": c.WarnedBefore,
		"access_wanted": c.AccessWanted, "access_done": c.AccessDone, "access_failures": c.AccessFailures, "access_retry_at": pg.Null(c.AccessRetryAt),
		"sleep_mode": mode, "sleep_wanted": c.SleepWanted, "sleep_until": pg.Null(c.SleepUntil), "sleep_why": c.SleepWhy,
		"power": c.Power, "degraded": c.Degraded, "sleep_failures": c.SleepFailures, "sleep_retry_at": pg.Null(c.SleepRetryAt),
		"power_by": c.PowerBy, "off_hours": c.OffHours, "awake_until": pg.Null(c.AwakeUntil), "active_at": pg.Null(c.ActiveAt), "active_what": c.ActiveWhat,
		"hours_at": pg.Null(c.HoursAt), "rest_at": pg.Null(c.RestAt), "rest_warned": pg.Null(c.RestWarned),
		"idle_tell": c.Idle.TellAfter, "idle_sleep": c.Idle.SleepAfter, "idle_end": c.Idle.EndAfter, "use_extends": c.UseExtends,
		"awake_since": pg.Null(c.AwakeSince), "idle_told": pg.Null(c.IdleTold), "end_idle": pg.Null(c.Ends.Idle),
		"observed_at": pg.Null(c.ObservedAt), "observe_failures": c.ObserveFailures, "observe_failed_at": pg.Null(c.ObserveFailedAt), "tagged_at": pg.Null(c.TaggedAt),
	}
}

// RowColumns and rowSources select everything a Row holds.
var (
	RowColumns = LifecycleColumns + `,
	c.name, c.generation, c.platform, c.version, c.profile, c.region, c.base_domain, c.owner, c.team, c.cost_center,
	c.environment, c.requested_by, c.source, c.ttl, c.hourly_cents, c.effective_tags, c.spec,
	c.installation, c.repo, c.pr_number, c.pr_head, c.destroy_at, c.created_at, c.updated_at, c.hold_why, c.nodes, c.asleep_cents, c.worker_micros,
	o.api_url, o.console_url, o.kubeconfig_s3_uri, o.kubeadmin_secret_ref, o.metadata_s3_uri,
	coalesce((SELECT t.since FROM turns t WHERE t.cluster_id = c.id AND c.needs_turn),
		(SELECT r.since FROM reservations r WHERE r.cluster_id = c.id AND r.state = 'waiting' AND c.phase = 'awaiting_capacity'),
		(SELECT q.since FROM runner_queue q WHERE q.cluster_id = c.id AND c.place > 0)) AS waits_since,
	coalesce((SELECT t.eta FROM turns t WHERE t.cluster_id = c.id AND c.needs_turn),
		(SELECT q.eta FROM runner_queue q WHERE q.cluster_id = c.id AND c.place > 0)) AS turn_eta,
	(SELECT j.id FROM jobs j WHERE j.cluster_id = c.id ORDER BY j.created_at DESC, j.id DESC LIMIT 1) AS job_id,
	ARRAY(` + usage.IdentitiesOf + `) AS identities,
	rc.run_id, rc.attempt AS run_attempt, rc.slot AS run_slot, rc.lifetime AS run_lifetime, pr.platform AS run_platform, pr.key AS run_key, pr.repo AS run_repo,
	pr.name AS run_name, pr.url AS run_url, pr.state AS run_state, pr.conclusion AS run_conclusion, pr.unwatched AS run_unwatched, ` + usage.MeterColumns
	// Only reads of one cluster ask what replaced it and for which pipelines it has signals: in lists nobody is shown that, and it would
	// cost each page a tenth.
	OfMany = `, '' AS replaced_by, NULL::timestamptz AS free_since, '' AS signal_kind, '' AS signal_told, '' AS signal_problem`
	OfOne  = `, CASE WHEN c.desired = 'present' THEN ''
		WHEN c.repo IS NULL THEN coalesce((SELECT n.name FROM clusters n WHERE n.retry_of = c.id ORDER BY n.id DESC LIMIT 1), '')
		ELSE coalesce((SELECT n.name FROM clusters n
			WHERE n.repo = c.repo AND n.pr_number = c.pr_number AND n.profile = c.profile AND n.generation > c.generation
			ORDER BY n.generation DESC LIMIT 1), '') END AS replaced_by,
	least((SELECT min(g.asked_at) FROM signals g WHERE g.cluster_id = c.id), (SELECT min(w.asked_at) FROM waits w WHERE w.cluster_id = c.id)) AS free_since,
	coalesce((SELECT g.kind FROM signals g WHERE g.cluster_id = c.id ORDER BY g.asked_at DESC, g.id DESC LIMIT 1), '') AS signal_kind,
	coalesce((SELECT g.told FROM signals g WHERE g.cluster_id = c.id ORDER BY g.asked_at DESC, g.id DESC LIMIT 1), '') AS signal_told,
	coalesce((SELECT g.problem FROM signals g WHERE g.cluster_id = c.id ORDER BY g.asked_at DESC, g.id DESC LIMIT 1), '') AS signal_problem`
	RowSources = ` FROM clusters c LEFT JOIN cluster_outputs o ON o.cluster_id = c.id
		LEFT JOIN run_clusters rc ON rc.cluster_id = c.id LEFT JOIN runs pr ON pr.id = rc.run_id` + usage.MeterSources
)

type RowRecord struct {
	LifecycleRecord
	usage.MeterRecord
	Name, Platform, Version, Profile, Region, BaseDomain string
	Generation                                           int
	ReplacedBy                                           string
	Owner, Team, CostCenter, Environment                 string
	RequestedBy, Source                                  string
	TTL                                                  time.Duration
	HourlyCents                                          int
	EffectiveTags                                        map[string]string
	Spec                                                 Spec
	Installation                                         *int64
	Repo                                                 *string
	PRNumber                                             *int
	PRHead                                               *string
	DestroyAt, CreatedAt, UpdatedAt                      time.Time
	HoldWhy                                              string
	Nodes                                                int
	AsleepCents, WorkerMicros                            *int
	APIURL, ConsoleURL                                   *string
	KubeconfigS3URI, KubeadminSecretRef, MetadataS3URI   *string
	WaitsSince, TurnETA                                  *time.Time
	JobID                                                string
	Identities                                           []string
	RunID, RunKey, RunSlot, RunRepo, RunName, RunURL     *string
	RunConclusion, RunUnwatched                          *string
	RunAttempt                                           *int
	RunLifetime                                          *lifecycle.Lifetime
	RunPlatform                                          *lifecycle.Platform
	RunState                                             *lifecycle.RunState
	FreeSince                                            *time.Time
	SignalKind                                           lifecycle.SignalKind
	SignalTold                                           lifecycle.SignalState
	SignalProblem                                        string
}

func (r RowRecord) Row() Row {
	row := Row{
		Card: lifecycle.Card{
			Cluster: r.Cluster(),
			Name:    r.Name, Platform: r.Platform, Profile: r.Profile, Release: r.Version, Region: r.Region, BaseDomain: r.BaseDomain,
			Generation: r.Generation, ReplacedBy: r.ReplacedBy, Owner: r.Owner, Team: r.Team, RequestedBy: r.RequestedBy, TTL: r.TTL,
			AcceptedAt: r.CreatedAt, DestroyAt: r.DestroyAt, UpdatedAt: r.UpdatedAt, WaitsSince: pg.Zero(r.WaitsSince),
			TurnETA: pg.Zero(r.TurnETA), HoldWhy: r.HoldWhy, Nodes: r.Nodes, JobID: r.JobID, Identities: r.Identities,
		},
		CostCenter: r.CostCenter, Environment: r.Environment, Source: r.Source, Tags: r.EffectiveTags, Spec: r.Spec,
	}
	if r.RunID != nil {
		row.Run = lifecycle.Run{
			ID: *r.RunID, Platform: *r.RunPlatform, Key: lifecycle.ShownKey(*r.RunKey), Repo: *r.RunRepo, Name: *r.RunName, URL: *r.RunURL, Attempt: *r.RunAttempt, Slot: *r.RunSlot,
			Lifetime: *r.RunLifetime, State: *r.RunState, Conclusion: *r.RunConclusion, Unwatched: *r.RunUnwatched,
		}
	}
	row.Signal, row.FreeSince = lifecycle.Signal{Kind: r.SignalKind, Told: r.SignalTold, Problem: r.SignalProblem}, pg.Zero(r.FreeSince)
	prices := usage.Prices{List: r.HourlyCents, Asleep: r.AsleepCents, Worker: r.WorkerMicros, Machines: r.Nodes}
	row.ListAsleep, row.WorkerMicros = r.AsleepCents, r.WorkerMicros
	row.ListCents, row.HourlyCents, row.AsleepCents = r.HourlyCents, prices.Now(row.Cluster), prices.WhileAsleep(row.Cluster)
	row.Meter = r.Meter(prices.Coming(row.Cluster))
	if r.Repo != nil {
		row.PR = &PRRef{Installation: *r.Installation, Repo: *r.Repo, Number: *r.PRNumber, Head: *r.PRHead}
	}
	if r.APIURL != nil {
		row.Outputs = &Outputs{
			APIURL: *r.APIURL, ConsoleURL: *r.ConsoleURL,
			KubeconfigRef: *r.KubeconfigS3URI, KubeadminRef: *r.KubeadminSecretRef, MetadataRef: *r.MetadataS3URI,
		}
		row.Card.APIURL, row.Card.ConsoleURL = *r.APIURL, *r.ConsoleURL
	}
	return row
}
