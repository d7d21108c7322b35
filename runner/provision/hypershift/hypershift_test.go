package hypershift

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes"
	"github.com/ocpctl/ocpctl/runner/provision"
)

func TestARegistryThatGivesNoAnswerForAMinuteIsNoRefusal(t *testing.T) {
	p := New(nil)
	since := func(kind string, ago time.Duration) conditions {
		return conditions{{Type: kind, Status: "False", LastTransitionTime: time.Now().Add(-ago)}}
	}
	require.Empty(t, p.findRefusal(since("ValidReleaseImage", 2*time.Minute), nil))
	require.Equal(t, "ValidReleaseImage", p.findRefusal(since("ValidReleaseImage", 6*time.Minute), nil).Type)
	require.Equal(t, "ValidConfiguration", p.findRefusal(since("ValidConfiguration", 2*time.Minute), nil).Type)
}

func TestTheKeyOfEtcdWaitsForItsRight(t *testing.T) {
	asked := 0
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			w.WriteHeader(http.StatusForbidden)
		}
		_ = json.NewEncoder(w).Encode(object{"kind": "Status", "code": http.StatusForbidden, "reason": "Forbidden"})
	}))
	defer api.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw})
	opened, err := kubernetes.New("lab", cloud.Keys{ID: api.URL, Secret: secret.New("token"), CA: string(ca)})
	require.NoError(t, err)
	require.NoError(t, New(opened).makeEtcdKey(t.Context(), "shop-abcde"))
	require.Equal(t, 2, asked)
}

func TestNodesThatCannotBeDrainedEnd(t *testing.T) {
	all, err := manifests(provision.Order{Name: "shop", InfraID: "shop-abcde", Text: "nodes: [{name: workers, replicas: 2}]"})
	require.NoError(t, err)
	spec := all[len(all)-1].Object["spec"].(object)
	require.Equal(t, []any{"5m", "5m"}, []any{spec["nodeDrainTimeout"], spec["nodeVolumeDetachTimeout"]})
}
