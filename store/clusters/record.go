package clusters

import (
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// clockJobs are the types of jobs that follow from the clock. A cluster's newest job, whose log people read, is none of them.
const clockJobs = `'` + string(lifecycle.JobObserve) + `', '` + string(lifecycle.JobTag) + `', '` + string(lifecycle.JobInform) + `'`

// RowColumns and RowSources select everything that a Row holds.
var (
	RowColumns = LifecycleColumns + `,
	c.name, c.generation, c.platform, c.version, c.profile, c.region, c.base_domain, c.owner, c.team, c.cost_center,
	c.pool_digest, c.account, c.exclusive, c.priority, c.claimed_at, (c.waited ->> 'created_at')::timestamptz AS made_at, (c.waited ->> 'ready_at')::timestamptz AS made_ready_at, c.waited -> 'effective_tags' AS waited_tags,
	c.environment, c.requested_by, c.source, c.ttl, c.hourly_cents, c.effective_tags, c.spec,
	c.installation, c.repo, c.pr_number, c.pr_head, c.destroy_at, c.created_at, c.updated_at, c.hold_why, c.hold_source, c.nodes, c.asleep_cents, c.worker_micros, c.on_demand_cents,
	o.api_url, o.console_url, o.kubeconfig_s3_uri, o.kubeadmin_secret_ref, o.metadata_s3_uri, o.links,
	coalesce((SELECT t.since FROM turns t WHERE t.cluster_id = c.id AND c.needs_turn),
		(SELECT r.since FROM reservations r WHERE r.cluster_id = c.id AND r.state = 'waiting' AND c.phase = 'awaiting_capacity'),
		(SELECT q.since FROM runner_queue q WHERE q.cluster_id = c.id AND c.position > 0)) AS waits_since,
	coalesce((SELECT t.eta FROM turns t WHERE t.cluster_id = c.id AND c.needs_turn),
		(SELECT q.eta FROM runner_queue q WHERE q.cluster_id = c.id AND c.position > 0)) AS turn_eta,
	(SELECT j.id FROM jobs j WHERE j.cluster_id = c.id AND j.job_type NOT IN (` + clockJobs + `) ORDER BY j.created_at DESC, j.id DESC LIMIT 1) AS job_id,
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
	Lifecycle LifecycleRecord
	usage.MeterRecord
	Name, Platform, Version, Profile, Region, BaseDomain string
	Generation, Priority                                 int
	Exclusive                                            bool
	ReplacedBy                                           string
	Owner, Team, CostCenter, Environment                 string
	RequestedBy, Source, PoolDigest, Account             string
	ClaimedAt, MadeAt, MadeReadyAt                       *time.Time
	WaitedTags                                           map[string]string
	TTL                                                  time.Duration
	HourlyCents                                          int
	EffectiveTags                                        map[string]string
	Spec                                                 Spec
	Installation                                         *int64
	Repo                                                 *string
	PRNumber                                             *int
	PRHead                                               *string
	DestroyAt, CreatedAt, UpdatedAt                      time.Time
	HoldWhy, HoldSource                                  string
	Nodes                                                int
	AsleepCents, WorkerMicros, OnDemandCents             *int
	APIURL, ConsoleURL                                   *string
	KubeconfigS3URI, KubeadminSecretRef, MetadataS3URI   *string
	Links                                                []lifecycle.Link
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
			Cluster: r.Lifecycle.Cluster,
			Name:    r.Name, Platform: r.Platform, Profile: r.Profile, Release: r.Version, Region: r.Region, BaseDomain: r.BaseDomain,
			Generation: r.Generation, ReplacedBy: r.ReplacedBy, Owner: r.Owner, Team: r.Team, RequestedBy: r.RequestedBy, TTL: r.TTL,
			AcceptedAt: r.CreatedAt, DestroyAt: r.DestroyAt, UpdatedAt: r.UpdatedAt, WaitsSince: db.Zero(r.WaitsSince),
			TurnETA: db.Zero(r.TurnETA), HoldWhy: r.HoldWhy, Nodes: r.Nodes, JobID: r.JobID, Identities: r.Identities,
		},
		CostCenter: r.CostCenter, Environment: r.Environment, Source: r.Source, HoldSource: r.HoldSource, Tags: r.EffectiveTags, Spec: r.Spec,
	}
	row.PoolDigest, row.Account, row.Exclusive, row.Priority, row.MadeAt = r.PoolDigest, r.Account, r.Exclusive, r.Priority, row.AcceptedAt
	if r.ClaimedAt != nil {
		row.ClaimedAt, row.MadeAt, row.WaitedTags = *r.ClaimedAt, *r.MadeAt, r.WaitedTags
		row.WaitSpared = r.MadeReadyAt.Sub(*r.MadeAt)
	}
	if r.RunID != nil {
		row.Run = lifecycle.Run{
			ID: *r.RunID, Platform: *r.RunPlatform, Key: lifecycle.ShownKey(*r.RunKey), Repo: *r.RunRepo, Name: *r.RunName, URL: *r.RunURL, Attempt: *r.RunAttempt, Slot: *r.RunSlot,
			Lifetime: *r.RunLifetime, State: *r.RunState, Conclusion: *r.RunConclusion, Unwatched: *r.RunUnwatched,
		}
	}
	row.Signal, row.FreeSince = lifecycle.Signal{Kind: r.SignalKind, Told: r.SignalTold, Problem: r.SignalProblem}, db.Zero(r.FreeSince)
	prices := usage.Prices{List: r.HourlyCents, Asleep: r.AsleepCents, Worker: r.WorkerMicros, OnDemand: r.OnDemandCents, Machines: r.Nodes}
	row.ListAsleep, row.OnDemandCents = r.AsleepCents, r.OnDemandCents
	row.ListCents, row.WorkerMicros = prices.Listed(row.Cluster)
	row.HourlyCents, row.AsleepCents, row.SpotSaves = prices.Now(row.Cluster), prices.WhileAsleep(row.Cluster), prices.SpotSaves(row.Cluster)
	row.Meter = r.Meter(prices.Coming(row.Cluster))
	if r.Repo != nil {
		row.PR = &PRRef{Installation: *r.Installation, Repo: *r.Repo, Number: *r.PRNumber, Head: *r.PRHead}
	}
	if r.APIURL != nil {
		row.Outputs = &Outputs{
			APIURL: *r.APIURL, ConsoleURL: *r.ConsoleURL,
			KubeconfigRef: *r.KubeconfigS3URI, KubeadminRef: *r.KubeadminSecretRef, MetadataRef: *r.MetadataS3URI,
		}
		row.Card.APIURL, row.Card.ConsoleURL, row.Card.Links = *r.APIURL, *r.ConsoleURL, r.Links
	}
	return row
}
