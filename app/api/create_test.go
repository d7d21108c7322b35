package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
)

// sample is the create request of the specification, byte for byte.
func sample(t testing.TB) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/specification-request.json")
	require.NoError(t, err)
	return raw
}

func TestTheSpecificationsOwnRequestIsAcceptedAsItStands(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	var made v1.Accepted
	answer := h.does(http.MethodPost, "/api/v1/clusters", h.as(sam), sample(t), http.StatusAccepted, &made, idempotencyKey, "9f1c")
	require.Regexp(t, `^clu_[0-9A-Z]{26}$`, made.ClusterID)
	require.Regexp(t, `^job_[0-9A-Z]{26}$`, made.JobID)
	require.Equal(t, v1.Status("PENDING"), made.Status)
	require.Equal(t, "/api/v1/clusters/"+made.ClusterID, answer.Header.Get("Location"))
	require.Equal(t, "http://ocpctl.test/clusters/"+made.ClusterID, made.URL)
	require.Contains(t, made.Message, "abbreviated")
	require.Empty(t, answer.Header.Get("Idempotency-Replayed"))

	var c v1.ClusterDetail
	h.does(http.MethodGet, "/api/v1/clusters/team-a-smoke-01", h.as(sam), nil, http.StatusOK, &c)
	require.Equal(t, []string{"team-a", "team-a", "sandbox", "test", "api"}, []string{c.Owner, c.Team, c.CostCenter, c.Environment, c.Source})
	require.Equal(t, "webform", c.Tags["RequestSource"])
	row, err := h.store.Cluster(t.Context(), made.ClusterID)
	require.NoError(t, err)
	require.Equal(t, "ssh-rsa ours", row.Spec.SSHKey, "the key was cut for show")
}

func TestAKeyIsNeededAndOfItsForm(t *testing.T) {
	h := newFixture(t)
	p := h.refused(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), sample(t), http.StatusBadRequest)
	require.Equal(t, idempotencyKey, p.Errors[0].Field)
	require.NotEmpty(t, p.Errors[0].Accepted)
	for _, key := range []string{"a b", "ü", strings.Repeat("x", 256)} {
		p = h.refused(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), sample(t), http.StatusBadRequest, idempotencyKey, key)
		require.Equal(t, idempotencyKey, p.Errors[0].Field, key)
	}
}

func TestTheSameRequestGetsTheSameAnswerAndMakesOneCluster(t *testing.T) {
	h := newFixture(t)
	ask := func(body any, key string) (*http.Response, string) {
		answer, raw := h.ask(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), body, idempotencyKey, key)
		return answer, string(raw)
	}
	body := v1.CreateRequest{Name: "shop", CostCenter: "sandbox", Environment: "test"}
	first, said := ask(body, "k-1")
	require.Equal(t, http.StatusAccepted, first.StatusCode, said)
	again, repeated := ask(body, "k-1")
	require.Equal(t, said, repeated)
	require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
	require.Equal(t, first.Header.Get("Location"), again.Header.Get("Location"))
	require.Equal(t, first.Header.Get("ETag"), again.Header.Get("ETag"))

	body.Name = "other"
	p := h.refused(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), body, http.StatusConflict, idempotencyKey, "k-1")
	require.Contains(t, p.Detail, "use a new key")
	other, said := ask(body, "k-2")
	require.Equal(t, http.StatusAccepted, other.StatusCode, said)
	theirs, raw := h.ask(http.MethodPost, "/api/v1/clusters", h.as(will), v1.CreateRequest{Name: "third", CostCenter: "sandbox", Environment: "test"}, idempotencyKey, "k-1")
	require.Equal(t, http.StatusAccepted, theirs.StatusCode, "%s: a key is its principal's own", raw)

	// A refusal is an answer too.
	body.Region = "mars-1"
	refused, said := ask(body, "k-3")
	require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode)
	refused, repeated = ask(body, "k-3")
	require.Equal(t, said, repeated)
	require.Equal(t, "true", refused.Header.Get("Idempotency-Replayed"))
	require.Equal(t, "application/problem+json", refused.Header.Get("Content-Type"))
}

func TestTwoServersAtOnceAndOneAfterARestartAgree(t *testing.T) {
	h := newFixture(t)
	second := servicetest.Store(t, h.url)
	other := serve(t, h.config(second, appConfig(second, embedded(t), h.shelf, h.github), embedded(t), nil))
	servers := []string{h.Server.URL, other.URL}
	bearer, answers := h.as(oidc.Requester), make([]string, 12)
	var group sync.WaitGroup
	for i := range answers {
		group.Go(func() {
			there := *h
			there.Server = other
			if i%2 == 0 {
				there.Server = h.Server
			}
			answer, raw := there.ask(http.MethodPost, "/api/v1/clusters", bearer, sample(t), idempotencyKey, "one")
			answers[i] = fmt.Sprint(answer.StatusCode, string(raw))
		})
	}
	group.Wait()
	for _, a := range answers {
		require.Equal(t, answers[0], a, servers)
	}
	require.Contains(t, answers[0], "202")
	var page v1.ClusterPage
	h.does(http.MethodGet, "/api/v1/clusters", h.as(oidc.Admin), nil, http.StatusOK, &page)
	require.Len(t, page.Items, 1)

	third := servicetest.Store(t, h.url) // whoever starts later knows what was answered before
	h.Server = serve(t, h.config(third, appConfig(third, embedded(t), h.shelf, h.github), embedded(t), nil))
	answer, raw := h.ask(http.MethodPost, "/api/v1/clusters", bearer, sample(t), idempotencyKey, "one")
	require.Equal(t, answers[0], fmt.Sprint(answer.StatusCode, string(raw)))
	require.Equal(t, "true", answer.Header.Get("Idempotency-Replayed"))
}

func TestEveryWrongFieldOfARequestIsNamedAtOnce(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	p := h.refused(http.MethodPost, "/api/v1/clusters", h.as(both), []byte(`{"name": "Shop", "version": 4.20, "region": "us-est-1", "regoin": "x", "ttlHours": 999,
		"platform": "ibmcloud", "extraTags": {"Owner": "x"}, "offhoursOptIn": true, "sshPublicKey": "hello"}`), http.StatusUnprocessableEntity, idempotencyKey, "k")
	fields := map[string]v1.FieldError{}
	for _, e := range p.Errors {
		fields[e.Field] = e
		require.NotEmpty(t, e.Detail, e.Field)
	}
	for _, want := range []string{"name", "version", "region", "regoin", "ttl", "platform", "extraTags", "offhoursOptIn", "sshPublicKey", "team"} {
		require.Contains(t, fields, want)
	}
	require.Equal(t, []string{"false"}, fields["offhoursOptIn"].Accepted)
	require.Equal(t, []string{"platform", "security"}, fields["team"].Accepted)
	require.NotContains(t, fields, "costCenter", "a team's lists give it")
	require.Contains(t, fields["regoin"].Detail, "Did you mean region?")
	p = h.refused(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), []byte(`{"name": "shop", "ttlHours": "8"}`), http.StatusUnprocessableEntity, idempotencyKey, "j")
	require.Equal(t, `It is not a number of hours: "8".`, p.Errors[0].Detail)

	p = h.refused(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), v1.CreateRequest{Name: "shop", Team: "security"}, http.StatusUnprocessableEntity, idempotencyKey, "k")
	require.Equal(t, "team", p.Errors[0].Field)
	require.Contains(t, p.Errors[0].Detail, "platform")
	p = h.refused(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), v1.CreateRequest{Name: "shop", CostCenter: "gold"}, http.StatusUnprocessableEntity, idempotencyKey, "l")
	require.Equal(t, "costCenter", p.Errors[0].Field)
}

func TestWhatIsNoRequestIsNotReadAsOne(t *testing.T) {
	h := newFixture(t)
	bearer := h.as(oidc.Requester)
	for _, path := range []string{"/api/v1/clusters", "/api/v1/dry-run"} {
		for _, body := range []string{"name: shop", `{"name": `, ``} {
			h.refused(http.MethodPost, path, bearer, []byte(body), http.StatusBadRequest, idempotencyKey, "k")
		}
		h.refused(http.MethodPost, path, bearer, []byte(`[]`), http.StatusUnprocessableEntity, idempotencyKey, "k")
		p := h.refused(http.MethodPost, path, bearer, []byte(`{"name": "`+strings.Repeat("x", maxBody)+`"}`), http.StatusRequestEntityTooLarge, idempotencyKey, "k")
		require.Contains(t, p.Detail, "64 KiB")
		p = h.refused(http.MethodPost, path, bearer, sample(t), http.StatusUnsupportedMediaType, idempotencyKey, "k", "Content-Type", "application/yaml")
		require.Contains(t, p.Detail, "application/json")
	}
}

func TestWhoMayNotCreateIsTold(t *testing.T) {
	h := newFixture(t)
	for _, who := range []oidc.Claims{oidc.Auditor, toni} {
		for _, path := range []string{"/api/v1/clusters", "/api/v1/dry-run"} {
			h.refused(http.MethodPost, path, h.as(who), sample(t), http.StatusForbidden, idempotencyKey, "k")
		}
	}
}

func TestANameThatIsTakenIsAConflict(t *testing.T) {
	h := newFixture(t)
	h.make(oidc.Requester, "shop")
	p := h.refused(http.MethodPost, "/api/v1/clusters", h.as(will), v1.CreateRequest{Name: "shop", CostCenter: "c", Environment: "e"}, http.StatusConflict, idempotencyKey, "k")
	require.Contains(t, p.Detail, "taken on labs.example.com")
	var v v1.Verdict
	h.does(http.MethodPost, "/api/v1/dry-run", h.as(will), v1.CreateRequest{Name: "shop", CostCenter: "c", Environment: "e"}, http.StatusOK, &v)
	require.False(t, v.Allowed)
	require.Contains(t, v.Message, p.Detail, "a dry run finds it, too")
}

func TestAFullQuotaRefusesOrMakesWaitWithItsFigures(t *testing.T) {
	h := newFixture(t)
	for i := range 3 {
		require.Zero(t, h.make(oidc.Requester, fmt.Sprintf("shop-%d", i)).Position)
	}
	p := h.refused(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), v1.CreateRequest{Name: "shop-4", Profile: "aws-standard", CostCenter: "c", Environment: "e"},
		http.StatusUnprocessableEntity, idempotencyKey, "k")
	require.Equal(t, "quota", p.Errors[0].Field)
	require.Contains(t, p.Errors[0].Detail, "has 3 of the 3 clusters being created")
	var quotas v1.Quotas
	h.get("/api/v1/quotas", &quotas)
	require.Equal(t, []v1.Quota{{Name: "team", Scope: "team", Key: "platform", Live: v1.Used{Used: 3, Most: 5}, Creating: v1.Used{Used: 3, Most: 3}}}, quotas.Items)

	waits := h.make(oidc.Requester, "shop-5") // of a profile whose requests wait
	require.Equal(t, 1, waits.Position)
	require.Contains(t, waits.Message, "It waits: Team platform has 3 of the 3")
	require.Equal(t, 2, h.make(oidc.Requester, "shop-6").Position)
	var v v1.Verdict
	h.does(http.MethodPost, "/api/v1/dry-run", h.as(oidc.Requester), v1.CreateRequest{Name: "shop-7", CostCenter: "sandbox", Environment: "test"}, http.StatusOK, &v)
	require.True(t, v.Waits)
	require.Equal(t, 3, v.Position)
	require.Zero(t, v.StartsAt, "nothing is known yet of how long a create takes")
}

func TestACohortsPlacesAreSaid(t *testing.T) {
	files := map[string]string{"quotas/quotas.yaml": "quotas:\n  - {name: team, scope: team, live: 1, borrow: 1}\n"}
	for _, team := range []string{"platform", "team-a"} {
		files["teams/"+team+".yaml"] = "name: " + team + "\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\ncohort: payments\n"
	}
	h := fixtureWith(t, servicetest.Catalogue(t, files), nil)
	h.make(oidc.Requester, "shop-1")
	require.Contains(t, h.make(oidc.Requester, "shop-2").Message, "1 over the quota of team platform: borrowed from the cohort payments, which has 1 of 2 free.")
	var quotas v1.Quotas
	h.get("/api/v1/quotas", &quotas)
	require.Equal(t, []v1.Quota{{Name: "team", Scope: "team", Key: "platform", Live: v1.Used{Used: 2, Most: 2}, Cohort: v1.CohortShare{Name: "payments", Guaranteed: 1, Borrowed: 1}}}, quotas.Items)
}

func TestADryRunSaysEverythingAndKeepsNothing(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	var v v1.Verdict
	h.does(http.MethodPost, "/api/v1/dry-run", h.as(sam), sample(t), http.StatusOK, &v)
	require.True(t, v.Allowed)
	require.Equal(t, []any{"team-a-smoke-01", "aws-minimal-test", 3, int64(24 * 3600), "team-a"}, []any{v.Name, v.Profile, v.Nodes, v.TTLSeconds, v.Team})
	require.Positive(t, v.TotalCents)
	require.Len(t, v.Catalogue, 12)
	require.Contains(t, v.Message, "abbreviated")

	h.does(http.MethodPost, "/api/v1/dry-run", h.as(oidc.Requester), v1.CreateRequest{Name: "big-one"}, http.StatusOK, &v)
	require.Equal(t, 1, v.NeedsApproval.Count)
	require.Contains(t, v.NeedsApproval.Why, "Big ones need a word.")

	v = v1.Verdict{}
	h.does(http.MethodPost, "/api/v1/dry-run", h.as(sam), v1.CreateRequest{Name: "Shop", Platform: "ibmcloud"}, http.StatusOK, &v)
	require.False(t, v.Allowed)
	failed := map[string]bool{}
	for _, c := range v.Checks {
		failed[c.Name] = c.Result == "fail"
	}
	require.True(t, failed["name"])
	require.True(t, failed["platform"])
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	require.NotContains(t, string(raw), `"hourlyCents"`, "nothing was granted")
	var page v1.ClusterPage
	h.does(http.MethodGet, "/api/v1/clusters", h.as(oidc.Admin), nil, http.StatusOK, &page)
	require.Empty(t, page.Items)
}

func TestOtherNamesOfThingsAreUnderstood(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	h.make(oidc.Requester, "shop")
	var jobs v1.JobPage
	h.get("/api/v1/jobs?type=CREATE_CLUSTER&status=pending", &jobs)
	require.Len(t, jobs.Items, 1)
	for _, kind := range []string{"DESTROY_CLUSTER", "ACCESS", "SLEEP", "WAKE", "OBSERVE", "TAG", "INFORM", "PREPARE", "OFFHOURS_SCALE_DOWN", "OFFHOURS_SCALE_UP"} {
		h.get("/api/v1/jobs?type="+kind, &jobs)
		require.Empty(t, jobs.Items, kind)
	}
	var v v1.Verdict
	h.does(http.MethodPost, "/api/v1/dry-run", h.as(sam), v1.CreateRequest{Name: "x", Profile: "ibmcloud-minimal-test"}, http.StatusOK, &v)
	require.Contains(t, v.Message, "ibm-minimal-test")
	var page v1.ClusterPage
	h.get("/api/v1/clusters?platform=ibm", &page)
	require.Empty(t, page.Items)
}
