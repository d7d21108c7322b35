package attack

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/attack/matrix"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// stage is the matrix's principals, and a cluster with everything that its rows name.
type stage struct {
	callers map[matrix.Principal]caller
	names   *strings.Replacer
	runner  *taken // whose attempt is open
	id      string
}

// stage creates what the matrix's rows name: a ready cluster, shares, a pending approval, a running runner and one whose attempt is
// closed, a delivery and labels.
func (t *target) stage(ctx context.Context, name string) (_ *stage, err error) {
	defer must.Catch(&err)
	s := &stage{callers: map[matrix.Principal]caller{matrix.Nobody: t.nobody()}}
	for who, claims := range matrix.Claims() {
		s.callers[who] = must.Get(t.as(claims))
	}
	id := must.Get(t.ready(ctx, oidc.Requester, name))
	s.id = id
	s.runner, _ = must.Get2(t.capture(ctx, name+"-open", callRecordIdentity))
	var attempt string
	must.Do(t.pool.QueryRow(ctx, "SELECT id FROM attempts WHERE cluster_id = $1", id).Scan(&attempt))
	closed := t.relay.token(attempt)
	must.FailIf(closed == "", "the token of the ready cluster's attempt was not seen")
	s.callers[matrix.Runner], s.callers[matrix.ClosedRunner] = s.runner.caller, t.bearing(closed)
	requester, admin := s.callers[matrix.Requester], s.callers[matrix.Admin]
	must.Do(errors.Join(t.share(ctx, s, matrix.Sees, "see"), t.share(ctx, s, matrix.Uses, "use")))
	var asked struct{ ApprovalID string }
	var labels v1.Labels
	var detail v1.ClusterDetail
	must.Do(errors.Join(
		requester.expect(ctx, http.StatusAccepted, &asked, http.MethodPost, "/api/v1/clusters/"+id+"/break-glass", map[string]string{"reason": "x"}),
		requester.expect(ctx, http.StatusOK, &detail, http.MethodGet, "/api/v1/clusters/"+id, nil),
		admin.expect(ctx, http.StatusAccepted, &labels, http.MethodPost, "/api/v1/repositories/labels", map[string]string{"repository": "acme/shop"}, "Idempotency-Key", name),
	))
	delivery, err := t.delivery(ctx)
	s.names = strings.NewReplacer("{id}", id, "{job}", detail.Job.JobID, "{approval}", asked.ApprovalID, "{delivery}", delivery,
		"{labels}", labels.ID, "{attempt}", s.runner.attempt, "{name}", "aws-standard", "{link}", "none")
	return s, err
}

// share shares the stage's cluster with a principal.
func (t *target) share(ctx context.Context, s *stage, with matrix.Principal, access string) error {
	share := map[string]string{"kind": "principal", "with": t.idOf(matrix.Claims()[with]), "access": access}
	return s.callers[matrix.Requester].expect(ctx, http.StatusOK, nil, http.MethodPost, "/api/v1/clusters/"+s.id+"/shares", share)
}

// idOf returns the principal id of somebody with the issuer's claims.
func (t *target) idOf(who oidc.Claims) string { return "oidc:" + t.OIDC.URL() + "#" + who.Subject }

// delivery returns the id of a processed webhook.
func (t *target) delivery(ctx context.Context) (id string, err error) {
	if err := t.GitHub.Label(41, "documentation", "maya"); err != nil {
		return "", err
	}
	err = await(ctx, "a delivery to be worked", func(ctx context.Context) (bool, error) {
		err := t.pool.QueryRow(ctx, "SELECT id::text FROM deliveries WHERE state = 'done' LIMIT 1").Scan(&id)
		return err == nil, err
	})
	return id, err
}
