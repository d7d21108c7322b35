package api

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/reports"
)

// toCluster converts a row for the API.
func toCluster(row clusters.Row, name func(string) string) v1.Cluster {
	c := v1.Cluster{
		ClusterID: row.ID, Name: row.Name, Status: v1.Status(row.Status), Phase: string(row.Phase), Why: chatops.Brief(row.Card),
		Desired: v1.ClusterDesired(row.Desired), DesiredWhy: chatops.BriefEnd(row.Card),
		Platform: row.Platform, Profile: row.Profile, Provisioner: row.Provisioner, Version: row.Release, Region: row.Region, BaseDomain: row.BaseDomain,
		Generation: row.Generation, Owner: row.Owner, Team: row.Team, CostCenter: row.CostCenter, Environment: row.Environment,
		RequestedBy: row.RequestedBy, RequestedByName: name(row.RequestedBy), Source: row.Source, TTLSeconds: int64(row.TTL / time.Second),
		AcceptedAt: row.AcceptedAt.UTC(), DestroyAt: row.DestroyAt.UTC(), EndReason: row.Ends.Reason().String(), UpdatedAt: row.UpdatedAt.UTC(),
		ReadyAt: utc(row.ReadyAt), ReleasedAt: utc(row.ReleasedAt), HourlyCents: row.HourlyCents, SpotSavesCents: row.SpotSaves, Meter: toMeter(row.Meter),
		APIURL: row.APIURL, ConsoleURL: row.ConsoleURL, JobID: row.JobID,
		Progress:      v1.Progress{Percent: row.Progress.Percent, Step: row.Progress.Step, Eta: utc(row.Progress.ETA), Late: utc(row.Progress.Late)},
		InstallFailed: row.DesiredWhy.Code == lifecycle.ReasonInstallFailed, FailReason: row.FailReason, FailMessage: row.FailMessage, FailWhose: row.FailWhose, FailNext: row.FailNext,
		Nodes: row.Nodes, Workers: row.Workers, WorkersWanted: row.WorkersWanted,
		Addons: row.Addons, Refreshing: row.Work[lifecycle.Configure].IsRequested(), HoldUntil: utc(row.Ends.Hold), MaxDestroyAt: utc(row.Ends.Max),
		NeedsApproval: row.NeedsApproval, ApproveBy: utc(row.ApproveBy),
		Position: row.Position, WaitsSince: utc(row.WaitsSince), RetryAt: dueTime(row), Blockers: lifecycle.DescribeBlockers(row.Blockers), Identities: row.Identities,
	}
	c.Account, c.Priority = row.Account, row.Priority
	c.Pool, c.ClaimedAt, c.WaitSparedSeconds = row.Pool, utc(row.ClaimedAt), toSeconds(row.WaitSpared)
	for _, l := range row.LinksNow() {
		c.Links = append(c.Links, v1.ClusterLink{Title: l.Title, URL: l.URL})
	}
	c.Usable, c.Sleep, c.Idle = row.Usable(), sleepOf(row), idleOf(row.Cluster)
	c.Run, c.Signal, c.SavedSeconds = clusterRun(row.Run), clusterSignal(row.Signal), int64(row.SavedTime()/time.Second)
	if row.PR != nil {
		c.PullRequest = v1.PullRequest{Repo: row.PR.Repo, Number: row.PR.Number, Head: row.PR.Head}
	}
	return c
}

// sleepOf returns how a cluster sleeps; empty if it cannot.
func sleepOf(row clusters.Row) v1.Sleep {
	if row.SleepMode == "" {
		return v1.Sleep{}
	}
	return v1.Sleep{
		Mode: v1.SleepMode(row.SleepMode), Wanted: row.SleepWanted, Until: utc(row.SleepUntil), Why: row.SleepWhy, HourlyCents: row.AsleepCents, OffHours: row.OffHours,
		AwakeUntil: utc(row.AwakeUntil), SleepsAt: utc(row.FallsAsleepAt()),
	}
}

// idleOf returns since when nobody has used a cluster; empty if nothing follows from that.
func idleOf(c lifecycle.Cluster) v1.Idle {
	if !c.CountsIdle() {
		return v1.Idle{}
	}
	return v1.Idle{Since: utc(c.UnusedSince()), LastUse: string(c.ActiveWhat), Unobserved: c.Unobserved(), TellAt: utc(c.IdleTellAt()), SleepAt: utc(c.IdleSleepAt()), EndAt: utc(c.Ends.Idle)}
}

// toMeter returns the inputs from which programs compute the same cents as every page.
func toMeter(m price.Meter) v1.Meter {
	return v1.Meter{Ran: int64(m.Ran), Since: utc(m.Since), RateCents: m.Rate, ToComeCents: m.ToCome, Saved: int64(m.Less), SavedCents: m.LessNow}
}

// dueTime returns when the next attempt may begin; zero for a cluster that is ready or destroyed.
func dueTime(row clusters.Row) time.Time {
	if row.Status == lifecycle.Ready || row.Status == lifecycle.Destroyed {
		return time.Time{}
	}
	return utc(row.RetryAt)
}

// toDetail returns everything about one cluster. The error names a stored document that cannot be parsed.
func toDetail(d app.Details, name func(string) string) (v1.ClusterDetail, error) {
	out := v1.ClusterDetail{
		Cluster: toCluster(d.Row, name), Job: job(d.Job), Tags: d.Row.Tags,
		Conditions: []v1.Condition{}, Attempts: []v1.Attempt{}, Proof: []v1.Pass{}, Timeline: []v1.Event{},
		NothingBegun: len(d.Attempts) == 0, Actions: listActions(d.Actions),
	}
	if d.Row.Outputs != nil {
		out.Outputs = outputs(d.Row)
	}
	for _, c := range d.Conditions {
		out.Conditions = append(out.Conditions, v1.Condition{
			Type: c.Type, Status: v1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message, Since: utc(c.At),
		})
	}
	for _, a := range d.Attempts {
		out.Attempts = append(out.Attempts, toAttempt(a))
	}
	for _, v := range d.Verifications {
		one, err := pass(v)
		if err != nil {
			return v1.ClusterDetail{}, err
		}
		out.Proof = append(out.Proof, one)
	}
	out.Timeline = toEvents(d.Timeline, name)
	return out, nil
}

func toEvents(all []store.Event, name func(string) string) []v1.Event {
	out := make([]v1.Event, 0, len(all))
	for _, e := range all {
		out = append(out, v1.Event{At: e.At.UTC(), Actor: e.Actor, ActorName: name(e.Actor), Action: e.Action, From: e.From, To: e.To, Message: messages.AuditText(messages.AuditLine{Actor: e.Actor, Name: e.Name, Action: e.Action, Why: e.Why, Reason: e.Reason, Meta: e.Meta, NameOf: name})})
	}
	return out
}

// toVerdict converts policy's answer for the API.
func toVerdict(v policy.Verdict) v1.Verdict {
	g := v.Grant
	out := v1.Verdict{
		Allowed: v.Allowed, Message: verdictText(v), Checks: toChecks(v.Checks), Waits: len(v.Full()) > 0, Catalogue: v.Catalogue,
		Name: g.Name, Profile: g.Profile, Provisioner: g.Provisioner, Region: g.Region, Version: g.Version, BaseDomain: g.BaseDomain, Team: g.Ownership.Team,
		Owner: g.Ownership.Owner, CostCenter: g.Ownership.CostCenter, Environment: g.Ownership.Environment, Nodes: g.Nodes,
		TTLSeconds: toSeconds(g.TTL), MaxSeconds: toSeconds(g.MaxTTL), HourlyCents: g.HourlyCents, TotalCents: g.PriceCents, Tags: g.Tags,
	}
	if a := v.Approval; a != nil {
		out.NeedsApproval = v1.ApprovalTerms{Count: a.Count, By: string(a.By), WithinSeconds: toSeconds(a.For), Why: append([]string{}, a.Why...)}
	}
	return out
}

func toChecks(all []policy.Check) []v1.Check {
	out := make([]v1.Check, 0, len(all))
	for _, c := range all {
		one := v1.Check{Name: c.Name, Result: v1.CheckResult(c.Result), Asked: c.Asked, Have: c.Have, Accept: c.Accept, Message: c.Message, Next: c.Next, Summarizes: c.Summarizes()}
		if len(c.Checks) > 0 {
			one.Checks = toChecks(c.Checks)
		}
		out = append(out, one)
	}
	return out
}

func toAttempt(a attempts.AttemptRow) v1.Attempt {
	return v1.Attempt{
		Number: a.Number, Kind: v1.AttemptKind(a.Kind), Phase: string(a.Phase), OpenedAt: a.OpenedAt.UTC(),
		ClaimedAt: when(a.ClaimedAt), RecordedAt: when(a.RecordedAt), ToolExitedAt: when(a.ToolExitedAt), ToolExitCode: a.ToolExitCode,
		ClosedAt: when(a.ClosedAt), Outcome: string(a.Outcome), Reason: a.Reason, Message: a.Message, Whose: a.Whose, Next: a.Next,
	}
}

func pass(v attempts.VerificationRow) (v1.Pass, error) {
	out := v1.Pass{
		Attempt: v.Attempt, Number: v.Number, At: v.At.UTC(), Clean: v.Clean, Account: v.Account, Control: v.Control,
		Identities: append([]string{}, v.Identities...), Queries: []v1.Query{}, Leftovers: []v1.Leftover{},
	}
	if err := read(v.Queries, &out.Queries); err != nil {
		return v1.Pass{}, fmt.Errorf("queries of pass %d of attempt %d: %w", v.Number, v.Attempt, err)
	}
	if err := read(v.Leftovers, &out.Leftovers); err != nil {
		return v1.Pass{}, fmt.Errorf("leftovers of pass %d of attempt %d: %w", v.Number, v.Attempt, err)
	}
	if out.Queries == nil { // stored as JSON null
		out.Queries = []v1.Query{}
	}
	if out.Leftovers == nil {
		out.Leftovers = []v1.Leftover{}
	}
	return out, nil
}

func read(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// outputs returns a cluster's URLs. The references are not resolved.
func outputs(row clusters.Row) v1.Outputs {
	return v1.Outputs{
		APIURL: row.Outputs.APIURL, ConsoleURL: row.Outputs.ConsoleURL,
		Kubeconfig: "/api/v1/clusters/" + row.ID + "/kubeconfig",
	}
}

func job(j reports.Job) v1.Job {
	out := v1.Job{
		JobID: j.ID, ClusterID: j.Cluster, Type: string(j.Type), Status: string(j.Status), Attempt: j.Attempt,
		ErrorCode: j.ErrorCode, ErrorMessage: j.ErrorMessage, CreatedAt: j.CreatedAt.UTC(),
	}
	out.StartedAt, out.EndedAt = when(j.StartedAt), when(j.EndedAt)
	return out
}

// when returns a time that may be missing; then it is omitted.
func when(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// utc keeps the zero time zero, so that it is omitted.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}
