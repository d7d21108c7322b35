package recovery

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pools"
)

// plan is what is written of one cluster.
type plan struct {
	name   string
	write  store.RecoveredCluster
	done   string // for people
	person string // why nothing can be written; empty: it can
}

// firstUnseen is the number from which attempts are numbered of which only the cloud tells: above every number that one may have had.
const firstUnseen = 101

// credentialsByCCO is the mode in which ccoctl creates what the installer does not know.
const credentialsByCCO = "Manual"

// planKnown plans for a cluster with a row: attempts that are newer than the row, and what its open attempt recorded and reached since.
func (r *run) planKnown(c *cluster, known store.RecoveryRow) plan {
	p := plan{name: known.Name, write: store.RecoveredCluster{ID: c.id, Wait: r.Wait, Found: c.whereSeen()}}
	if known.Status == lifecycle.Destroyed {
		return p
	}
	of := names.Scope{
		Platform: known.Platform, Installation: cmp.Or(known.Installation, r.Installation), Cluster: c.id, Name: known.Name, BaseDomain: known.BaseDomain, Region: known.Region, Server: c.newestServer(),
	}
	ready, top := c.readyAttempt(), known.Newest
	for _, number := range c.attemptNumbers() {
		a := c.attempts[number]
		if number <= known.Newest && number != known.Open {
			continue
		}
		top = max(top, number)
		p.write.Attempts = append(p.write.Attempts, r.toRecovered(of, a, number == ready))
	}
	names := append(slices.Clone(known.Identities), listIdentities(p.write.Attempts)...)
	p.write.Attempts = append(p.write.Attempts, r.addUnrecorded(of, c, names, max(top+1, 1))...)
	slices.SortFunc(p.write.Attempts, func(a, b store.RecoveredAttempt) int { return a.Number - b.Number })
	if known.Pooled {
		p.write.Claimed = r.findClaimAfter(c, known.Newest)
	}
	p.done, p.write.Why = "attempts added", "the database was restored from a backup, and attempts of this cluster are newer"
	if known.Status == lifecycle.Ready && known.Desired == lifecycle.Present && c.hasTeardownAfter(known.Newest) {
		p.done, p.write.Absent = "torn down and counted", "its teardown had begun after the backup from which the database was restored"
		p.write.Why = p.write.Absent
	}
	return p
}

// findClaimAfter returns who claimed a cluster from its pool, if an attempt after that one prepared it for them; else nil. Its end may have been
// extended since, so it comes no sooner than that of any other ready cluster.
func (r *run) findClaimAfter(c *cluster, newest int) *pools.Claimed {
	for _, number := range slices.Backward(c.attemptNumbers()) {
		a := c.attempts[number]
		if number <= newest || a.kind != contract.KindPrepare {
			continue
		}
		by := &pools.Claimed{Until: r.view.Now.Add(r.Keep)}
		if a.record == nil {
			return by
		}
		tags := a.record.Tags
		by.Tags, by.Owner, by.Team, by.CostCenter, by.Environment = tags, tags[tagkey.Owner], tags[tagkey.Team], tags[tagkey.CostCenter], tags[tagkey.Environment]
		if accepted := a.record.Accepted; accepted != nil {
			by.RequestedBy, by.Source, by.Generation, by.PR = accepted.RequestedBy, accepted.Source, max(accepted.Generation, 1), toPullRequest(accepted)
		}
		if until, err := time.Parse(time.RFC3339, tags[tagkey.TTLExpiry]); err == nil && until.After(by.Until) {
			by.Until = until
		}
		return by
	}
	return nil
}

// planUnknown plans the adoption of a cluster that was accepted after the backup.
func (r *run) planUnknown(c *cluster) plan {
	about, why := r.describeCluster(c)
	p := plan{name: about.Name, write: store.RecoveredCluster{ID: c.id, Wait: r.Wait, Found: c.whereSeen()}, person: why}
	if why != "" {
		return p
	}
	of := names.Scope{Platform: about.Platform, Installation: about.Installation, Cluster: c.id, Name: about.Name, BaseDomain: about.BaseDomain, Region: about.Region, Server: c.newestServer()}
	ready, top := c.readyAttempt(), firstUnseen-1
	for _, number := range c.attemptNumbers() {
		top = max(top, number)
		p.write.Attempts = append(p.write.Attempts, r.toRecovered(of, c.attempts[number], number == ready))
	}
	p.write.Attempts = append(p.write.Attempts, r.addUnrecorded(of, c, listIdentities(p.write.Attempts), top+1)...)
	if len(p.write.Attempts) == 0 { // only tags tell of it, and no name: the count searches by its id
		p.write.Attempts = append(p.write.Attempts, store.RecoveredAttempt{Number: firstUnseen, Kind: lifecycle.Create, OpenedAt: r.view.Now})
	}
	row, end := r.newRow(c, about)
	p.write.New = &row
	switch {
	case ready == 0 || c.hasTeardownAfter(ready):
		p.write.Absent = "the database was restored from a backup from before this cluster, and it is not known to be ready"
		p.write.Why, p.done = p.write.Absent, "adopted, torn down and counted"
	default:
		p.write.Why = "the database was restored from a backup from before this cluster, which was ready"
		p.done = "adopted, kept until " + end.UTC().Format("15:04 MST on 2 January")
	}
	return p
}

// newestServer returns the address of the hub that the cluster is on, as its newest record tells; empty: it is on none.
func (c *cluster) newestServer() string {
	if record := c.newestRecord(); record != nil && record.Accepted != nil {
		return record.Accepted.Server
	}
	return ""
}

// describeCluster returns what is known of an unknown cluster besides its attempts: its newest record, else the tags of its resources.
func (r *run) describeCluster(c *cluster) (about contract.AttemptRecord, why string) {
	if record := c.newestRecord(); record != nil {
		about = *record
	} else {
		about = contract.AttemptRecord{Installation: r.Installation, Name: c.tags[tagkey.ClusterName], Region: c.region, Platform: c.platform, Tags: c.tags}
		if r.BaseDomain != nil {
			about.BaseDomain = r.BaseDomain(c.platform)
		}
	}
	about.Platform = cmp.Or(about.Platform, names.AWS)
	if about.Version == "" && r.Version != nil {
		about.Version = r.Version(about.Platform)
	}
	switch {
	case about.Installation != r.Installation:
		return about, fmt.Sprintf("it belongs to the installation %.80q", about.Installation)
	case about.Name == "":
		return about, "neither its record nor a tag tells its name"
	case about.Region == "":
		return about, "neither its record nor its resources tell its region"
	case about.BaseDomain == "":
		return about, "its base domain is unknown"
	case about.Version == "":
		return about, "its version is unknown, and no profile of " + about.Platform + " is enabled whose version could destroy it"
	}
	return about, ""
}

// newRow is the row of an unknown cluster, before anything was decided about it, and when a ready one ends.
func (r *run) newRow(c *cluster, about contract.AttemptRecord) (row clusters.Row, end time.Time) {
	accepted := about.Accepted
	if accepted == nil {
		accepted = &contract.Accepted{Profile: "unknown", RequestedBy: store.Recovery, Source: store.Recovery}
	}
	at := accepted.At
	if at.IsZero() {
		at = r.view.Now
		for _, a := range c.attempts {
			at = earlierOf(at, a.at)
		}
	}
	spec := r.Spec(about.Platform, about.Version)
	spec.Account, spec.CredentialsMode = about.Account, about.CredentialsMode
	if accepted.Account != "" {
		spec.CloudCredsRef, spec.ServiceAccounts, spec.CloudRole = accepted.CloudCredentialsRef, accepted.ServiceAccounts, accepted.CloudRole
	}
	spec.Server = accepted.Server
	spec.DestroyDeadline = cmp.Or(about.DestroyDeadline, time.Hour)
	row = clusters.Row{
		CostCenter: about.Tags[tagkey.CostCenter], Environment: about.Tags[tagkey.Environment], Source: accepted.Source, Tags: about.Tags, Spec: spec,
	}
	row.ID, row.JobID, row.Name, row.Platform, row.Region, row.BaseDomain = c.id, about.Tags[tagkey.RequestID], about.Name, about.Platform, about.Region, about.BaseDomain
	row.Release, row.Profile, row.Generation = about.Version, accepted.Profile, max(accepted.Generation, 1)
	row.Owner, row.Team, row.RequestedBy = about.Tags[tagkey.Owner], about.Tags[tagkey.Team], accepted.RequestedBy
	row.HourlyCents, row.Nodes = accepted.HourlyCents, accepted.Nodes
	row.WorkersBase, row.WorkersLeast, row.WorkersMost = accepted.Workers, accepted.WorkersLeast, accepted.WorkersMost
	row.SleepMode, row.ListAsleep, row.WorkerMicros = lifecycle.SleepMode(accepted.SleepMode), accepted.AsleepCents, accepted.WorkerMicros
	row.Provisioner = accepted.Provisioner
	row.AcceptedAt, row.MaxTries, row.Account, row.Exclusive = at, 1, accepted.Account, accepted.Exclusive
	row.Status, row.Phase, row.Why.Words = lifecycle.Creating, lifecycle.Configuring, "recovered after the database was restored from a backup"
	row.PR = toPullRequest(accepted)
	row.Ends.Max, row.Ends.TTL = r.endsOf(about.Tags, at)
	row.TTL = row.Ends.TTL.Sub(row.AcceptedAt)
	return row, row.Ends.TTL
}

func toPullRequest(of *contract.Accepted) *clusters.PRRef {
	if of.PullRequest == nil {
		return nil
	}
	return &clusters.PRRef{Installation: of.PullRequest.Installation, Repo: of.PullRequest.Repo, Number: of.PullRequest.Number, Head: of.PullRequest.Head}
}

// leavePullRequest makes the cluster one of no pull request: its pull request has another cluster by now. It reports whether it was one of any.
func (p *plan) leavePullRequest() (left bool) {
	if p.write.New != nil && p.write.New.PR != nil {
		p.write.New.PR, left = nil, true
	}
	if p.write.Claimed != nil && p.write.Claimed.PR != nil {
		p.write.Claimed.PR, left = nil, true
	}
	return left
}

// endsOf returns the longest life of an unknown cluster, from the tag that all its resources carry, and its end: it may have been extended
// or not, so it gets a fixed time within that.
func (r *run) endsOf(tags map[string]string, accepted time.Time) (longest, end time.Time) {
	least := accepted.Add(time.Second) // an end comes after the acceptance
	longest, err := time.Parse(time.RFC3339, tags[tagkey.TTLExpiry])
	if err != nil {
		longest = r.view.Now.Add(r.Keep)
	}
	if longest.Before(least) {
		longest = least
	}
	if end = r.view.Now.Add(r.Keep); end.Before(least) {
		end = least
	}
	return longest, earlierOf(longest, end)
}

func earlierOf(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// readyAttempt returns the number of the create that succeeded, if nothing was created or torn down after it; else 0. One that succeeded has stored
// its outputs and, except on a hub, a kubeconfig with them.
func (c *cluster) readyAttempt() int {
	for _, number := range slices.Backward(c.attemptNumbers()) {
		switch a := c.attempts[number]; a.kind {
		case contract.KindScale, contract.KindConfigure, contract.KindAccess, contract.KindSleep, contract.KindWake, contract.KindObserve, contract.KindTag, contract.KindInform, contract.KindPrepare:
		case contract.KindCreate:
			if a.own == "" && a.record == nil && len(a.manifests) == 0 && a.outputs == nil {
				continue // it stored at most credentials: a create has a record before it creates anything, so this was work on a ready cluster
			}
			if a.outputs != nil && (c.newestServer() != "" || a.access != nil && a.outputs.At.Equal(a.access.At)) {
				return number
			}
			return 0
		default:
			return 0
		}
	}
	return 0
}

// toRecovered returns the row of an attempt. Names that do not derive from this cluster are left out, as intake refuses them.
func (r *run) toRecovered(of names.Scope, a *attempt, ready bool) store.RecoveredAttempt {
	of.Attempt = a.number
	out := store.RecoveredAttempt{Number: a.number, Kind: lifecycle.Kind(a.kind), OpenedAt: a.at}
	if a.record != nil {
		out.ID = a.record.Attempt
	}
	if a.kind == contract.KindPrepare && a.access != nil {
		out.Replaced = &clusters.Outputs{
			KubeconfigRef: artifacts.CredentialRef(r.BucketName, of.Cluster, a.number, a.access.At, artifacts.Kubeconfig),
			KubeadminRef:  artifacts.CredentialRef(r.BucketName, of.Cluster, a.number, a.access.At, artifacts.Kubeadmin),
		}
	}
	if a.kind != contract.KindCreate {
		return out
	}
	out.Identity = identityOf(of, a)
	for _, s := range a.snapshots {
		out.Artifacts = append(out.Artifacts, attempts.ArtifactRow{
			Type: string(s.Type), Key: s.Key, ManifestKey: s.ManifestKey, SHA256: s.SHA256, Size: s.Size, InfraID: s.InfraID, TakenAt: s.TakenAt,
		})
	}
	if ready && out.Identity.InfraID != "" {
		at := a.outputs.At
		out.Outputs = &clusters.Outputs{
			APIURL: cmp.Or(a.server, of.APIURL()), ConsoleURL: of.ConsoleURL(),
			MetadataRef: artifacts.MetadataRef(r.BucketName, of.Cluster, a.number, at),
		}
		if of.Server == "" { // on a hub, a cluster has no credentials of its own
			out.Outputs.KubeconfigRef = artifacts.CredentialRef(r.BucketName, of.Cluster, a.number, at, artifacts.Kubeconfig)
			out.Outputs.KubeadminRef = artifacts.CredentialRef(r.BucketName, of.Cluster, a.number, at, artifacts.Kubeadmin)
		}
	}
	return out
}

// identityOf returns what a create may have created: what its newest archive names, and the name that ccoctl runs with.
func identityOf(of names.Scope, a *attempt) (out attempts.IdentityRow) {
	if a.record != nil {
		out.Account = a.record.Account
		if i := a.record.Identity; i != nil {
			out.ReleaseDigest, out.InstallerSHA256 = i.ReleaseDigest, i.InstallerSHA256
			if of.IsInfraID(i.InfraID) && names.IsClusterUUID(i.ClusterUUID) {
				out.InfraID, out.ClusterUUID = i.InfraID, i.ClusterUUID
			}
		}
		if a.record.CredentialsMode == credentialsByCCO && of.Platform != names.Kubernetes || a.record.Identity != nil && a.record.Identity.CCOName == of.CCOName() {
			out.CCOName = of.CCOName()
			if i := a.record.Identity; i != nil && i.CCOName == out.CCOName && names.IsResourceGroupID(i.ResourceGroupID) {
				out.ResourceGroupID = i.ResourceGroupID
			}
		}
	}
	for _, s := range a.snapshots {
		if out.InfraID == "" && of.IsInfraID(s.InfraID) {
			out.InfraID = s.InfraID
		}
	}
	if out.InfraID == "" && out.CCOName == "" {
		return attempts.IdentityRow{}
	}
	out.Region = of.Region
	if out.InfraID != "" {
		out.Metadata = string(of.MetadataJSON(names.Identity{InfraID: out.InfraID, ClusterUUID: out.ClusterUUID, CCOName: out.CCOName, Account: out.Account}))
	}
	return out
}

// addUnrecorded returns an attempt for each infraID and each of ccoctl's names that the archives or the tags tell and no row does.
func (r *run) addUnrecorded(of names.Scope, c *cluster, known []string, number int) (out []store.RecoveredAttempt) {
	named, group := slices.Clone(c.infraIDs), ""
	if of.Platform == names.IBMCloud {
		named, group = of.FromNames(c.names, number)
	}
	for _, n := range c.attemptNumbers() {
		for _, s := range c.attempts[n].snapshots {
			named = append(named, s.InfraID)
		}
	}
	for _, infraID := range named {
		if slices.Contains(known, infraID) || !of.IsInfraID(infraID) {
			continue
		}
		known = append(known, infraID)
		out = append(out, store.RecoveredAttempt{
			Number: number, Kind: lifecycle.Create, OpenedAt: r.view.Now,
			Identity: attempts.IdentityRow{InfraID: infraID, CCOName: group, Region: of.Region, Metadata: string(of.MetadataJSON(names.Identity{InfraID: infraID, CCOName: group}))},
		})
		number++
	}
	for _, tags := range c.marks {
		for _, name := range of.CCONamesIn(tags) {
			if slices.Contains(known, name) {
				continue
			}
			known = append(known, name)
			out = append(out, store.RecoveredAttempt{Number: number, Kind: lifecycle.Create, OpenedAt: r.view.Now, Identity: attempts.IdentityRow{CCOName: name, Region: of.Region}})
			number++
		}
	}
	return out
}

func listIdentities(list []store.RecoveredAttempt) (names []string) {
	for _, a := range list {
		for _, name := range []string{a.Identity.InfraID, a.Identity.CCOName} {
			if name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}
