package api

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/runner/contract"
	"github.com/ocpctl/ocpctl/store"
)

// The contract's documents as rows, and rows as documents. Field by field, so that neither side can change alone.

func identityRow(i contract.Identity) store.IdentityRow {
	return store.IdentityRow{
		InfraID: i.InfraID, ClusterUUID: i.ClusterUUID, CCOName: i.CCOName,
		Account: i.Account, Region: i.Region, ReleaseDigest: i.ReleaseDigest, Metadata: i.Metadata,
	}
}

func identities(rows []store.IdentityRow) []contract.Identity {
	var out []contract.Identity
	for _, i := range rows {
		out = append(out, contract.Identity{
			InfraID: i.InfraID, ClusterUUID: i.ClusterUUID, CCOName: i.CCOName,
			Account: i.Account, Region: i.Region, ReleaseDigest: i.ReleaseDigest, Metadata: i.Metadata,
		})
	}
	return out
}

func artifactRows(list []contract.Snapshot) []store.ArtifactRow {
	var out []store.ArtifactRow
	for _, s := range list {
		out = append(out, store.ArtifactRow{
			Type: s.Type, Key: s.Key, ManifestKey: s.ManifestKey, SHA256: s.SHA256, Size: s.Size, InfraID: s.InfraID, TakenAt: s.TakenAt,
		})
	}
	return out
}

func snapshots(rows []store.ArtifactRow) []contract.Snapshot {
	var out []contract.Snapshot
	for _, a := range rows {
		out = append(out, contract.Snapshot{
			Type: a.Type, Key: a.Key, ManifestKey: a.ManifestKey, SHA256: a.SHA256, Size: a.Size, InfraID: a.InfraID, TakenAt: a.TakenAt,
		})
	}
	return out
}

// phases a runner may report: every phase of work, none of the server's own.
var phases = []lifecycle.Phase{
	lifecycle.Preflight, lifecycle.Claiming, lifecycle.Rendering, lifecycle.Recording, lifecycle.Installing,
	lifecycle.Configuring, lifecycle.Restoring, lifecycle.DestroyingRuns, lifecycle.Verifying,
}

func reportRow(r contract.Report) (store.ReportRow, error) {
	if r.Phase != "" && !slices.Contains(phases, lifecycle.Phase(r.Phase)) {
		return store.ReportRow{}, bad("phase", fmt.Sprintf("%q is no phase a runner works in", r.Phase), words(phases)...)
	}
	out := store.ReportRow{
		Seq: r.Seq, Phase: lifecycle.Phase(r.Phase), Percent: min(max(r.Percent, 0), 100), Step: r.Step, Account: r.Account, Log: r.Log,
		Artifacts: artifactRows(r.Snapshots),
	}
	if r.ToolExit != nil {
		out.ToolExit = &store.ToolExitRow{Code: r.ToolExit.Code, At: r.ToolExit.At}
	}
	if r.Pass == nil {
		return out, nil
	}
	pass, err := passRow(*r.Pass)
	out.Pass = &pass
	return out, err
}

func passRow(p contract.Pass) (store.PassRow, error) {
	queries, err := json.Marshal(p.Queries)
	if err != nil {
		return store.PassRow{}, fmt.Errorf("encode queries: %w", err)
	}
	leftovers, err := json.Marshal(append([]contract.Leftover{}, p.Leftovers...))
	if err != nil {
		return store.PassRow{}, fmt.Errorf("encode leftovers: %w", err)
	}
	out := store.PassRow{
		Number: p.Number, Account: p.Account, Identities: p.Identities, Control: p.Control,
		Queries: queries, Leftovers: leftovers, Clean: clean(p),
	}
	for _, l := range p.Leftovers {
		out.Words = append(out.Words, inWords(l))
	}
	return out, nil
}

// clean believes a pass only as far as its own evidence goes.
func clean(p contract.Pass) bool {
	unanswered := slices.ContainsFunc(p.Queries, func(q contract.Query) bool { return q.Err != "" })
	return p.Clean && !unanswered && p.Control != "" && len(p.Leftovers) == 0 && len(p.Queries) > 0
}

func inWords(l contract.Leftover) string {
	name := l.ID
	if l.Name != "" && l.Name != l.ID {
		name += " (" + l.Name + ")"
	}
	return fmt.Sprintf("%s %s: %s", l.Type, name, l.Free)
}

// outcomes a runner may end with; lost and cancelled are the server's to say.
var outcomes = []lifecycle.Outcome{lifecycle.Succeeded, lifecycle.Failure, lifecycle.Stopped, lifecycle.Waiting}

func resultRow(r contract.Result) (store.ResultRow, error) {
	if !slices.Contains(outcomes, lifecycle.Outcome(r.Outcome)) {
		return store.ResultRow{}, bad("outcome", fmt.Sprintf("%q is no outcome of a runner", r.Outcome), words(outcomes)...)
	}
	out := store.ResultRow{Outcome: lifecycle.Outcome(r.Outcome), Reason: r.Reason, Message: r.Message, Retryable: r.Retryable}
	if r.Outputs != nil {
		out.Outputs = &store.Outputs{
			APIURL: r.Outputs.APIURL, ConsoleURL: r.Outputs.ConsoleURL,
			KubeconfigRef: r.Outputs.KubeconfigRef, KubeadminRef: r.Outputs.KubeadminRef, MetadataRef: r.Outputs.MetadataRef,
		}
	}
	return out, nil
}

func words[T ~string](list []T) []string {
	var out []string
	for _, one := range list {
		out = append(out, string(one))
	}
	return out
}
