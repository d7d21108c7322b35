package api

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/auditchain"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// as gets a document as somebody.
func (h *fixture) seenBy(who oidc.Claims, path string, into any) {
	h.Helper()
	h.does(http.MethodGet, path, h.as(who), nil, http.StatusOK, into)
}

func TestTheTrailIsReadExportedAndVerified(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	h.does(http.MethodPost, "/api/v1/clusters/shop/extend", h.as(oidc.Requester), v1.Extend{Hours: 1}, http.StatusOK, nil)
	h.refused(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), v1.CreateRequest{Name: "x", CostCenter: "c", Environment: "e", Region: "mars-1"},
		http.StatusUnprocessableEntity, idempotencyKey, "k")
	var page, rest v1.AuditPage
	h.seenBy(oidc.Auditor, "/api/v1/audit?limit=2", &page)
	require.Len(t, page.Items, 2)
	require.Equal(t, "refused", page.Items[0].Action)
	h.seenBy(oidc.Auditor, "/api/v1/audit?limit=2&cursor="+page.NextCursor, &rest)
	require.Equal(t, "accepted", rest.Items[0].Action)
	for query, want := range map[string]int{
		"action=extended": 1, "actor=" + url.QueryEscape(h.id(oidc.Requester)): 3, "cluster=" + made.ClusterID: 2, "cluster=shop": 2, "from=" + now().Add(time.Hour).UTC().Format(time.RFC3339): 0,
	} {
		page = v1.AuditPage{}
		h.seenBy(oidc.Auditor, "/api/v1/audit?"+query, &page)
		require.Len(t, page.Items, want, query)
	}
	require.Equal(t, "api", rest.Items[0].Source)
	h.refused(http.MethodGet, "/api/v1/audit?cluster=shap", h.as(oidc.Auditor), nil, http.StatusNotFound)

	answer, raw := h.ask(http.MethodGet, "/api/v1/audit/export", h.as(oidc.Auditor), nil)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, "application/x-ndjson", answer.Header.Get("Content-Type"))
	chain := auditchain.After(auditchain.Start)
	for text := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n") {
		var line auditchain.Line
		require.NoError(t, json.Unmarshal([]byte(text), &line))
		chain.Add(line)
	}
	require.True(t, chain.End().Whole(), chain.End().Text())
	var proof v1.AuditProof
	h.seenBy(oidc.Auditor, "/api/v1/audit/verify", &proof)
	require.Equal(t, []any{true, int64(3)}, []any{proof.Whole, proof.Lines})

	_, err := h.store.Pool().Exec(t.Context(), `ALTER TABLE audit_events DISABLE TRIGGER USER; UPDATE audit_events SET actor = 'nobody' WHERE seq = 2`)
	require.NoError(t, err)
	h.seenBy(oidc.Auditor, "/api/v1/audit/verify", &proof)
	require.Equal(t, []any{false, int64(2)}, []any{proof.Whole, proof.BrokenAt})
	require.Contains(t, proof.Message, "line 2")

	for _, path := range []string{"/api/v1/audit", "/api/v1/audit/export", "/api/v1/audit/verify"} {
		p := h.refused(http.MethodGet, path, h.as(oidc.Requester), nil, http.StatusForbidden)
		require.Contains(t, p.Detail, "Ask a platform admin")
	}
	p := h.refused(http.MethodGet, "/api/v1/audit?cursor=x&limit=0&form=y", h.as(oidc.Auditor), nil, http.StatusBadRequest)
	require.Len(t, p.Errors, 3)
	h.refused(http.MethodGet, "/api/v1/audit/export?from=2025-01-02T00:00:00Z&to=2025-01-01T00:00:00Z", h.as(oidc.Auditor), nil, http.StatusBadRequest)
}

func TestADeliveryIsInspectedAndWorkedAgain(t *testing.T) {
	h := newFixture(t)
	_, err := h.store.Inbox.SaveDelivery(t.Context(), inbox.Delivery{Source: "github", ID: "guid-1", Event: "ping", Topic: "acme/shop#41", Body: []byte(`{"zen":"<b>"}`)})
	require.NoError(t, err)
	var page v1.DeliveryPage
	h.seenBy(oidc.Admin, "/api/v1/deliveries?source=github&state=received&topic=acme%2Fshop%2341", &page)
	require.Len(t, page.Items, 1)
	id := page.Items[0].ID
	var one v1.DeliveryDetail
	h.seenBy(oidc.Auditor, "/api/v1/deliveries/"+id, &one)
	require.Equal(t, []any{`{"zen":"<b>"}`, 13, "guid-1"}, []any{one.Body, one.Size, one.DeliveryID})
	replay := "/api/v1/deliveries/" + id + "/replay"
	h.does(http.MethodPost, replay, h.as(oidc.Admin), v1.Reason{Reason: "it waits"}, http.StatusAccepted, nil)
	require.NoError(t, h.store.Inbox.FinishDelivery(t.Context(), 1, "nothing to do"))
	h.refused(http.MethodPost, replay, h.as(oidc.Admin), v1.Reason{}, http.StatusUnprocessableEntity)
	h.refused(http.MethodPost, replay, h.as(oidc.Auditor), v1.Reason{Reason: "x"}, http.StatusForbidden)
	var again v1.Delivery
	h.does(http.MethodPost, replay, h.as(oidc.Admin), v1.Reason{Reason: "the table was wrong"}, http.StatusAccepted, &again)
	require.Equal(t, v1.DeliveryState("received"), again.State)
	for _, none := range []string{"999", "x"} {
		h.refused(http.MethodGet, "/api/v1/deliveries/"+none, h.as(oidc.Admin), nil, http.StatusNotFound)
		h.refused(http.MethodPost, "/api/v1/deliveries/"+none+"/replay", h.as(oidc.Admin), v1.Reason{Reason: "x"}, http.StatusNotFound)
	}
	h.refused(http.MethodGet, "/api/v1/deliveries", h.as(oidc.Requester), nil, http.StatusForbidden)
	h.refused(http.MethodGet, "/api/v1/deliveries?state=lost", h.as(oidc.Admin), nil, http.StatusBadRequest)
}

func TestFindingsAreForThoseWhoLookAfterThem(t *testing.T) {
	h := newFixture(t)
	row := h.accept("shop", "platform")
	_, err := h.store.Reports.SaveFindings(t.Context(), []lifecycle.FindingKind{lifecycle.Overdue}, []lifecycle.Finding{
		{Kind: lifecycle.Overdue, Cluster: row.ID, Since: now().Add(-time.Hour), Why: "past its end", Evidence: []string{"it ended an hour ago"}},
	})
	require.NoError(t, err)
	var found v1.Findings
	h.seenBy(oidc.Auditor, "/api/v1/findings?kind=overdue", &found)
	require.Equal(t, []any{v1.FindingKind("overdue"), row.ID, 1}, []any{found.Items[0].Kind, found.Items[0].ClusterID, found.Items[0].TimesSeen})
	_, err = h.store.Reports.SaveFindings(t.Context(), []lifecycle.FindingKind{lifecycle.Overdue}, nil)
	require.NoError(t, err)
	h.seenBy(oidc.Admin, "/api/v1/findings", &found)
	require.Empty(t, found.Items)
	h.seenBy(oidc.Admin, "/api/v1/findings?all=true", &found)
	require.NotZero(t, found.Items[0].ResolvedAt)
	h.refused(http.MethodGet, "/api/v1/findings", h.as(oidc.Requester), nil, http.StatusForbidden)
	h.refused(http.MethodGet, "/api/v1/findings?kind=lost", h.as(oidc.Admin), nil, http.StatusBadRequest)
}

func TestUsageIsReportedForOnesOwnTeams(t *testing.T) {
	h := newFixture(t)
	h.ready(h.make(oidc.Requester, "shop").ClusterID)
	h.make(will, "vault")
	var report v1.UsageReport
	h.get("/api/v1/reports/usage", &report)
	require.Equal(t, []any{"team", true, 1, "platform"}, []any{report.By, report.Estimate, len(report.Items), report.Items[0].Key})
	require.Equal(t, 1, report.Items[0].Ready)
	h.seenBy(oidc.Auditor, "/api/v1/reports/usage?by=owner", &report)
	require.Equal(t, []int{2, 2}, []int{len(report.Items), report.Total.Clusters})
	h.seenBy(oidc.Auditor, "/api/v1/reports/usage?by=tag:Team&from=2020-01-01T00:00:00Z", &report)
	require.Len(t, report.Items, 2)
	p := h.refused(http.MethodGet, "/api/v1/reports/usage?by=colour", h.as(oidc.Auditor), nil, http.StatusBadRequest)
	require.Equal(t, "by", p.Errors[0].Field)
	h.refused(http.MethodGet, "/api/v1/reports/usage", h.as(toni), nil, http.StatusForbidden)
}

func TestTheCatalogueIsShownAsFarAsItConcernsOne(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	var list v1.Profiles
	h.get("/api/v1/profiles", &list)
	var names, unasked []string
	for _, p := range list.Items {
		names = append(names, p.Name)
		if p.Default {
			unasked = append(unasked, p.Name)
		}
	}
	require.Equal(t, []string{"aws-minimal-test", "aws-standard", "ibm-minimal-test", "ibm-standard"}, names)
	require.Equal(t, []string{"aws-minimal-test"}, unasked)
	h.seenBy(oidc.Admin, "/api/v1/profiles", &list)
	require.Len(t, list.Items, 5)
	var one v1.Profile
	h.get("/api/v1/profiles/aws-standard", &one)
	require.Equal(t, []any{3, 0, 3, int64(168 * 3600), v1.ProfileWhenFull("refuse")}, []any{one.Workers.Replicas, one.Workers.Least, one.Workers.Most, one.MaxTTLSeconds, one.WhenFull})
	p := h.refused(http.MethodGet, "/api/v1/profiles/aws-standrad", h.as(oidc.Requester), nil, http.StatusNotFound)
	require.Contains(t, p.Detail, "Did you mean aws-standard?")
	h.refused(http.MethodGet, "/api/v1/profiles/aws-minimal-mint", h.as(oidc.Requester), nil, http.StatusNotFound)

	var mine v1.Teams
	h.get("/api/v1/teams", &mine)
	require.Equal(t, []any{1, "platform", []string{"sandbox", "ci"}, int64(10_000_000)}, []any{len(mine.Items), mine.Items[0].Name, mine.Items[0].CostCenters, mine.Items[0].BudgetCents})
	h.seenBy(oidc.Auditor, "/api/v1/teams", &mine)
	require.Len(t, mine.Items, 3)

	var state v1.CatalogueState
	h.get("/api/v1/catalogue", &state)
	require.Equal(t, []any{"embedded", 5, 3, 1, 1}, []any{state.Source, state.Profiles, state.Teams, state.Quotas, state.Policies})
	h.does(http.MethodPost, "/api/v1/catalogue/reload", h.as(oidc.Admin), nil, http.StatusOK, &state)
	require.Len(t, state.Hash, 12)
	for _, path := range []string{"/api/v1/profiles", "/api/v1/profiles/x", "/api/v1/teams", "/api/v1/quotas", "/api/v1/catalogue"} {
		h.refused(http.MethodGet, path, h.as(toni), nil, http.StatusForbidden)
	}
	h.refused(http.MethodPost, "/api/v1/catalogue/reload", h.as(oidc.Requester), nil, http.StatusForbidden)
}

func TestACatalogueIsReadAsTheServerWould(t *testing.T) {
	h := newFixture(t)
	files := map[string]string{}
	require.NoError(t, fs.WalkDir(profiles.EmbeddedFiles(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(profiles.EmbeddedFiles(), path)
		files[path] = string(body)
		return err
	}))
	var said v1.CatalogueProblems
	h.does(http.MethodPost, "/api/v1/catalogue/validate", h.as(oidc.Admin), v1.CatalogueFiles{Files: files}, http.StatusOK, &said)
	require.True(t, said.Valid, said.Problems)
	require.Equal(t, embedded(t).Hash, said.Hash)

	files["quotas/quotas.yaml"] = "quotas:\n  - {name: team, scope: squad, live: 0}\n"
	files["policies/p.yaml"] = "name: p\nrules:\n  - {name: r, when: \"reqest.ttlHours > 4\", effect: deny, message: no}\n"
	said = v1.CatalogueProblems{}
	h.does(http.MethodPost, "/api/v1/catalogue/validate", h.as(oidc.Admin), v1.CatalogueFiles{Files: files}, http.StatusOK, &said)
	require.False(t, said.Valid)
	require.GreaterOrEqual(t, len(said.Problems), 3, "all at once: %v", said.Problems)
	require.Empty(t, said.Hash)
	require.Equal(t, "policies/p.yaml", said.Problems[0].File)

	said = v1.CatalogueProblems{}
	h.does(http.MethodPost, "/api/v1/catalogue/validate", h.as(oidc.Admin), v1.CatalogueFiles{Files: map[string]string{}}, http.StatusOK, &said)
	require.False(t, said.Valid)
	p := h.refused(http.MethodPost, "/api/v1/catalogue/validate", h.as(oidc.Admin), v1.CatalogueFiles{Files: map[string]string{"../etc": "x"}}, http.StatusUnprocessableEntity)
	require.Equal(t, "files.../etc", p.Errors[0].Field)
	h.refused(http.MethodPost, "/api/v1/catalogue/validate", h.as(oidc.Auditor), v1.CatalogueFiles{Files: files}, http.StatusForbidden)
}
