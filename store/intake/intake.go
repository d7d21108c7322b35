// Package intake converts runners' reports to the store's rows, both for the Status API and for the spool that is read when the API
// was unreachable, so that both get the same checks. It decides nothing.
//
// A runner may be hostile. Everything that it reports is checked against the Scope of its attempt, which the server knows without the
// runner: names, URLs and storage keys of any other cluster are refused. docs/threat-model.md lists every field that a runner can
// report and its limits.
package intake

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// Scope is what the server knows about an attempt without its runner.
type Scope struct {
	names.Scope
	Bucket string // the bucket of output references
	Prices Prices // of what a teardown left; nil: no price is known
}

// Prices return what a resource of a platform costs an hour, in US cents. kind and detail are those of contract.SeenResource.
type Prices func(platform, kind, region, detail string) (cents float64, known bool)

// ScopeOf returns the scope of an attempt from the store. The cluster's tags say which installation accepted it; without that tag it
// is this installation.
func ScopeOf(row attempts.AttemptScope, installation, bucket string, prices Prices) Scope {
	return Scope{Bucket: bucket, Prices: prices, Scope: names.Scope{
		Platform: row.Platform, Installation: cmp.Or(row.Installation, installation), Cluster: row.Cluster, Attempt: row.Number, Name: row.Name, BaseDomain: row.BaseDomain, Region: row.Region,
		Server: row.Server,
	}}
}

// Invalid lists the values in a document that a correct runner would not send.
type Invalid []Field

// Field is one value, with what would be accepted in its place.
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

// check adds a field to the invalid ones if it is wrong.
func (e *Invalid) check(wrong bool, name, detail string, accept ...string) {
	if wrong {
		*e = append(*e, Field{name, detail, accept})
	}
}

// err returns nil if nothing is invalid.
func (e Invalid) err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// Claim returns the name of the pod that claims an attempt.
func Claim(c contract.Claim) (pod string, err error) {
	var bad Invalid
	bad.check(!plainPod.MatchString(c.Pod), "pod", fmt.Sprintf("%.80q does not name a pod", c.Pod), "the pod's uid, or host:pid:start-time")
	return c.Pod, bad.err()
}

// snapshots checks that each archive is where this attempt stores its archives, and has a checksum.
func (e *Invalid) snapshots(list []contract.Snapshot, of Scope) {
	for n, s := range list {
		at := fmt.Sprintf("snapshots[%d]", n)
		snapshot := artifacts.Snapshot{Type: artifacts.Type(s.Type), Key: s.Key, ManifestKey: s.ManifestKey}
		if err := snapshot.CheckKeys(of.Cluster, of.Attempt); err != nil {
			e.check(true, at+".key", err.Error(), "the key this attempt's own archive was stored under")
		}
		e.check(!checksum.MatchString(s.SHA256), at+".sha256", "it is not a checksum", "64 lowercase hex digits")
		e.check(s.Size < 0, at+".size", fmt.Sprintf("%d is negative", s.Size), "the archive's size in bytes")
		e.check(s.InfraID != "" && !of.IsInfraID(s.InfraID), at+".infraId", fmt.Sprintf("%.80q is not an infraID of this cluster", s.InfraID), of.InfraIDPrefix()+"xxxxx")
	}
}

func artifactRows(list []contract.Snapshot) []attempts.ArtifactRow {
	var out []attempts.ArtifactRow
	for _, s := range list {
		out = append(out, attempts.ArtifactRow{
			Type: s.Type, Key: s.Key, ManifestKey: s.ManifestKey, SHA256: s.SHA256, Size: s.Size, InfraID: s.InfraID, TakenAt: s.TakenAt,
		})
	}
	return out
}

// phases are the phases that a runner may report: every phase of work, none of the server's own.
var phases = []lifecycle.Phase{
	lifecycle.Preflight, lifecycle.Claiming, lifecycle.Rendering, lifecycle.Recording, lifecycle.Installing,
	lifecycle.Configuring, lifecycle.Restoring, lifecycle.DestroyingRuns, lifecycle.Verifying, lifecycle.Scaling, lifecycle.Accessing,
	lifecycle.GoingToSleep, lifecycle.Waking, lifecycle.Observing, lifecycle.Tagging, lifecycle.Informing, lifecycle.Preparing,
}

// Report converts a report to a row.
func Report(r contract.Report, of Scope) (attempts.ReportRow, error) {
	var bad Invalid
	bad.check(r.Phase != "" && !slices.Contains(phases, lifecycle.Phase(r.Phase)), "phase", fmt.Sprintf("%.40q is not a phase of a runner", r.Phase), toStrings(phases)...)
	bad.check(r.Seq < 1 || r.Seq > maxNumber, "seq", fmt.Sprintf("%d is not a report number", r.Seq), "1, 2, 3 …")
	bad.check(r.Pass != nil && (r.Pass.Number < 1 || r.Pass.Number > maxNumber), "pass.number", "it is not the number of a pass", "1, 2, 3 …")
	bad.check(r.ToolExit != nil && (r.ToolExit.Code < -1 || r.ToolExit.Code > maxExitCode), "toolExit.code", "it is not an exit code", "-1 to 255")
	bad.check(r.Account != "" && !plainName.MatchString(r.Account), "account", fmt.Sprintf("%.80q is not an account id", r.Account), "the id of a cloud account")
	bad.check(len(r.Addons) > maxAddons, "addons", fmt.Sprintf("there are %d", len(r.Addons)), fmt.Sprintf("at most %d", maxAddons))
	bad.access(r.Access)
	bad.snapshots(r.Snapshots, of)
	if len(bad) > 0 {
		return attempts.ReportRow{}, bad
	}
	out := attempts.ReportRow{
		Seq: r.Seq, Phase: lifecycle.Phase(r.Phase), Percent: min(max(r.Percent, 0), 100),
		Step: sentence(r.Step), Account: r.Account, Log: text(r.Log),
		Artifacts: artifactRows(r.Snapshots),
	}
	for _, a := range r.Addons {
		out.Addons = append(out.Addons, attempts.AddonState{Name: sentence(a.Name), There: a.There, Reason: sentence(a.Reason), Message: sentence(a.Message), Next: sentence(a.Next)})
	}
	for _, a := range r.Access {
		out.Access = append(out.Access, accessState(a, of))
	}
	if !r.ReplacedAt.IsZero() {
		out.Replaced = of.credentialsAt(r.ReplacedAt)
	}
	if r.ToolExit != nil {
		out.ToolExit = &attempts.ToolExitRow{Code: r.ToolExit.Code, At: r.ToolExit.At}
	}
	if r.Pass == nil {
		return out, nil
	}
	pass, err := passRow(*r.Pass, of)
	out.Pass = &pass
	return out, err
}

func passRow(p contract.Pass, of Scope) (attempts.PassRow, error) {
	queries, err := json.Marshal(p.Queries)
	if err != nil {
		return attempts.PassRow{}, fmt.Errorf("encode queries: %w", err)
	}
	left := make([]leftover, len(p.Leftovers))
	for i, l := range p.Leftovers {
		left[i] = leftover{Leftover: l, MonthlyCents: of.monthly(l)}
	}
	leftovers, err := json.Marshal(left)
	if err != nil {
		return attempts.PassRow{}, fmt.Errorf("encode leftovers: %w", err)
	}
	out := attempts.PassRow{
		Number: p.Number, Account: text(p.Account), Control: text(p.Control),
		Queries: document(queries), Leftovers: document(leftovers), Clean: clean(p, of.Region),
	}
	for _, name := range p.Identities {
		out.Identities = append(out.Identities, text(name))
	}
	for _, l := range left {
		out.Blockers = append(out.Blockers, l.blocker(of.Region))
	}
	return out, nil
}

// clean accepts a pass as clean only if its own evidence supports it.
func clean(p contract.Pass, home string) bool {
	unanswered := slices.ContainsFunc(p.Queries, func(q contract.Query) bool { return q.Err != "" || q.Unasked != "" && q.Region == home })
	return p.Clean && !unanswered && p.Control != "" && len(p.Leftovers) == 0 && len(p.Queries) > 0
}

// leftover is what a count found, with what it costs a month by list prices; zero: nothing, or no price is known.
type leftover struct {
	contract.Leftover
	MonthlyCents int64 `json:"monthlyCents,omitempty"`
}

// hoursInMonth is how clouds turn an hour's price into a month's.
const hoursInMonth = 730

// mostMonthly limits a price that is made of what a runner said: a machine costs less.
const mostMonthly = 100_000_00

func (s Scope) monthly(l contract.Leftover) int64 {
	if s.Prices == nil {
		return 0
	}
	cents, known := s.Prices(s.Platform, l.Type, l.Region, l.Detail)
	if !known {
		return 0
	}
	return int64(min(math.Round(cents*hoursInMonth), mostMonthly))
}

// blocker says what is left and who can remove it. It names the region if the cluster is in another one.
func (l leftover) blocker(home string) lifecycle.Blocker {
	name := l.Type + " " + l.ID
	if l.Name != "" && l.Name != l.ID {
		name += " (" + l.Name + ")"
	}
	if l.Region != "" && l.Region != home {
		name += " in " + l.Region
	}
	if l.MonthlyCents > 0 {
		name += fmt.Sprintf(", which costs about $%d.%02d a month", l.MonthlyCents/100, l.MonthlyCents%100)
	}
	return lifecycle.Blocker{Name: text(name), Free: text(l.Free), Command: text(l.Command), Remark: text(l.Remark)}
}

// maxSentence limits, in bytes, a text that is shown on every page and comment about a cluster.
const maxSentence = 4000

// sentence cuts a text for people that is too long.
func sentence(s string) string {
	if len(s) <= maxSentence {
		return text(s)
	}
	return text(strings.ToValidUTF8(s[:maxSentence], "")) + "…"
}

// text and document replace NUL, which PostgreSQL cannot store, with the replacement character: a report that cannot be stored would
// be repeated until the lease ends, and the install stopped because of it.
func text(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

func document(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte(`\u0000`), []byte(`\ufffd`)) }

// outcomes are those that a runner may report; only the server sets lost and cancelled.
var outcomes = []lifecycle.Outcome{lifecycle.Succeeded, lifecycle.Failure, lifecycle.Stopped, lifecycle.Waiting}

// whose lists the possible owners of a failure; older runners report none.
var whose = []string{contract.WhoseUser, contract.WhoseQuota, contract.WhoseCloud, contract.WhoseInstaller, contract.WhoseOurs}

// maxNumber limits the numbers of reports and passes: more than an attempt of a hundred years would send.
const maxNumber = 1<<31 - 1

// maxExitCode is the largest exit code of a process; -1 means that a signal ended it.
const maxExitCode = 255

// maxWorkers limits a count: OpenShift itself is tested with two thousand nodes.
const maxWorkers = 5000

// maxAddons limits a count: a cluster is accepted with far fewer.
const maxAddons = 100

// plainReason matches one word, e.g. VcpuLimitExceeded.
var plainReason = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,63}$`)

var plainZone = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// Result converts an attempt's end to a row. The references to the cluster's credentials are built here: a runner only reports when
// it stored them.
func Result(r contract.Result, of Scope) (attempts.ResultRow, error) {
	var bad Invalid
	bad.check(!slices.Contains(outcomes, lifecycle.Outcome(r.Outcome)), "outcome", fmt.Sprintf("%.40q is not an outcome of a runner", r.Outcome), toStrings(outcomes)...)
	bad.check(r.Reason != "" && !plainReason.MatchString(r.Reason), "reason", fmt.Sprintf("%.80q is not one word", r.Reason), "one word of at most 64 letters and digits")
	bad.check(r.Whose != "" && !slices.Contains(whose, r.Whose), "whose", fmt.Sprintf("%.40q is nobody whose problem a failure can be", r.Whose), whose...)
	bad.check(r.Zone != "" && !plainZone.MatchString(r.Zone), "zone", fmt.Sprintf("%.40q is no zone", r.Zone), "a zone such as us-east-1a or us-south-1")
	bad.check(r.Workers != nil && (*r.Workers < 0 || *r.Workers > maxWorkers), "workers", "the number is out of range", fmt.Sprintf("0 to %d", maxWorkers))
	bad.check(r.Addons != nil && (*r.Addons < 0 || *r.Addons > maxAddons), "addons", "the number is out of range", fmt.Sprintf("0 to %d", maxAddons))
	bad.check(!r.LastUse.Equal(r.LastUse.Truncate(time.Hour)), "lastUse", "the time is not the beginning of an hour", "a whole hour in UTC, e.g. 2030-01-01T14:00:00Z")
	bad.outputs(r.Outputs, of)
	bad.links(r.Links, of)
	if len(bad) > 0 {
		return attempts.ResultRow{}, bad
	}
	out := attempts.ResultRow{
		Outcome: lifecycle.Outcome(r.Outcome), Reason: r.Reason, Message: sentence(r.Message), Line: text(strings.ToValidUTF8(r.Line[:min(len(r.Line), maxSentence)], "")),
		Whose: r.Whose, Zone: r.Zone, Next: sentence(r.Next), Retryable: r.Retryable, Workers: r.Workers, Addons: r.Addons, Asleep: r.Asleep,
		LastUse: r.LastUse,
	}
	if r.Links != nil {
		out.Links = &[]lifecycle.Link{}
		for _, l := range *r.Links {
			*out.Links = append(*out.Links, lifecycle.Link{Title: names.LinkTitle(l.Title), URL: l.URL})
		}
	}
	if r.Outputs != nil {
		out.Outputs = of.credentialsAt(r.Outputs.StoredAt)
		out.Outputs.APIURL, out.Outputs.ConsoleURL = r.Outputs.APIURL, r.Outputs.ConsoleURL
		out.Outputs.MetadataRef = artifacts.MetadataRef(of.Bucket, of.Cluster, of.Attempt, r.Outputs.StoredAt)
	}
	return out, nil
}

// credentialsAt refers to the credentials that the attempt stored at a time.
func (s Scope) credentialsAt(at time.Time) *clusters.Outputs {
	if s.Server != "" { // on a hub, a cluster has no credentials of its own
		return &clusters.Outputs{}
	}
	return &clusters.Outputs{
		KubeconfigRef: artifacts.CredentialRef(s.Bucket, s.Cluster, s.Attempt, at, artifacts.Kubeconfig),
		KubeadminRef:  artifacts.CredentialRef(s.Bucket, s.Cluster, s.Attempt, at, artifacts.Kubeadmin),
	}
}

func (e *Invalid) outputs(o *contract.Outputs, of Scope) {
	if o == nil {
		return
	}
	if err := of.CheckAPIURL(o.APIURL); err != nil {
		e.check(true, "outputs.apiUrl", err.Error(), of.APIURL())
	}
	if console := of.ConsoleURL(); o.ConsoleURL != "" || console != "" { // not every kind has one
		if err := of.CheckURL(o.ConsoleURL); err != nil {
			e.check(true, "outputs.consoleUrl", err.Error(), console)
		}
	}
	e.check(o.StoredAt.IsZero(), "outputs.storedAt", "it is empty", "when the credentials were stored")
}

// links checks that people are sent to this cluster's own apps only.
func (e *Invalid) links(links *[]contract.Link, of Scope) {
	if links == nil {
		return
	}
	e.check(len(*links) > names.MaxLinks, "links", fmt.Sprintf("there are %d", len(*links)), fmt.Sprintf("at most %d", names.MaxLinks))
	for n, l := range *links {
		if err := of.CheckAppURL(l.URL); err != nil {
			e.check(true, fmt.Sprintf("links[%d].url", n), err.Error(), "an address below apps."+of.Domain())
		}
	}
}

func toStrings[T ~string](list []T) []string {
	var out []string
	for _, one := range list {
		out = append(out, string(one))
	}
	return out
}
