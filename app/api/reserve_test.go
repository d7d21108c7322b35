package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// reserve asks for n of five elastic IPs.
func (r *runner) reserve(n int) (out contract.Reservation) {
	r.Helper()
	answer, raw := r.ask(http.MethodPost, statusPath+"attempts/"+r.id+"/reserve", r.bearer, contract.Demand{
		Account: "123456789012", Region: "us-east-1",
		Quotas: []contract.Quota{{Service: "ec2", Code: "L-0263D0A3", Name: "Elastic IP addresses", Limit: 5, Need: n, Lasting: n}},
	})
	require.Equal(r, http.StatusOK, answer.StatusCode, "%s", raw)
	require.NoError(r, json.Unmarshal(raw, &out))
	return out
}

func TestCapacityIsReservedOrWaitedForOrNeverThere(t *testing.T) {
	h, _, first := started(t)
	cluster := h.accept("other", "platform").ID
	h.step(cluster)
	open, bearer := h.attempt(cluster)
	second := &runner{h, open.Attempt, bearer}
	first.say("claim", contract.Claim{Pod: "pod-1"})
	second.say("claim", contract.Claim{Pod: "pod-2"})

	said := first.reserve(3)
	require.Equal(t, contract.Reservation{Answer: said.Answer}, said)
	require.NotEmpty(t, said.Answer.Token)
	require.NotZero(t, said.Answer.Lease)
	require.Equal(t, "Elastic IP addresses: 6 needed, but the limit is 5", second.reserve(6).Never)
	said = second.reserve(3)
	require.Equal(t, "Elastic IP addresses: 3 needed, 3 of 5 are in use or reserved", said.Wait)
	require.Equal(t, 1, said.Position)
	_, status := second.say("result", contract.Result{Outcome: "waiting", Reason: "QuotaInUse", Message: said.Wait, Whose: "quota"})
	require.Equal(t, http.StatusOK, status)
	h.step(cluster)
	var c v1.ClusterDetail
	h.get("/api/v1/clusters/"+cluster, &c)
	require.Equal(t, []any{v1.Status("PENDING"), "awaiting_capacity", 1, "quota"}, []any{c.Status, c.Phase, c.Position, c.FailWhose})
	require.Contains(t, c.Why, "waiting for capacity in the cloud account: Elastic IP addresses")
	require.False(t, c.WaitsSince.IsZero())
	_, body := h.ask(http.MethodGet, "/metrics", "", nil)
	require.Contains(t, string(body), `ocpctl_reservations{state="waiting"} 1`)
}

func TestADocumentThatIsNotWholeNamesItsFields(t *testing.T) {
	h, _, r := started(t)
	r.say("claim", contract.Claim{Pod: "pod-1"})
	path := statusPath + "attempts/" + r.id
	p := h.refused(http.MethodPost, path+"/reserve", r.bearer, contract.Demand{Account: "1", Quotas: []contract.Quota{{Service: "ec2", Need: -1}}}, http.StatusBadRequest)
	require.Equal(t, "region", p.Errors[0].Field)
	require.Contains(t, p.Detail, "quotas[0].need", "a runner keeps the words alone")

	bare := r.record()
	bare.Snapshots, bare.Identity.ReleaseDigest = nil, ""
	p = h.refused(http.MethodPost, path+"/record", r.bearer, bare, http.StatusBadRequest)
	require.Equal(t, []string{"identity.releaseDigest", "snapshots"}, []string{p.Errors[0].Field, p.Errors[1].Field})

	moved := r.record()
	moved.Identity.Account = "999999999999"
	p = h.refused(http.MethodPost, path+"/record", r.bearer, moved, http.StatusConflict)
	require.Contains(t, p.Detail, `account is "999999999999", and what is known is "123456789012"`)
	p = h.refused(http.MethodPost, path+"/result", r.bearer, contract.Result{Outcome: "failed", Whose: "somebody"}, http.StatusBadRequest)
	require.Equal(t, "whose", p.Errors[0].Field)
	require.Contains(t, p.Errors[0].Accepted, "ocpctl")
}
