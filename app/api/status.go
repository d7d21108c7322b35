package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/intake"
)

// maxSaying limits one document of a runner; its largest part is a log chunk.
const maxSaying = 8 << 20

// ClaimAttempt implements POST /api/v1/status/attempts/{id}/claim.
func (s *server) ClaimAttempt(w http.ResponseWriter, r *http.Request, id string) {
	var said contract.Claim
	if !s.readReport(w, r, &said) {
		return
	}
	pod, err := intake.Claim(said)
	if err != nil {
		s.writeError(w, r, toInvalid(err))
		return
	}
	lease, err := s.Store.Attempts.Claim(r.Context(), id, claimsOf(r).TokenID, pod)
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	row, err := s.Store.Attempts.AttemptSpec(r.Context(), id)
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	answer, err := s.answerFor(r, lease)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	work := toSpec(row, s.Runner)
	work.BucketGrant = s.Grants != nil
	if work.Card != nil && s.UI != "" {
		work.Card.Page = s.pageURL(row.Row)
	}
	writeOK(w, contract.Claimed{Spec: work, Answer: answer})
}

// GetBucketCredentials implements POST /api/v1/status/attempts/{id}/bucket-credentials.
func (s *server) GetBucketCredentials(w http.ResponseWriter, r *http.Request, id string) {
	row, err := s.Store.Attempts.AttemptScope(r.Context(), id)
	if err == nil && (row.Closed || row.Token != claimsOf(r).TokenID) {
		err = db.ErrFenced
	}
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	if s.Grants == nil {
		writeProblem(w, http.StatusNotFound, "This server does not issue bucket credentials because artifacts.runner_role is not set. Use the runner's own identity.")
		return
	}
	given, err := s.Grants.Grant(r.Context(), artifacts.Part{
		Cluster: row.Cluster, Attempt: id, Number: row.Number, KeepsKeys: opensCluster(row.Kind),
	})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	writeOK(w, contract.BucketCredentials{
		AccessKeyID: given.AccessKeyID, SecretAccessKey: given.SecretAccessKey, SessionToken: given.SessionToken, ExpiresAt: given.Expires,
	})
}

// opensCluster reports an attempt that works with a ready cluster's own kubeconfig.
func opensCluster(k lifecycle.Kind) bool {
	return slices.Contains([]lifecycle.Kind{lifecycle.Scale, lifecycle.Configure, lifecycle.Access, lifecycle.Sleep, lifecycle.Wake, lifecycle.Observe, lifecycle.Inform}, k)
}

// GetAccessWork implements POST /api/v1/status/attempts/{id}/access.
func (s *server) GetAccessWork(w http.ResponseWriter, r *http.Request, id string) {
	work, lease, err := s.Store.Attempts.AccessWork(r.Context(), id, claimsOf(r).TokenID)
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	out := contract.AccessWork{Give: toAccesses(work.Give, access.Kubeconfig), Take: toAccesses(work.Take, access.Kubeconfig), Console: &contract.ConsoleWork{
		Give: toAccesses(work.Give, access.Console), Take: toAccesses(work.Take, access.Console), Keep: toAccesses(work.Keep, access.Console),
	}}
	for _, one := range toAccesses(work.Keep, access.Kubeconfig) {
		out.Keep = append(out.Keep, one.Account)
	}
	if out.Answer, err = s.answerFor(r, lease); err == nil {
		out.Console.OpenID, err = s.openIDFor(r, id, *out.Console)
	}
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	writeOK(w, out)
}

// openIDFor returns what an attempt's cluster signs readers in with; nil: nobody signs in through the server.
func (s *server) openIDFor(r *http.Request, id string, work contract.ConsoleWork) (*contract.OpenIDClient, error) {
	byServer := func(a contract.Access) bool { return a.OpenID }
	if s.Runner.OpenID == nil || !slices.ContainsFunc(slices.Concat(work.Give, work.Keep), byServer) {
		return nil, nil
	}
	of, err := s.scopeOf(r, id)
	if err != nil {
		return nil, err
	}
	return s.Runner.OpenID(of.Cluster)
}

// toAccesses converts the accesses of a kind.
func toAccesses(rows []access.Row, kind access.Kind) (out []contract.Access) {
	for _, a := range rows {
		if a.Kind == kind {
			out = append(out, contract.Access{ID: a.ID, Account: a.Account, Reader: a.Reader, Role: string(a.Role), Lifetime: a.Lifetime, OpenID: a.OpenID})
		}
	}
	return out
}

// RecordIdentity implements POST /api/v1/status/attempts/{id}/record.
func (s *server) RecordIdentity(w http.ResponseWriter, r *http.Request, id string) {
	var said contract.Record
	if !s.readReport(w, r, &said) {
		return
	}
	of, err := s.scopeOf(r, id)
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	identity, snapshots, err := intake.Record(said, of)
	if err != nil {
		s.writeError(w, r, toInvalid(err))
		return
	}
	lease, err := s.Store.Record(r.Context(), id, claimsOf(r).TokenID, identity, snapshots)
	s.writeAnswer(w, r, lease, err)
}

// ReserveRoom implements POST /api/v1/status/attempts/{id}/reserve.
func (s *server) ReserveRoom(w http.ResponseWriter, r *http.Request, id string) {
	var said contract.Demand
	if !s.readReport(w, r, &said) {
		return
	}
	of, err := s.scopeOf(r, id)
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	demand, err := intake.Demand(said, of)
	if err != nil {
		s.writeError(w, r, toInvalid(err))
		return
	}
	reservation, lease, err := s.Store.Attempts.Reserve(r.Context(), id, claimsOf(r).TokenID, demand)
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	answer, err := s.answerFor(r, lease)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, contract.Reservation{Answer: answer, Wait: reservation.Wait, Position: reservation.Position, Never: reservation.Never})
}

// ReportProgress implements POST /api/v1/status/attempts/{id}/report.
func (s *server) ReportProgress(w http.ResponseWriter, r *http.Request, id string) {
	keepReport(s, w, r, id, intake.Report, s.Store.Attempts.Report)
}

// ResultOfAttempt implements POST /api/v1/status/attempts/{id}/result.
func (s *server) ResultOfAttempt(w http.ResponseWriter, r *http.Request, id string) {
	keepReport(s, w, r, id, intake.Result, s.Store.Attempts.Result)
}

// keepReport passes one document of a runner through intake into the store.
func keepReport[Document, Row any](s *server, w http.ResponseWriter, r *http.Request, id string,
	row func(Document, intake.Scope) (Row, error), write func(context.Context, string, string, Row) (attempts.Lease, error)) {
	var said Document
	if !s.readReport(w, r, &said) {
		return
	}
	of, err := s.scopeOf(r, id)
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	kept, err := row(said, of)
	if err != nil {
		s.writeError(w, r, toInvalid(err))
		return
	}
	lease, err := write(r.Context(), id, claimsOf(r).TokenID, kept)
	s.writeAnswer(w, r, lease, err)
}

// scopeOf returns what the attempt's runner may report about.
func (s *server) scopeOf(r *http.Request, id string) (intake.Scope, error) {
	row, err := s.Store.Attempts.AttemptScope(r.Context(), id)
	if err != nil {
		return intake.Scope{}, err
	}
	return intake.ScopeOf(row, s.Runner.Installation, s.Runner.Bucket, s.Runner.Prices), nil
}

// readReport parses a runner's document; unknown fields are ignored, because the runner may be newer than the server.
func (s *server) readReport(w http.ResponseWriter, r *http.Request, into any) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSaying)).Decode(into)
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return true
	case errors.As(err, &large):
		writeProblem(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("The document is larger than %d bytes. Send the log in smaller parts.", maxSaying))
	default:
		writeProblem(w, http.StatusBadRequest, "The body does not match the schema of this path: "+err.Error()+".")
	}
	return false
}

func (s *server) writeAnswer(w http.ResponseWriter, r *http.Request, lease attempts.Lease, err error) {
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	answer, err := s.answerFor(r, lease)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, answer)
}

// answerFor is the server's response with a fresh token, so that the token of an active runner never expires. A closed attempt gets
// none: its last token expires within its lifetime.
func (s *server) answerFor(r *http.Request, lease attempts.Lease) (contract.Answer, error) {
	out := contract.Answer{Stop: lease.Stop, LeaseUntil: lease.Until, Access: lease.Access}
	if lease.Closed {
		return out, nil
	}
	var err error
	c := claimsOf(r)
	if out.Token, err = s.Tokens.Sign(c.Attempt, c.TokenID, s.Now()); err != nil {
		return contract.Answer{}, fmt.Errorf("renew token: %w", err)
	}
	if !lease.Until.IsZero() {
		out.Lease = s.Runner.Lease
	}
	return out, nil
}

// failRunner answers what the store refused. To a runner, 409 means: this attempt is not yours any more, end.
func (s *server) failRunner(w http.ResponseWriter, r *http.Request, err error) {
	var contradiction *attempts.Contradiction
	switch {
	case errors.Is(err, db.ErrFenced), errors.Is(err, db.ErrNotFound):
		writeProblem(w, http.StatusConflict, "The attempt is closed or claimed by another runner. Stop and exit.")
	case errors.As(err, &contradiction):
		writeProblem(w, http.StatusConflict, contradiction.Error()+". Stop and exit.")
	case errors.Is(err, db.ErrConflict):
		writeProblem(w, http.StatusConflict, "A record cannot be changed. Stop and exit.")
	default:
		s.writeError(w, r, err)
	}
}

// toSpec is everything that a runner gets.
func toSpec(row attempts.SpecRow, set RunnerSettings) contract.Spec {
	out := contract.Spec{
		Attempt: row.Attempt, Number: row.Number, Kind: string(row.Kind), Cluster: row.Row.ID, Job: row.Job,
		Correlation: row.Cause.Correlation, Traceparent: row.Cause.Traceparent,
		Installation: installationOf(row, set), Name: row.Row.Name, BaseDomain: row.Row.BaseDomain, Platform: row.Row.Platform,
		Region: row.Row.Region, Version: row.Row.Release, Account: accountFor(row), Tags: row.Row.Tags,
		Zones: row.Row.Spec.Zones, Publish: profiles.PublishOf(row.Row.Spec.InstallConfig), CredentialsMode: cmp.Or(row.Row.Spec.CredentialsMode, "Mint"), ReleaseImage: row.Row.Spec.ReleaseImage,
		PullSecretRef: row.Row.Spec.PullSecretRef, SSHKey: row.Row.Spec.SSHKey, SSHKeyRef: row.Row.Spec.SSHKeyRef,
		CloudCredentialsRef: row.Row.Spec.CloudCredsRef,
		Bucket:              set.Bucket, KMSKey: set.KMSKey, OperateKMSKey: set.OperateKMSKey,
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
	if slices.Contains([]string{contract.KindConfigure, contract.KindAccess, contract.KindObserve, contract.KindInform}, out.Kind) && row.Row.Outputs != nil {
		out.KubeconfigRef = kubeconfigRef(row.Row)
	}
	if out.Kind == contract.KindInform {
		out.Card, out.RouteLabel = toCard(row.Row, set), set.RouteLabel
	}
	if out.Kind == contract.KindCreate {
		out.InstallConfig = row.Row.Spec.InstallConfig
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
		At: row.AcceptedAt, Profile: row.Profile, Generation: row.Generation, RequestedBy: row.RequestedBy, Source: row.Source,
		HourlyCents: row.ListCents, Nodes: row.Nodes, Workers: row.WorkersBase, WorkersLeast: row.WorkersLeast, WorkersMost: row.WorkersMost,
		SleepMode: string(row.SleepMode), AsleepCents: row.ListAsleep, WorkerMicros: row.WorkerMicros,
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

// accountFor returns the account that the runner must use: for a destroy, the account of the newest record.
func accountFor(row attempts.SpecRow) string {
	if n := len(row.Identities); n > 0 && string(row.Kind) == contract.KindDestroy {
		return row.Identities[n-1].Account
	}
	return row.Row.Spec.Account
}

// toInvalid converts values that no runner sends to a service error. The field names are in its text too, because runners keep only the
// text.
func toInvalid(err error) error {
	var bad intake.Invalid
	if !errors.As(err, &bad) {
		return err
	}
	out := &app.Error{Kind: app.Invalid, Message: "The document has invalid fields: " + bad.Error() + "."}
	for _, f := range bad {
		out.Fields = append(out.Fields, app.Field{Name: f.Name, Detail: f.Detail, Accept: f.Accept})
	}
	return out
}
