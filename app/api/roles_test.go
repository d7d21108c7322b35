package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/house/oidc"
	"github.com/ocpctl/ocpctl/runner/contract"
	"github.com/ocpctl/ocpctl/store"
)

// who are the principals of the table, in its columns' order: of the cluster's team, admin, auditor, of another team, with a
// share to see, with a share to use, without a role; then an expired token and none.
var columns = []string{"member", "admin", "auditor", "stranger", "sees", "uses", "roleless", "expired", "nobody"}

// roles says what each operation answers to each of them. "{id}" is a ready cluster of the member's team, but where the row
// says otherwise.
var roles = map[string]struct {
	path string
	body any
	want string // statuses in the columns' order
}{
	"listClusters":   {want: "200 200 200 200 200 200 403 401 401"},
	"createCluster":  {body: CreateRequest{}, want: "422 422 403 422 403 403 403 401 401"},
	"dryRun":         {body: CreateRequest{}, want: "200 200 403 200 403 403 403 401 401"},
	"watchClusters":  {path: "/api/v1/watch?cluster={id}&nothing=1", want: "400 400 400 400 400 400 400 401 401"}, // as a stream it is tested elsewhere
	"getCluster":     {want: "200 200 200 404 200 200 403 401 401"},
	"getOutputs":     {want: "200 200 200 404 200 200 403 401 401"},
	"getKubeconfig":  {want: "200 200 403 404 403 200 403 401 401"},
	"getTimeline":    {want: "200 200 200 404 200 200 403 401 401"},
	"explainCluster": {want: "200 200 200 404 200 200 403 401 401"},
	"getLogs":        {want: "200 200 200 404 200 200 403 401 401"},
	"listShares":     {want: "200 200 200 404 200 200 403 401 401"},

	"abandonCluster":  {body: Reason{Reason: "x"}, want: "403 409 403 404 403 403 403 401 401"},
	"retryTeardown":   {body: Reason{Reason: "x"}, want: "409 409 403 404 403 403 403 401 401"},
	"extendCluster":   {body: Extend{Hours: 1}, want: "200 200 403 404 403 403 403 401 401"},
	"holdCluster":     {body: Hold{Hours: 1, Reason: "x"}, want: "200 200 403 404 403 403 403 401 401"},
	"releaseHold":     {want: "200 200 403 404 403 403 403 401 401"},
	"shareCluster":    {body: ShareRequest{Kind: "principal", With: "x"}, want: "200 200 403 404 403 403 403 401 401"},
	"unshareCluster":  {path: "/api/v1/clusters/{id}/shares?kind=principal&with=nobody", want: "404 404 403 404 403 403 403 401 401"},
	"transferCluster": {body: Transfer{Team: "platform", Owner: "maya"}, want: "200 200 403 404 403 403 403 401 401"},
	"scaleWorkers":    {body: Scale{Replicas: 1}, want: "202 202 403 404 403 403 403 401 401"},
	"refreshCluster":  {want: "409 409 403 404 403 403 403 401 401"}, // it has no add-ons
	"linkKubeconfig":  {want: "201 201 403 404 403 201 403 401 401"},
	"breakGlass":      {body: Reason{Reason: "x"}, want: "202 409 403 404 403 403 403 401 401"}, // the admin's waits behind the member's
	"linkKubeadmin":   {want: "409 409 403 404 403 403 403 401 401"},

	"listJobs": {want: "200 200 200 200 200 200 403 401 401"},
	"getJob":   {path: "/api/v1/jobs/{job}", want: "200 200 200 404 200 200 403 401 401"},

	"listProfiles":      {want: "200 200 200 200 403 403 403 401 401"},
	"getProfile":        {path: "/api/v1/profiles/aws-standard", want: "200 200 200 200 403 403 403 401 401"},
	"listTeams":         {want: "200 200 200 200 403 403 403 401 401"},
	"listQuotas":        {want: "200 200 200 200 403 403 403 401 401"},
	"getCatalogue":      {want: "200 200 200 200 403 403 403 401 401"},
	"validateCatalogue": {body: CatalogueFiles{Files: map[string]string{}}, want: "403 200 403 403 403 403 403 401 401"},
	"reloadCatalogue":   {want: "403 200 403 403 403 403 403 401 401"},

	"listApprovals": {want: "200 200 200 200 403 403 403 401 401"},
	"getApproval":   {path: "/api/v1/approvals/{approval}", want: "200 200 200 404 403 403 403 401 401"},
	"approve":       {path: "/api/v1/approvals/{approval}/approve", want: "403 200 403 404 403 403 403 401 401"},
	"refuse":        {path: "/api/v1/approvals/{approval}/refuse", body: Reason{Reason: "x"}, want: "403 409 403 404 403 403 403 401 401"},

	"redeemLink":    {path: "/api/v1/links/none", want: "404 404 404 404 404 404 404 401 401"},
	"getMe":         {want: "200 200 200 200 200 200 200 401 401"},
	"unlinkAccount": {path: "/api/v1/me/accounts?account=github:x", want: "404 404 404 404 404 404 404 401 401"},
	"signInWithAWS": {body: AWSProof{URL: "x"}, want: "404 404 404 404 404 404 404 404 404"}, // this server takes none

	"listAudit":      {want: "403 200 200 403 403 403 403 401 401"},
	"exportAudit":    {want: "403 200 200 403 403 403 403 401 401"},
	"verifyAudit":    {want: "403 200 200 403 403 403 403 401 401"},
	"listDeliveries": {want: "403 200 200 403 403 403 403 401 401"},
	"getDelivery":    {path: "/api/v1/deliveries/{delivery}", want: "403 200 200 403 403 403 403 401 401"},
	"replayDelivery": {path: "/api/v1/deliveries/{delivery}/replay", body: Reason{Reason: "x"}, want: "403 202 403 403 403 403 403 401 401"},
	"reportUsage":    {want: "200 200 200 200 403 403 403 401 401"},
	"listFindings":   {want: "403 200 200 403 403 403 403 401 401"},

	"ensureLabels": {body: LabelsRequest{Repository: "acme/shop"}, want: "403 202 403 403 403 403 403 401 401"},
	"getLabels":    {path: "/api/v1/repositories/labels/{labels}", want: "403 200 403 403 403 403 403 401 401"},

	"getBucketCredentials": {want: "401 401 401 401 401 401 401 401 401"},
	"claimAttempt":         {body: contract.Claim{}, want: "401 401 401 401 401 401 401 401 401"},
	"reserveRoom":          {body: contract.Demand{}, want: "401 401 401 401 401 401 401 401 401"},
	"recordIdentity":       {body: contract.Record{}, want: "401 401 401 401 401 401 401 401 401"},
	"reportProgress":       {body: contract.Report{}, want: "401 401 401 401 401 401 401 401 401"},
	"resultOfAttempt":      {body: contract.Result{}, want: "401 401 401 401 401 401 401 401 401"},

	"destroyCluster": {want: "202 202 403 404 403 403 403 401 401"},
}

// cast is a house with everybody of the table, and what the paths name.
func cast(t *testing.T) (h *house, bearers map[string]string, names *strings.Replacer) {
	h = houseWith(t, teams(t), nil)
	var made Accepted
	h.does(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), CreateRequest{Name: "shop", Profile: "aws-standard"}, http.StatusAccepted, &made, idempotencyKey, "k")
	h.ready(made.ClusterID)
	approval := h.asked(oidc.Requester, "big-one").ApprovalID
	sees, uses := oidc.Claims{Subject: "sees", Name: "Sees"}, oidc.Claims{Subject: "uses", Name: "Uses"}
	for who, access := range map[string]ShareRequestAccess{h.id(sees): "see", h.id(uses): "use"} {
		h.does(http.MethodPost, "/api/v1/clusters/shop/shares", h.as(oidc.Requester), ShareRequest{Kind: "principal", With: who, Access: access}, http.StatusOK, nil)
	}
	_, err := h.store.SaveDelivery(t.Context(), store.Delivery{Source: "github", ID: "guid-1", Event: "ping", Body: []byte(`{}`)})
	require.NoError(t, err)
	require.NoError(t, h.store.FinishDelivery(t.Context(), 1, "nothing to do"))
	var labels Labels
	h.does(http.MethodPost, "/api/v1/repositories/labels", h.as(oidc.Admin), LabelsRequest{Repository: "acme/shop"}, http.StatusAccepted, &labels, idempotencyKey, "k")
	expired := oidc.Requester
	expired.Expiry = jwtTime(now().Add(-time.Hour))
	bearers = map[string]string{
		"member": h.as(oidc.Requester), "admin": h.as(oidc.Admin), "auditor": h.as(oidc.Auditor), "stranger": h.as(will),
		"sees": h.as(sees), "uses": h.as(uses), "roleless": h.as(toni), "expired": h.as(expired), "nobody": "",
	}
	return h, bearers, strings.NewReplacer("{id}", made.ClusterID, "{job}", made.JobID, "{approval}", approval, "{delivery}", "1", "{labels}", labels.ID)
}

func TestEveryOperationAnswersEveryPrincipalAsTheTableSays(t *testing.T) {
	h, bearers, names := cast(t)
	ops := operations(t)
	require.Len(t, roles, len(ops), "the table names every operation, and no other")
	last := len(ops) - 1
	for i, op := range ops { // what takes the cluster down comes last
		if op.ID == "destroyCluster" {
			ops[i], ops[last] = ops[last], ops[i]
		}
	}
	for _, op := range ops {
		row, listed := roles[op.ID]
		require.True(t, listed, "%s is not in the table", op.ID)
		path := row.path
		if path == "" {
			path = op.Path
		}
		var got []string
		for _, who := range columns {
			answer, _ := h.ask(op.Method, names.Replace(path), bearers[who], row.body, idempotencyKey, "table-"+op.ID)
			got = append(got, answer.Status[:3])
		}
		require.Equal(t, row.want, strings.Join(got, " "), "%s: %v", op.ID, columns)
	}
}

func TestWhatOneMayNotSeeIsWordForWordWhatDoesNotExist(t *testing.T) {
	h, bearers, names := cast(t)
	foreign := map[string][2]string{ // what is there and another's, and what is nowhere
		"{id}": {names.Replace("{id}"), "clu_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT"}, "{job}": {names.Replace("{job}"), "job_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT"},
		"{approval}": {names.Replace("{approval}"), "apr_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT"}, "{name}": {"shop", "pear"},
	}
	compared := 0
	for _, op := range operations(t) {
		path := roles[op.ID].path
		if path == "" {
			path = op.Path
		}
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
					answer, raw := h.ask(op.Method, strings.Replace(path, placeholder, id, 1), bearers["stranger"], roles[op.ID].body)
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
