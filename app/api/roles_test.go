package api

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/attack/matrix"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// cast is a fixture with everybody of the matrix, and what its paths name.
func cast(t *testing.T) (h *fixture, bearers map[matrix.Principal]string, names *strings.Replacer) {
	h = fixtureWith(t, servicetest.Catalogue(t, castCatalogue), func(c *Config) { c.Grants = &grants{} })
	var made v1.Accepted
	h.does(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), v1.CreateRequest{Name: "shop", Profile: "aws-standard"}, http.StatusAccepted, &made, idempotencyKey, "k")
	h.ready(made.ClusterID)
	approval := h.asked(oidc.Requester, "big-one").ApprovalID
	people := matrix.Claims()
	for who, access := range map[matrix.Principal]v1.ShareRequestAccess{matrix.Sees: "see", matrix.Uses: "use"} {
		h.does(http.MethodPost, "/api/v1/clusters/shop/shares", h.as(oidc.Requester), v1.ShareRequest{Kind: "principal", With: h.id(people[who]), Access: access}, http.StatusOK, nil)
	}
	_, err := h.store.Inbox.SaveDelivery(t.Context(), inbox.Delivery{Source: "github", ID: "guid-1", Event: "ping", Body: []byte(`{}`)})
	require.NoError(t, err)
	require.NoError(t, h.store.Inbox.FinishDelivery(t.Context(), 1, "nothing to do"))
	var labels v1.Labels
	h.does(http.MethodPost, "/api/v1/repositories/labels", h.as(oidc.Admin), v1.LabelsRequest{Repository: "acme/shop"}, http.StatusAccepted, &labels, idempotencyKey, "k")
	bearers = map[matrix.Principal]string{matrix.Nobody: ""}
	for who, claims := range people {
		bearers[who] = h.as(claims)
	}
	for _, who := range []matrix.Principal{matrix.Admin, matrix.Uses, matrix.TeamAdmin} { // the requester has one from the create
		h.does(http.MethodGet, "/api/v1/clusters/shop/kubeconfig", bearers[who], nil, http.StatusAccepted, nil)
	}
	servicetest.Mint(t, h.store, h.shelf)
	open, runner := h.runners(made.ClusterID)
	bearers[matrix.Runner], bearers[matrix.ClosedRunner] = runner[0], runner[1]
	return h, bearers, strings.NewReplacer("{id}", made.ClusterID, "{job}", made.JobID, "{approval}", approval, "{delivery}", "1", "{labels}", labels.ID, "{attempt}", open)
}

// castCatalogue is what the matrix needs beside the program's own catalogue.
var castCatalogue = map[string]string{
	"identities/matrix.yaml": matrix.Identities,
	"identities/programs.yaml": "identities:\n" +
		"  - {name: actions, source: oidc, issuer: \"https://jobs.example\", match: {repository: [\"acme/*\"], ref: [refs/heads/main]}, role: requester, teams: [platform]}\n" +
		"  - {name: kubernetes, source: oidc, issuer: \"https://issuer.example\", match: {kubernetes.io.namespace: [ci]}, role: requester, teams: [payments]}\n",
	"teams/platform.yaml": "name: platform\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\n",
	"teams/payments.yaml": "name: payments\nowner: rob\ncostCenters: [payments]\nenvironments: [test]\n",
	"policies/big.yaml": "name: big\nrules:\n" +
		"  - {name: one, when: \"request.name.startsWith('big')\", effect: requireApproval, message: Big ones need a word.}\n",
}

// runners are an open attempt of the requester's team, its token, and the token of the closed attempt of a ready cluster.
func (h *fixture) runners(ready string) (open string, bearers [2]string) {
	h.Helper()
	second := h.make(oidc.Requester, "second")
	h.step(second.ClusterID)
	launched, bearer := h.attempt(second.ClusterID)
	var closed, token string
	require.NoError(h, h.store.Pool().QueryRow(h.Context(), "SELECT id, token_id FROM attempts WHERE cluster_id = $1 AND closed_at IS NOT NULL", ready).Scan(&closed, &token))
	over, err := h.tokens.Sign(closed, token, time.Now())
	require.NoError(h, err)
	return launched.Attempt, [2]string{bearer, over}
}

// body is what a row sends; nil: nothing.
func body(row matrix.Row) any {
	if row.Body == nil {
		return nil
	}
	return row.Body
}

func TestEveryOperationAnswersEveryPrincipalAsTheMatrixSays(t *testing.T) {
	rows, err := matrix.Operations()
	require.NoError(t, err)
	h, bearers, names := cast(t)
	ops := listOperations(t)
	var ids []string
	last := len(ops) - 1
	for _, op := range ops {
		ids = append(ids, op.ID)
	}
	down := slices.Index(ids, "destroyCluster") // what takes the cluster down comes last
	ops[down], ops[last] = ops[last], ops[down]
	require.Empty(t, matrix.Missing(rows, ids))
	for _, op := range ops {
		row := rows[op.ID]
		var got []string
		for _, who := range matrix.Principals {
			answer, _ := h.ask(op.Method, names.Replace(cmp.Or(row.Path, op.Path)), bearers[who], body(row), idempotencyKey, "table-"+op.ID)
			got = append(got, answer.Status[:3])
		}
		require.Equal(t, strings.Join(strings.Fields(row.Want), " "), strings.Join(got, " "), "%s: %v", op.ID, matrix.Principals)
	}
}

func TestWhatOneMayNotSeeIsWordForWordWhatDoesNotExist(t *testing.T) {
	rows, err := matrix.Operations()
	require.NoError(t, err)
	h, bearers, names := cast(t)
	foreign := map[string][2]string{ // what is there and another's, and what is nowhere
		"{id}": {names.Replace("{id}"), "clu_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT"}, "{job}": {names.Replace("{job}"), "job_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT"},
		"{approval}": {names.Replace("{approval}"), "apr_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT"}, "{name}": {"shop", "pear"},
	}
	compared := 0
	for _, op := range listOperations(t) {
		path := cmp.Or(rows[op.ID].Path, op.Path)
		paths := []string{path}
		if strings.Contains(path, "{id}") && !strings.Contains(path, statusPath) {
			paths = append(paths, strings.Replace(path, "{id}", "{name}", 1))
		}
		for _, path := range paths {
			for placeholder, ids := range foreign {
				if !strings.Contains(path, placeholder) || strings.Contains(path, "/profiles/") || strings.Contains(path, statusPath) || op.ID == "watchClusters" {
					continue
				}
				var said [2]string
				for i, id := range ids {
					answer, raw := h.ask(op.Method, strings.Replace(path, placeholder, id, 1), bearers[matrix.OtherRequester], body(rows[op.ID]))
					require.Equal(t, http.StatusNotFound, answer.StatusCode, "%s %s: %s", op.ID, path, raw)
					said[i] = strings.ReplaceAll(string(raw), id, "<id>")
				}
				require.Equal(t, said[1], said[0], "%s %s", op.ID, path)
				compared++
			}
		}
	}
	require.Greater(t, compared, 40)
}
