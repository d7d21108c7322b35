package runner_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// address is one quota as preflight measures it.
func address(limit, used, need int) contract.Quota {
	return contract.Quota{Service: "ec2", Code: "L-0263D0A3", Name: "Elastic IP addresses", Limit: limit, Used: used, Need: need, Lasting: need}
}

// measured makes preflight measure these.
func (w *world) measured(quotas ...contract.Quota) {
	w.quotas = func(cloud.Plan) ([]contract.Quota, error) { return quotas, nil }
}

func TestCapacityIsReservedBeforeAnythingIsMade(t *testing.T) {
	w := manual(t, contract.KindCreate)
	var planned cloud.Plan
	w.quotas = func(plan cloud.Plan) ([]contract.Quota, error) {
		planned = plan
		return []contract.Quota{address(5, 2, 1)}, nil
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	require.Equal(t, cloud.Plan{Zones: []string{"us-east-1a"}, Machines: []cloud.Machines{{Type: "m6i.xlarge", Lasting: 3, Transient: 1}}}, planned)
	require.Equal(t, []contract.Demand{{Account: account, Region: "us-east-1", Quotas: []contract.Quota{address(5, 2, 1)}}}, w.demands)
	require.Equal(t, []string{"server: claim answered", "cloud: account asked", "server: reserve answered", "installer: oc credentials-requests", "server: record answered"},
		w.happened()[:5])
}

func TestWithoutCapacityTheAttemptWaits(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.measured(address(5, 5, 1))
	w.reserve = func(int) contract.Reservation {
		return contract.Reservation{Wait: "Elastic IP addresses are in use (5 of 5)", Position: 3}
	}
	w.without("openshift-install")
	w.spec.ReleaseImage = pinned
	require.NoError(t, w.run(t.Context()))
	result := w.result()
	require.Equal(t, "waiting", result.Outcome)
	require.Equal(t, "QuotaInUse", result.Reason)
	require.Equal(t, "Elastic IP addresses are in use (5 of 5)", result.Message)
	require.Equal(t, contract.WhoseQuota, result.Whose)
	require.NotEmpty(t, result.Next)
	require.Empty(t, w.records)
	require.False(t, w.did("installer:"), "nothing is extracted as long as it waits")
}

func TestWhatWouldNeverFitIsRefused(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.measured(address(2, 0, 3))
	w.reserve = func(int) contract.Reservation {
		return contract.Reservation{Never: "it needs 3 Elastic IP addresses, the account may have 2"}
	}
	require.NoError(t, w.run(t.Context()))
	result := w.result()
	require.Equal(t, "failed", result.Outcome)
	require.Equal(t, "QuotaTooSmall", result.Reason)
	require.Equal(t, contract.WhoseQuota, result.Whose)
	require.False(t, result.Retryable)
	require.Contains(t, result.Next, "L-0263D0A3")
	require.Contains(t, result.Next, account)
	require.False(t, w.did("installer:"))
}

func TestWithoutTheServersAnswerThereIsNoCapacity(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.measured(address(5, 0, 1))
	w.reply = func(what string, n int) int {
		if what == "reserve" && n <= 3 {
			return http.StatusBadGateway
		}
		return 0
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	require.Equal(t, 4, w.calls["reserve"])

	refused := newWorld(t, contract.KindCreate)
	refused.measured(address(5, 0, 1))
	refused.reply = func(what string, _ int) int {
		if what == "reserve" {
			return http.StatusUnprocessableEntity
		}
		return 0
	}
	require.NoError(t, refused.run(t.Context()))
	require.Equal(t, "ReserveRefused", refused.result().Reason)
	require.False(t, refused.did("installer:"))

	stopped := newWorld(t, contract.KindCreate)
	stopped.measured(address(5, 0, 1))
	stopped.hear = func(what string, _ int, _ []byte) {
		if what == "reserve" {
			stopped.mu.Lock()
			stopped.stop = "the pull request was closed"
			stopped.mu.Unlock()
		}
	}
	require.NoError(t, stopped.run(t.Context()))
	require.Equal(t, "StopAsked", stopped.result().Reason)
	require.False(t, stopped.did("installer:"))
}

func TestAQuotaThatCannotBeLookedUpBlocksNothing(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.quotas = func(cloud.Plan) ([]contract.Quota, error) { return nil, errors.New("servicequotas is away") }
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	require.Contains(t, w.logText(), "servicequotas is away")
	require.Empty(t, w.demands)

	unknown := newWorld(t, contract.KindCreate)
	unknown.measured(contract.Quota{Service: "vpc", Code: "L-F678F1CE", Name: "VPCs", Need: 1, Unknown: "AccessDenied"})
	require.NoError(t, unknown.run(t.Context()))
	require.Equal(t, "succeeded", unknown.result().Outcome)
	require.Contains(t, unknown.logText(), "quota VPCs (L-F678F1CE) could not be looked up: AccessDenied")
	require.Len(t, unknown.demands, 1, "its need still counts for others")
}
