package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/attempts"
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
	return slices.Contains([]lifecycle.Kind{lifecycle.Scale, lifecycle.Configure, lifecycle.Access, lifecycle.Sleep, lifecycle.Wake, lifecycle.Observe, lifecycle.Inform, lifecycle.Prepare}, k)
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
