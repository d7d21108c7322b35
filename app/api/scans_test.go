package api

import (
	"context"
	"encoding/csv"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/scans"
)

// scanFixture is a fixture with an account to look through.
func scanFixture(t *testing.T) *fixture {
	terms := embedded(t)
	return fixtureWith(t, terms, func(c *Config) {
		a := app.Config{Store: c.Store, Catalogue: func() catalogue.Catalogue { return terms }, Accounts: func(context.Context) ([]scans.Wanted, error) {
			return []scans.Wanted{{Platform: "aws", Account: "123456789012", Spec: scans.Spec{
				Installation: "test", HomeRegion: "us-east-1", BaseDomains: []string{"labs.example.com"}, CallsPerSecond: 5, CloudCredentialsRef: "file:/keys",
			}}}, nil
		}}
		c.Admin = admin.New(c.App, a)
	})
}

// looker is a runner that looks through an account.
type looker struct {
	*fixture
	id, bearer string
}

// looker returns the newest runner of the open scan.
func (h *fixture) looker() *looker {
	h.Helper()
	scan, err := h.store.Scans.InTurn(h.Context())
	require.NoError(h, err)
	bearer, err := h.tokens.Sign(scan.ID, scan.TokenID, now())
	require.NoError(h, err)
	return &looker{h, scan.ID, bearer}
}

func (l *looker) says(what string, body, into any, status int) {
	l.Helper()
	l.does(http.MethodPost, statusPath+"scans/"+l.id+"/"+what, l.bearer, body, status, into)
}

func TestAScanIsAskedForRunAndRead(t *testing.T) {
	h := scanFixture(t)
	var opened, again v1.Scans
	h.does(http.MethodPost, "/api/v1/scans", h.as(oidc.Admin), v1.ScanRequest{Account: "123456789012", Reason: "after the outage"}, http.StatusAccepted, &opened)
	h.does(http.MethodPost, "/api/v1/scans", h.as(oidc.Admin), v1.ScanRequest{}, http.StatusAccepted, &again)
	require.Equal(t, opened, again)
	require.Equal(t, "waiting", opened.Items[0].State)
	p := h.refused(http.MethodPost, "/api/v1/scans", h.as(oidc.Admin), v1.ScanRequest{Account: "999999999999"}, http.StatusUnprocessableEntity)
	require.Equal(t, []string{"123456789012"}, p.Errors[0].Accepted)

	r := h.looker()
	var claimed contract.ClaimedScan
	r.says("claim", contract.Claim{Pod: "pod-1"}, &claimed, http.StatusOK)
	plans := claimed.Spec.Plans
	require.NotEmpty(t, plans)
	require.Contains(t, plans[0].InstallConfig, "controlPlane:")
	claimed.Spec.Plans = nil
	require.Equal(t, contract.ScanSpec{
		Scan: r.id, Installation: "test", Platform: "aws", Account: "123456789012", HomeRegion: "us-east-1", BaseDomains: []string{"labs.example.com"},
		CloudCredentialsRef: "file:/keys", CallsPerSecond: 5, Heartbeat: claimed.Spec.Heartbeat, Correlation: r.id,
	}, claimed.Spec)
	require.NotEmpty(t, claimed.Answer.Token)
	require.NotZero(t, claimed.Answer.Lease)
	vpc := contract.SeenResource{ID: "arn:aws:ec2:us-east-1:123456789012:vpc/vpc-1", Type: "vpc", Region: "us-east-1", Tags: map[string]string{"Owner": "maya"}}
	var answer contract.Answer
	part := contract.ScanPart{Name: "us-east-1/ec2", Resources: []contract.SeenResource{vpc}, Last: true, Calls: 4}
	r.says("report", contract.ScanReport{Seq: 1, Part: &part}, &answer, http.StatusOK)
	require.NotEmpty(t, answer.Token)
	r.says("report", contract.ScanReport{Seq: 2, Part: &contract.ScanPart{Name: "Ec2"}}, nil, http.StatusBadRequest)
	r.says("report", contract.ScanReport{Seq: 2, Room: &contract.ScanRoom{Profile: "aws-minimal-test", Region: "us-east-1", Quotas: []contract.Quota{
		{Service: "vpc", Code: "L-F678F1CE", Name: "VPCs per region", Limit: 5, Used: 1, Need: 1, Lasting: 1}, {Service: "ec2", Code: "L-0263D0A3", Name: "addresses", Limit: 7, Used: 1, Need: 3, Lasting: 3},
	}}}, &answer, http.StatusOK)
	r.says("report", contract.ScanReport{Seq: 3, Room: &contract.ScanRoom{Profile: "invented", Region: "us-east-1", Quotas: []contract.Quota{{Service: "vpc", Code: "L-1", Limit: 5, Need: 1}}}}, &answer, http.StatusOK)
	var rooms v1.Rooms
	h.seenBy(oidc.Requester, "/api/v1/rooms", &rooms)
	require.Len(t, rooms.Items, 1)
	require.Equal(t, []any{"aws-minimal-test", "123456789012", "us-east-1", 2, "addresses: 3 needed, 6 of 7 free"},
		[]any{rooms.Items[0].Profile, rooms.Items[0].Number, rooms.Items[0].Region, rooms.Items[0].Clusters, rooms.Items[0].LimitedBy})
	h.refused(http.MethodPost, statusPath+"attempts/"+r.id+"/claim", r.bearer, contract.Claim{Pod: "pod-1"}, http.StatusConflict)
	h.refused(http.MethodPost, statusPath+"scans/scn_other/claim", r.bearer, contract.Claim{Pod: "pod-1"}, http.StatusUnauthorized)

	require.NoError(t, h.store.Scans.Replace(t.Context(), r.id, 1))
	r.says("report", contract.ScanReport{Seq: 3}, nil, http.StatusConflict)
	r = h.looker()
	r.says("claim", contract.Claim{Pod: "pod-2"}, &claimed, http.StatusOK)
	require.Equal(t, []string{"us-east-1/ec2"}, claimed.Spec.Done)
	r.says("report", contract.ScanReport{Seq: 1, Part: &contract.ScanPart{Name: "eu-west-1/ec2", Last: true, Err: "UnauthorizedOperation: a policy denies it"}}, &answer, http.StatusOK)
	var last contract.Answer
	r.says("result", contract.ScanResult{Outcome: "succeeded", Regions: []string{"eu-west-1", "us-east-1"}, Calls: map[string]int{"ec2": 5}, Slowed: 1}, &last, http.StatusOK)
	require.Empty(t, last.Token)

	var one v1.ScanDetail
	h.seenBy(oidc.Auditor, "/api/v1/scans/"+r.id, &one)
	require.Equal(t, []any{"succeeded", 1, 2, 1}, []any{one.State, one.Resources, one.Runner, one.Slowed})
	require.Equal(t, []v1.ScanPart{{Name: "eu-west-1/ec2", Error: "UnauthorizedOperation: a policy denies it"}, {Name: "us-east-1/ec2", Resources: 1, Calls: 4, Complete: true}}, one.Parts)
	var job v1.JobDetail
	h.seenBy(oidc.Admin, "/api/v1/jobs/"+one.JobID, &job)
	require.Equal(t, []any{"ORPHAN_SCAN", "SUCCEEDED", ""}, []any{job.Type, job.Status, job.ClusterID})
	var list v1.Scans
	h.seenBy(oidc.Auditor, "/api/v1/scans?account=123456789012&limit=1", &list)
	require.Equal(t, []v1.Scan{one.Scan}, list.Items)

	h.refused(http.MethodGet, "/api/v1/scans/scn_none", h.as(oidc.Admin), nil, http.StatusNotFound)
	h.refused(http.MethodPost, "/api/v1/scans", h.as(oidc.Auditor), v1.ScanRequest{}, http.StatusForbidden)
	h.refused(http.MethodGet, "/api/v1/jobs/"+one.JobID, h.as(oidc.Requester), nil, http.StatusNotFound)
}

// found has orphans in the database as two scans leave them.
func (h *fixture) found(judged ...lifecycle.Judged) {
	h.Helper()
	for range 2 {
		scan, _, err := h.store.Scans.Open(h.Context(), scans.Wanted{Platform: "aws", Account: "123456789012"}, clusters.Origin{Actor: "saml:ada", Why: "a test"})
		require.NoError(h, err)
		require.NoError(h, h.store.Scans.Close(h.Context(), scan.ID, 1, scans.ResultRow{Outcome: lifecycle.Succeeded}))
		_, err = h.store.Scans.KeepOrphans(h.Context(), scan.ID, judged, lifecycle.FindingLimits{MinSights: 2})
		require.NoError(h, err)
	}
}

func TestOrphansAreListedForThoseWhoLookAfterThem(t *testing.T) {
	h := scanFixture(t)
	row := h.accept("shop", "platform")
	of := lifecycle.KnownCluster{Name: "shop", Owner: "maya", Team: "platform"}
	of.ID = row.ID
	group := lifecycle.Group{Regions: []string{"us-east-1"}, Sights: 1, Fresh: true}
	leak, stray := group, group
	leak.Installation, leak.Cluster, leak.Identity, leak.Resources, leak.HourlyCents = "test", row.ID, "shop-abcde", []string{"vpc-1", "nat-1"}, new(4.5)
	stray.Place, stray.Owner, stray.Resources, stray.Unpriced = "vpc-9", "=cmd()", []string{"vpc-9"}, 1
	h.found(lifecycle.Judged{Group: leak, Class: lifecycle.ClassReleased, Of: &of, Why: "it still exists"}, lifecycle.Judged{Group: stray, Class: lifecycle.ClassOwned, Why: "no known cluster has it"})

	var page, rest v1.OrphanPage
	h.seenBy(oidc.Admin, "/api/v1/orphans?limit=1", &page)
	h.seenBy(oidc.Admin, "/api/v1/orphans?limit=1&cursor="+page.NextCursor, &rest)
	require.Empty(t, rest.NextCursor)
	first := page.Items[0]
	require.Equal(t, []any{"released", "reported", row.ID, "shop", "maya", "platform", 2, int64(0)},
		[]any{first.Class, first.State, first.ClusterID, first.ClusterName, first.Owner, first.Team, first.Resources, *first.CostCents})
	require.Contains(t, first.Next, "approve their removal")
	second := rest.Items[0]
	require.Equal(t, []any{"owned", "kept"}, []any{second.Class, second.State})
	require.Nil(t, second.HourlyCents, "an unknown price is not zero")
	require.Nil(t, second.CostCents)
	var of1 v1.OrphanPage
	h.seenBy(oidc.Auditor, "/api/v1/orphans?class=released&state=reported&owner=maya&team=platform&account=123456789012", &of1)
	require.Equal(t, []v1.Orphan{first}, of1.Items)
	var detail v1.OrphanDetail
	h.seenBy(oidc.Auditor, "/api/v1/orphans/"+first.OrphanID, &detail)
	require.Equal(t, first, detail.Orphan)

	for _, headers := range [][]string{{"Accept", "text/csv"}, nil} {
		path := "/api/v1/orphans"
		if headers == nil {
			path += "?format=csv"
		}
		answer, raw := h.ask(http.MethodGet, path, h.as(oidc.Admin), nil, headers...)
		require.Equal(t, "text/csv; charset=utf-8", answer.Header.Get("Content-Type"))
		lines, err := csv.NewReader(strings.NewReader(string(raw))).ReadAll()
		require.NoError(t, err)
		require.Len(t, lines, 3)
		require.Equal(t, []string{first.OrphanID, "released", "reported"}, lines[1][:3])
		require.Contains(t, lines[2], "'=cmd()", "no spreadsheet runs a tag")
	}
	var plans v1.RemovalPlans
	h.does(http.MethodPost, "/api/v1/orphans/approve", h.as(oidc.Admin), v1.OrphanApproval{Ids: []string{second.OrphanID}, DryRun: true}, http.StatusOK, &plans)
	require.NotEmpty(t, plans.Items[0].Refused, "it may be anybody's")
	p := h.refused(http.MethodPost, "/api/v1/orphans/approve", h.as(oidc.Admin), v1.OrphanApproval{Ids: []string{second.OrphanID}, Reason: "x"}, http.StatusConflict)
	require.Contains(t, p.Detail, plans.Items[0].Refused)
	h.refused(http.MethodPost, "/api/v1/orphans/exempt", h.as(oidc.Admin), v1.OrphanExemption{Ids: []string{first.OrphanID, "orp_none"}, Reason: "kept for an analysis"}, http.StatusNotFound)
	h.seenBy(oidc.Auditor, "/api/v1/orphans/"+first.OrphanID, &detail)
	require.Equal(t, "reported", detail.State, "all or none")
	h.does(http.MethodPost, "/api/v1/orphans/exempt", h.as(oidc.Admin), v1.OrphanExemption{Ids: []string{first.OrphanID}, Reason: "kept for an analysis"}, http.StatusOK, nil)
	h.seenBy(oidc.Auditor, "/api/v1/orphans/"+first.OrphanID, &detail)
	require.Equal(t, "exempt", detail.State)
	h.refused(http.MethodGet, "/api/v1/orphans?class=lost&state=odd&format=xml", h.as(oidc.Admin), nil, http.StatusBadRequest)
	h.refused(http.MethodGet, "/api/v1/orphans", h.as(oidc.Requester), nil, http.StatusForbidden)
	h.refused(http.MethodGet, "/api/v1/orphans/orp_none", h.as(oidc.Admin), nil, http.StatusNotFound)
}
