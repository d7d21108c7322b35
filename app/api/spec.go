package api

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// toSpec is everything that a runner gets.
func toSpec(row attempts.SpecRow, set RunnerSettings) contract.Spec {
	out := contract.Spec{
		Attempt: row.Attempt, Number: row.Number, Kind: string(row.Kind), Cluster: row.Row.ID, Job: row.Job,
		Correlation: row.Cause.Correlation, Traceparent: row.Cause.Traceparent,
		Installation: installationOf(row, set), Name: row.Row.Name, BaseDomain: row.Row.BaseDomain, Platform: row.Row.Platform,
		Provisioner: row.Row.Provisioner, Server: row.Row.Spec.Server,
		Region: row.Row.Region, Version: row.Row.Release, Account: accountFor(row), Tags: row.Row.Tags,
		Zones: row.Row.Spec.Zones, Publish: profiles.PublishOf(row.Row.Spec.InstallConfig), CredentialsMode: cmp.Or(row.Row.Spec.CredentialsMode, "Mint"), ReleaseImage: row.Row.Spec.ReleaseImage,
		PullSecretRef: row.Row.Spec.PullSecretRef, SSHKey: row.Row.Spec.SSHKey, SSHKeyRef: row.Row.Spec.SSHKeyRef,
		CloudCredentialsRef: row.Row.Spec.CloudCredsRef, CloudRole: row.Row.Spec.CloudRole,
		Bucket: set.Bucket, KMSKey: set.KMSKey, OperateKMSKey: set.OperateKMSKey,
		Identities: toIdentities(row, installationOf(row, set)), Snapshots: toSnapshots(row.Artifacts),
		Heartbeat: set.Heartbeat, VerifyGap: set.VerifyGap, SnapshotMaxAge: set.SnapshotMaxAge,
		CreateDeadline: row.Row.Spec.CreateDeadline, DestroyDeadline: row.Row.Spec.DestroyDeadline,
	}
	out.Accepted = toAccepted(row.Row)
	if out.Kind == contract.KindScale {
		out.Scale = toScale(row)
	}
	if out.Kind == contract.KindSleep || out.Kind == contract.KindWake {
		addPower(&out, row)
	}
	for _, a := range row.Addons {
		out.Addons = append(out.Addons, toAddon(a))
	}
	if slices.Contains([]string{contract.KindConfigure, contract.KindAccess, contract.KindObserve, contract.KindInform, contract.KindPrepare}, out.Kind) && row.Row.Outputs != nil {
		out.KubeconfigRef = kubeconfigRef(row.Row)
	}
	switch out.Kind {
	case contract.KindDestroy:
		out.WaitedTags = row.Row.WaitedTags
	case contract.KindInform:
		out.Card, out.RouteLabel = toCard(row.Row, set), set.RouteLabel
	case contract.KindPrepare:
		out.Card = toCard(row.Row, set)
	}
	if out.Kind == contract.KindCreate {
		out.InstallConfig, out.ShortZones, out.Spot = row.Row.Spec.InstallConfig, row.ShortZones, row.Spot
		if out.Zones = profiles.ZonesWithout(row.Row.Spec.Zones, row.Row.Spec.SpareZones, row.ShortZones); !slices.Equal(out.Zones, row.Row.Spec.Zones) {
			out.InstallConfig = profiles.MoveZones(out.InstallConfig, out.Zones)
		}
		out.Identities, out.Snapshots = nil, nil // a create never uses earlier state: fresh directory, new infraID
	}
	return out
}

// installationOf returns the id of the installation that accepted the cluster: names were derived from it, and stay the same if the
// installation's id changes.
func installationOf(row attempts.SpecRow, set RunnerSettings) string {
	return cmp.Or(row.Row.Tags[tagkey.Installation], set.Installation)
}

// toAccepted returns what the runner stores in the bucket for a recovery without the database.
func toAccepted(row clusters.Row) *contract.Accepted {
	out := &contract.Accepted{
		At: row.MadeAt, Profile: row.Profile, Generation: row.Generation, RequestedBy: row.RequestedBy, Source: row.Source,
		HourlyCents: row.ListCents, Nodes: row.Nodes, Workers: row.WorkersBase, WorkersLeast: row.WorkersLeast, WorkersMost: row.WorkersMost,
		SleepMode: string(row.SleepMode), AsleepCents: row.ListAsleep, WorkerMicros: row.WorkerMicros,
	}
	out.Provisioner, out.Server = row.Provisioner, row.Spec.Server
	if row.Account != "" {
		out.Account, out.Exclusive, out.CloudCredentialsRef, out.ServiceAccounts = row.Account, row.Exclusive, row.Spec.CloudCredsRef, row.Spec.ServiceAccounts
		out.CloudRole = row.Spec.CloudRole
	}
	if row.Source == store.Recovery { // the row is younger than its resources
		out.At = time.Time{}
	}
	if pr := row.PR; pr != nil {
		out.PullRequest = &contract.PullRequest{Installation: pr.Installation, Repo: pr.Repo, Number: pr.Number, Head: pr.Head}
	}
	return out
}

// toCard returns what the cluster says about itself.
func toCard(row clusters.Row, set RunnerSettings) *contract.Card {
	out := &contract.Card{Owner: row.Owner, Team: row.Team, Ends: row.CardEnd().UTC(), UnusedFor: row.Idle.EndAfter}
	if row.UseExtends && (out.UnusedFor == 0 || row.TTL < out.UnusedFor) {
		out.UnusedFor = row.TTL
	}
	if row.PR != nil && set.Site != "" {
		out.PullRequest = fmt.Sprintf("%s/%s/pull/%d", set.Site, row.PR.Repo, row.PR.Number)
	}
	return out
}

// toScale returns the additional part for a scale attempt.
func toScale(row attempts.SpecRow) *contract.Scale {
	out := &contract.Scale{Workers: row.Workers}
	if base := row.Row.WorkersBase; base != nil {
		out.Usual = *base
	}
	if row.Row.Outputs != nil {
		out.KubeconfigRef = kubeconfigRef(row.Row)
	}
	return out
}

// addPower adds how the cluster is put to sleep or woken. It wakes with the workers that it had.
func addPower(out *contract.Spec, row attempts.SpecRow) {
	of := toScale(row)
	out.Power = &contract.Power{Mode: string(row.Row.SleepMode), KubeconfigRef: of.KubeconfigRef}
	if base := row.Row.WorkersBase; base != nil {
		out.Power.ControlPlane = row.Row.Nodes - *base
	}
	if out.Power.Mode != contract.PowerWorkers {
		return
	}
	out.Scale, of.Workers = of, 0
	if out.Kind == contract.KindSleep {
		return
	}
	if of.Workers = of.Usual; row.Row.Workers != nil {
		of.Workers = *row.Row.Workers
	}
}

// kubeconfigRef returns the object with the cluster's kubeconfig; empty if the row refers to anything else, which the runner then
// reports.
func kubeconfigRef(row clusters.Row) string {
	if !artifacts.IsCredentialRef(row.Outputs.KubeconfigRef, row.ID, artifacts.Kubeconfig) {
		return ""
	}
	return row.Outputs.KubeconfigRef
}

// toAddon converts the frozen add-on for a runner.
func toAddon(a clusters.Addon) contract.Addon {
	out := contract.Addon{Name: a.Name, Manifests: a.Manifests}
	for _, w := range a.Waits {
		out.Waits = append(out.Waits, contract.AddonWait(w))
	}
	return out
}

// accountFor returns the account that the runner must use: for a destroy, the account of the newest record, if it has one.
func accountFor(row attempts.SpecRow) string {
	if n := len(row.Identities); n > 0 && string(row.Kind) == contract.KindDestroy {
		return cmp.Or(row.Identities[n-1].Account, row.Row.Spec.Account)
	}
	return row.Row.Spec.Account
}
