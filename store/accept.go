package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pools"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/usage"
)

// accept writes everything that an accepted request creates, or a claim from a pool changes. It returns the cluster as written and the id of the
// request.
func accept(ctx context.Context, c *db.Tx, a Ask, again string, j Judgement, place *runs.Binding) (written clusters.Row, request string, err error) {
	claimed, err := claimFor(ctx, c, a, j)
	if err != nil {
		return clusters.Row{}, "", err
	}
	if j.Claimed = claimed != ""; j.Claimed {
		j.Row.ID = claimed
	} else if j.ClaimOnly {
		return clusters.Row{}, "", db.ErrNoAccount
	}
	var b db.Batch
	row, request, err := queueAccepted(ctx, c, &b, a, again, j, place)
	if err != nil {
		return row, "", err
	}
	written = row.Written(c.Now)
	if place != nil {
		written.Run = place.LifecycleRun()
	}
	if err := c.Send(ctx, &b); err != nil {
		return row, "", err
	}
	if j.Claimed {
		if written, err = clusters.ReadIn(ctx, c, claimed); err != nil {
			return row, "", err
		}
		if row = written; j.Answer != nil {
			j.Reply = j.Answer(row)
		}
	}
	if err := followAccepted(ctx, c, a, j, row); err != nil {
		return row, "", err
	}
	if place != nil {
		err = placeInRun(ctx, c, *place, row)
	}
	return written, request, err
}

// claimFor takes a waiting cluster from a pool for the request, and returns its id; empty: it is to be made anew. What has to wait, for an approval
// or a quota, takes none.
func claimFor(ctx context.Context, c *db.Tx, a Ask, j Judgement) (id string, err error) {
	if len(j.Pools) == 0 || j.Approval != nil || j.Turn != nil {
		return "", nil
	}
	row := j.Row
	row.Addons, row.Spec.Advice = addonNames(j.Addons), j.Advice
	c.Enqueue(queue.PoolsArgs{})
	return pools.Claim(ctx, c, pools.Request{
		Accounts: j.Accounts, AnyDomain: j.AnyDomain, Regions: j.Regions,
		Pools: j.Pools, Row: row, MaxTTL: j.MaxTTL, UserTags: j.UserTags, Weight: j.Weight, Access: j.Access != nil, RetryOf: a.RetryOf, Patient: a.patient, AddonsOf: j.AddonsOf,
	})
}

// queueAccepted adds to a batch what an accepted request creates: the request, the cluster, its CREATE job, the approval and the queue turn
// it needs, the first usage sample and the subscribers. A claimed cluster is there, and gets a PREPARE job.
func queueAccepted(ctx context.Context, c *db.Tx, b *db.Batch, a Ask, again string, j Judgement, place *runs.Binding) (row clusters.Row, request string, err error) {
	row = fill(c, j)
	if counted := (usage.Scope{Person: row.RequestedBy, Team: row.Team, Repo: row.Repo(), Everywhere: a.Scope.Everywhere, Accounts: a.Scope.Accounts, Cohort: a.Scope.Cohort}); counted != a.Scope {
		return row, "", fmt.Errorf("%w: counted for %+v and accepted for %+v", db.ErrConflict, a.Scope, counted)
	}
	request = queueRequest(ctx, c, b, a, again, j, row.ID)
	if j.Claimed {
		b.Insert(insertJob, row.JobID, row.ID, lifecycle.JobPrepare, c.Now)
		queueShows(c, b, row)
	} else if err := queueCluster(c, b, row, j, a.RetryOf); err != nil {
		return row, "", err
	}
	if place != nil {
		place.Queue(c, b, row.ID)
	}
	if j.Access != nil {
		ask := *j.Access
		if place != nil {
			ask.OfRun = place.Asker()
		}
		access.Queue(c, b, access.Row{Ask: ask, ID: db.NewID("acc"), Cluster: row.ID, Number: 1})
	}
	if j.Show != nil {
		queueInSlack(c, b, row, *j.Show)
	}
	if j.Approval != nil {
		asked := *j.Approval
		asked.ID = cmp.Or(asked.ID, db.NewID("apr"))
		queueApproval(c, b, row, asked)
		if err := announceApproval(ctx, c, row.ID, asked.ID); err != nil {
			return row, "", err
		}
	}
	if j.Turn != nil {
		queueTurn(c, b, row, max(j.Weight, 1), *j.Turn)
	}
	return row, request, nil
}

// followAccepted writes what follows from an accepted request: replies, announcements, the wake-up and the audit line.
func followAccepted(ctx context.Context, c *db.Tx, a Ask, j Judgement, row clusters.Row) error {
	if err := respond(ctx, c, j); err != nil {
		return err
	}
	if err := clusters.AnnounceBudget(ctx, c, j.Budget); err != nil {
		return err
	}
	if a.RetryOf != "" {
		if err := clusters.NewVersion(ctx, c, a.RetryOf); err != nil {
			return err
		}
	}
	c.Enqueue(queue.ReconcileArgs{Cluster: row.ID, Pokes: 1})
	line := clusters.Action{Move: db.Move{To: clusters.StatusAndPhase(row.Cluster), Why: row.Why.String(), Job: row.JobID, Name: row.Name, Source: row.Source}}
	if len(j.Verdict) > 0 {
		line.Verdict = j.Verdict
	}
	act := "accepted"
	if j.Claimed {
		act, line.Why = "claimed", "from the pool "+row.Pool
	}
	return c.RecordLine(row.RequestedBy, act, row.Source, row.ID, line)
}

// placeInRun records that a cluster belongs to its run, and ends the one that it replaces there.
func placeInRun(ctx context.Context, c *db.Tx, p runs.Binding, row clusters.Row) error {
	if err := p.Record(ctx, c, row.RequestedBy, row.ID); err != nil || p.Replaces == "" {
		return err
	}
	cur, err := clusters.Lock(ctx, c, p.Replaces)
	if err != nil {
		return err
	}
	_, err = destroy(ctx, c, cur, clusters.Origin{Actor: db.Lifecycle, Why: "a newer attempt of its run has a new cluster, " + row.Name})
	return err
}

// respond writes what a judgement changes on GitHub: its reply and its effects.
func respond(ctx context.Context, c *db.Tx, j Judgement) error {
	if j.Reply != nil {
		if err := clusters.SaveReply(ctx, c, *j.Reply); err != nil {
			return err
		}
	}
	return clusters.SaveEffects(ctx, c, j.Effects)
}

// fill sets what the service left open: ids, times and the initial state.
func fill(c *db.Tx, j Judgement) clusters.Row {
	row := j.Row
	if row.ID == "" {
		row.ID = db.NewID("clu")
	}
	if row.JobID == "" {
		row.JobID = db.NewID("job")
	}
	if row.AcceptedAt.IsZero() {
		row.AcceptedAt = c.Now
	}
	row.Ends.TTL, row.Ends.Max = row.AcceptedAt.Add(row.TTL), row.AcceptedAt.Add(j.MaxTTL)
	row.MaxTries = max(row.MaxTries, 1)
	row.Generation = max(row.Generation, 1)
	row.Desired, row.WakeAt = lifecycle.Present, c.Now
	row.Status, row.Phase = lifecycle.Pending, lifecycle.Queued
	if j.Turn != nil {
		row.NeedsTurn, row.Phase, row.Position = true, lifecycle.AwaitingCapacity, max(j.Turn.Position, 1) // so that the first that is shown of it has it
	}
	if j.Approval != nil {
		row.Position = 0
		row.NeedsApproval, row.ApproveBy, row.Phase = true, c.Now.Add(j.Approval.For), lifecycle.AwaitingApproval
	}
	row.Addons = addonNames(j.Addons)
	if j.Access != nil {
		row.AskWork(lifecycle.Access)
	}
	if row.Why.IsZero() {
		row.Why.Code = lifecycle.MoveAccepted
	}
	return row
}

var insertSample = db.NewInsert("write usage", "cluster text, at timestamptz, state text, workers integer", `
	INSERT INTO usage_samples (cluster_id, sample_time, state, worker_replicas, estimated_hourly_cost) SELECT cluster, at, state, workers, 0 FROM given`)

// queueCluster adds to a batch what every new cluster has: its row, its CREATE job and the first usage sample.
func queueCluster(c *db.Tx, b *db.Batch, row clusters.Row, j Judgement, retryOf string) error {
	clusters.QueueRow(b, row, j.UserTags, max(j.Weight, 1), retryOf, c.Now)
	b.Insert(insertJob, row.JobID, row.ID, lifecycle.JobCreate, c.Now)
	b.Insert(insertSample, row.ID, c.Now, row.Status, row.WorkersBase)
	queueShows(c, b, row)
	return queueAddons(b, row.ID, j.Addons)
}

// queueShows adds what shows the cluster on its pull request, if it has one.
func queueShows(c *db.Tx, b *db.Batch, row clusters.Row) {
	if row.PR != nil {
		queueSubscribers(c, b, row)
		clusters.ScheduleLook(c, b, *row.PR)
	}
}

// queueApproval writes the approval that the cluster needs before it starts.
func queueApproval(c *db.Tx, b *db.Batch, row clusters.Row, a ApprovalAsk) {
	b.Do("ask for an approval", `
		INSERT INTO approvals (id, kind, cluster_id, team, requested_by, why, asked, asked_at, head, needs, self_approval, by_role, created_at, expires_at)
		VALUES (@id, 'create', @cluster, @team, @by, @why, @asked, @at, @head, @needs, @self, @role, @now, @expires)`,
		pgx.NamedArgs{
			"id": a.ID, "cluster": row.ID, "team": row.Team, "by": row.RequestedBy, "why": a.Why, "asked": a.Asked,
			"at": db.Null(a.At), "head": a.Head, "needs": a.Needs, "self": a.Self, "role": a.By, "now": c.Now, "expires": row.ApproveBy,
		})
}

var insertSubscriber = db.NewInsert("add a place that shows it",
	"id text, cluster text, kind text, installation bigint, repo text, number integer, head text, nudge timestamptz", `
	INSERT INTO subscribers (id, cluster_id, kind, installation, repo, number, head, wanted_version, nudge_at)
	SELECT id, cluster, kind, installation, repo, number, head, 1, nudge FROM given
	WHERE kind <> '`+clusters.KindDeployment+`' OR NOT EXISTS (SELECT FROM pull_requests p WHERE p.repo = given.repo AND p.number = given.number AND p.fork)`)

// queueSubscribers adds what shows the cluster on its pull request (comment, check, deployment, and label where a label asked
// for it), and asks to publish there. The head of a fork gets no deployment: workflows that start by one run that commit with the rights of the
// repository, and an approval of the commit is for the cluster only.
func queueSubscribers(c *db.Tx, b *db.Batch, row clusters.Row) {
	kinds := []string{clusters.KindComment, clusters.KindCheck, clusters.KindDeployment}
	if row.Source == byLabel {
		kinds = append(kinds, clusters.KindLabel)
	}
	for _, kind := range kinds {
		id := db.NewID("sub")
		b.Insert(insertSubscriber, id, row.ID, kind, row.PR.Installation, row.PR.Repo, row.PR.Number, row.PR.Head, c.Now.Add(clusters.NudgeSoon))
		c.Enqueue(queue.PublishArgs{Subscriber: id, Version: 1})
	}
}

// queueInSlack adds what shows the cluster in the channel in which somebody asked for it: one message, and the thread below it.
func queueInSlack(c *db.Tx, b *db.Batch, row clusters.Row, at clusters.SlackPlace) {
	for _, kind := range []string{clusters.KindSlackMessage, clusters.KindSlackThread} {
		id := db.NewID("sub")
		b.Do("add a place in Slack that shows it", `
			INSERT INTO subscribers (id, cluster_id, kind, workspace, channel, person, wanted_version, nudge_at)
			VALUES (@id, @cluster, @kind, @workspace, @channel, @person, 1, @nudge)`,
			pgx.NamedArgs{"id": id, "cluster": row.ID, "kind": kind, "workspace": at.Workspace, "channel": at.Channel, "person": at.Person,
				"nudge": c.Now.Add(clusters.NudgeSoon)})
		c.Enqueue(queue.PublishArgs{Subscriber: id, Version: 1})
	}
}

// byLabel is the entry point of a request that a label made, as policy spells it.
const byLabel = "pr_label"
