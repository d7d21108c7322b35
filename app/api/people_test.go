package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/policy/catalogue"
)

// The people of the tests beside the demo's Maya (a requester of platform), its admin and its auditor.
var (
	will = oidc.Claims{Subject: "will", Name: "Will", Groups: []string{"security"}, Role: "requester"}
	sam  = oidc.Claims{Subject: "sam", Name: "Sam", Groups: []string{"team-a"}, Role: "requester"}
	toni = oidc.Claims{Subject: "toni", Name: "Toni"} // has no role
	boss = oidc.Claims{Subject: "boss", Name: "Boss", Role: "platform_admin"}
	both = oidc.Claims{Subject: "both", Name: "Both", Groups: []string{"platform", "security"}, Role: "requester"}
)

// id is the principal's.
func (h *fixture) id(c oidc.Claims) string { return "oidc:" + h.issuerOf(c).URL() + "#" + c.Subject }

// teams is the program's own catalogue with teams, and with what has to be approved.
func teams(t testing.TB) catalogue.Catalogue {
	t.Helper()
	return servicetest.Catalogue(t, map[string]string{
		"teams/platform.yaml": "name: platform\nowner: maya\ncostCenters: [sandbox, ci]\nenvironments: [test, staging]\nbudget: {monthlyDollars: 100000, warnPercent: 90}\n",
		"teams/security.yaml": "name: security\nowner: will\ncostCenters: [sandbox]\nenvironments: [test]\n",
		"teams/team-a.yaml":   "name: team-a\nowner: team-a\ncostCenters: [sandbox]\nenvironments: [test]\n",
		"policies/big.yaml": "name: big\nrules:\n" +
			"  - {name: one, when: \"request.name.startsWith('big')\", effect: requireApproval, message: Big ones need a word.}\n" +
			"  - {name: two, when: \"request.name.startsWith('huge')\", effect: requireApproval, message: Huge ones need two., approval: {count: 2, by: requester, for: 4h}}\n",
	})
}

// make asks for a cluster and returns what was answered.
func (h *fixture) make(who oidc.Claims, name string) (made v1.Accepted) {
	h.Helper()
	h.does(http.MethodPost, "/api/v1/clusters", h.as(who), v1.CreateRequest{Name: name, CostCenter: "sandbox", Environment: "test"},
		http.StatusAccepted, &made, idempotencyKey, "make-"+name)
	return made
}

// ready brings a cluster through its install, with credentials to hand out.
func (h *fixture) ready(cluster string) {
	h.Helper()
	h.step(cluster)
	open, bearer := h.attempt(cluster)
	r := &runner{h, open.Attempt, bearer}
	r.say("claim", contract.Claim{Pod: "pod-1"})
	_, status := r.say("record", r.record())
	require.Equal(h, http.StatusOK, status)
	_, status = r.say("report", contract.Report{Seq: 1, Phase: "installing", Log: "level=info msg=Creating\nlevel=info msg=Waiting\n"})
	require.Equal(h, http.StatusOK, status)
	r.mints(2)
	r.succeeds()
	h.shelf[servicetest.CredentialRef(cluster, artifacts.Kubeconfig)] = servicetest.Kubeconfig(r.scope().APIURL())
	h.shelf[servicetest.CredentialRef(cluster, artifacts.Kubeadmin)] = "ADMIN-PASSWORD\n"
	h.step(cluster)
}

// kubeconfig is what somebody gets who has to wait for it, as a runner makes it meanwhile.
func (h *fixture) kubeconfig(cluster string, who oidc.Claims) string {
	h.Helper()
	path := "/api/v1/clusters/" + cluster + "/kubeconfig"
	var asked v1.Access
	h.does(http.MethodGet, path, h.as(who), nil, http.StatusAccepted, &asked)
	require.Equal(h, []any{h.id(who), v1.AccessState("asked"), true}, []any{asked.Reader, asked.State, asked.Mine})
	servicetest.Mint(h, h.store, h.shelf)
	answer, raw := h.ask(http.MethodGet, path, h.as(who), nil)
	require.Equal(h, http.StatusOK, answer.StatusCode, "%s", raw)
	require.Equal(h, asked.AccessID, answer.Header.Get("Ocpctl-Access-Id"))
	return string(raw)
}

// jwtTime is a time as a token has it.
func jwtTime(t time.Time) *jwt.NumericDate { return jwt.NewNumericDate(t) }
