// Package intake turns what runners say into the store's rows: for the Status API, and for the spool that is read when the
// API was away. One place, so that both are believed alike. It checks shapes and vocabulary and decides nothing.
package intake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/runner/contract"
	"github.com/ocpctl/ocpctl/store"
)

// Invalid is everything in a document that no runner of ours says.
type Invalid []Field

// Field is one value and what would be accepted in its place.
type Field struct {
	Name, Detail string
	Accept       []string
}

// Error implements error.
func (e Invalid) Error() string {
	var all []string
	for _, f := range e {
		all = append(all, fmt.Sprintf("%s: %s; accepted: %s", f.Name, f.Detail, strings.Join(f.Accept, ", ")))
	}
	return strings.Join(all, "; ")
}

// check adds a field to what is invalid where something is wrong with it.
func (e *Invalid) check(wrong bool, name, detail string, accept ...string) {
	if wrong {
		*e = append(*e, Field{name, detail, accept})
	}
}

// err is nil where nothing is invalid.
func (e Invalid) err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// Artifacts are snapshots as rows.
func Artifacts(list []contract.Snapshot) []store.ArtifactRow {
	var out []store.ArtifactRow
	for _, s := range list {
		out = append(out, store.ArtifactRow{
			Type: s.Type, Key: s.Key, ManifestKey: s.ManifestKey, SHA256: s.SHA256, Size: s.Size, InfraID: s.InfraID, TakenAt: s.TakenAt,
		})
	}
	return out
}

// phases a runner may report: every phase of work, none of the server's own.
var phases = []lifecycle.Phase{
	lifecycle.Preflight, lifecycle.Claiming, lifecycle.Rendering, lifecycle.Recording, lifecycle.Installing,
	lifecycle.Configuring, lifecycle.Restoring, lifecycle.DestroyingRuns, lifecycle.Verifying, lifecycle.Scaling,
}

// Report is one report as a row.
func Report(r contract.Report) (store.ReportRow, error) {
	if r.Phase != "" && !slices.Contains(phases, lifecycle.Phase(r.Phase)) {
		return store.ReportRow{}, Invalid{{"phase", fmt.Sprintf("%q is no phase a runner works in", r.Phase), words(phases)}}
	}
	out := store.ReportRow{
		Seq: r.Seq, Phase: lifecycle.Phase(r.Phase), Percent: min(max(r.Percent, 0), 100),
		Step: text(r.Step), Account: text(r.Account), Log: text(r.Log),
		Artifacts: Artifacts(r.Snapshots),
	}
	for _, a := range r.Addons {
		out.Addons = append(out.Addons, store.AddonState{Name: text(a.Name), There: a.There, Reason: text(a.Reason), Message: text(a.Message), Next: text(a.Next)})
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
		Number: p.Number, Account: text(p.Account), Identities: p.Identities, Control: text(p.Control),
		Queries: document(queries), Leftovers: document(leftovers), Clean: clean(p),
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
	return text(fmt.Sprintf("%s %s: %s", l.Type, name, l.Free))
}

// text and document put the sign for an unknown character in the place of NUL, the only one PostgreSQL never stores: a
// report that could not be kept would be repeated until the lease is over, and the install stopped for it.
func text(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

func document(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte(`\u0000`), []byte(`\ufffd`)) }

// outcomes a runner may end with; lost and cancelled are the server's to say.
var outcomes = []lifecycle.Outcome{lifecycle.Succeeded, lifecycle.Failure, lifecycle.Stopped, lifecycle.Waiting}

// whose a failure can be; a runner that does not say is an older one.
var whose = []string{contract.WhoseUser, contract.WhoseQuota, contract.WhoseCloud, contract.WhoseInstaller, contract.WhoseOurs}

// maxWorkers bounds a count: OpenShift itself is tested with two thousand nodes.
const maxWorkers = 5000

// maxAddons bounds a count: a cluster is accepted with far fewer.
const maxAddons = 100

// Result is an attempt's end as a row.
func Result(r contract.Result) (store.ResultRow, error) {
	var bad Invalid
	bad.check(!slices.Contains(outcomes, lifecycle.Outcome(r.Outcome)), "outcome", fmt.Sprintf("%q is no outcome of a runner", r.Outcome), words(outcomes)...)
	bad.check(r.Whose != "" && !slices.Contains(whose, r.Whose), "whose", fmt.Sprintf("%q is nobody a failure can be of", r.Whose), whose...)
	bad.check(r.Workers != nil && (*r.Workers < 0 || *r.Workers > maxWorkers), "workers", "nobody has so many", fmt.Sprintf("0 to %d", maxWorkers))
	bad.check(r.Addons != nil && (*r.Addons < 0 || *r.Addons > maxAddons), "addons", "nobody has so many", fmt.Sprintf("0 to %d", maxAddons))
	if len(bad) > 0 {
		return store.ResultRow{}, bad
	}
	out := store.ResultRow{
		Outcome: lifecycle.Outcome(r.Outcome), Reason: text(r.Reason), Message: text(r.Message),
		Whose: r.Whose, Next: text(r.Next), Retryable: r.Retryable, Workers: r.Workers, Addons: r.Addons,
	}
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
