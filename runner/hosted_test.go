package runner_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/hub"
	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/inventory"
	hubkinds "github.com/ocpctl/ocpctl/runner/cloud/kubernetes/kinds"
	"github.com/ocpctl/ocpctl/runner/provision/hypershift"
)

const hostedOrdered = "nodes: [{name: workers, replicas: 2, cores: 4, memory: 16Gi, rootVolume: 32Gi}]\netcd: 8Gi\n"

// toHosted makes an attempt at a namespace one at a hosted cluster.
func (w *hubWorld) toHosted() *hubWorld {
	w.spec.Provisioner, w.spec.InstallConfig, w.spec.Version, w.spec.BaseDomain, w.spec.Server = kinds.HyperShift, hostedOrdered, "4.20.3", "apps.hub.example.com", ""
	w.cfg.Timings.Reach, w.cfg.Timings.ScalePoll = 300*time.Millisecond, time.Millisecond
	w.cfg.Provisioners[kinds.HyperShift] = openHosted
	return w
}

func openHosted(region string, keys cloud.Keys) (runner.Provisioner, error) {
	opened, err := kubernetes.New(region, keys)
	if err != nil {
		return nil, err
	}
	p := hypershift.New(opened)
	p.Settling = 50 * time.Millisecond
	return p, nil
}

// destroyHosted tears the cluster of an attempt down, and leaves the hub as it was.
func (w *hubWorld) destroyHosted(before []string) *hubWorld {
	gone := w.after(w.t, contract.KindDestroy).toHosted()
	gone.cfg.Timings.UncleanPasses, gone.spec.VerifyGap = 50, 10*time.Millisecond
	require.NoError(w.t, gone.run(w.t.Context()))
	require.Equal(w.t, "succeeded", gone.result().Outcome, gone.result().Message)
	require.Equal(w.t, before, w.hub.Left(""))
	return gone
}

func TestAHostedClusterLivesFromItsRecordToItsProof(t *testing.T) {
	h := newHub(t)
	before := h.Left("")
	w := onHub(t, h, contract.KindCreate).toHosted()
	w.access = func(int) contract.AccessWork { return contract.AccessWork{Give: []contract.Access{willView}} }
	w.hear = func(what string, _ int, _ []byte) {
		if what == "record" {
			require.Equal(t, before, h.Left(""), "nothing is made before the record")
		}
	}
	require.NoError(t, w.run(t.Context()))
	result := w.result()
	require.Equal(t, "succeeded", result.Outcome, result.Message)
	require.Equal(t, []string{"preflight", "rendering", "recording", "installing", "configuring"}, w.phases())
	require.Regexp(t, `^https://lb-[0-9a-f]{8}\.hub\.example\.com:6443$`, result.Outputs.APIURL)
	require.Equal(t, "https://console-openshift-console.apps.shop.apps.hub.example.com", result.Outputs.ConsoleURL)
	require.Contains(t, w.logText(), "etcd starts: EtcdAvailable is Unknown")
	name := w.recordedName()
	require.Len(t, h.Left("/namespaces/"+name+"-shop/virtualmachines/"), 2)
	kubeconfig := artifacts.CredentialRef(w.spec.Bucket, "clu_1", w.spec.Number, result.Outputs.StoredAt, artifacts.Kubeconfig)
	raw, err := storeOf(t, w.world).Read(t.Context(), kubeconfig)
	require.NoError(t, err)
	require.Contains(t, string(raw), "client-certificate-data:")
	require.NotContains(t, string(raw), "preferences", "only what opens the cluster")
	password, err := storeOf(t, w.world).Read(t.Context(), artifacts.CredentialRef(w.spec.Bucket, "clu_1", w.spec.Number, result.Outputs.StoredAt, artifacts.Kubeadmin))
	require.NoError(t, err)
	require.NotEmpty(t, password)
	require.NotContains(t, w.logText()+w.log.String(), string(password), "no password is in a log")
	metadata, err := storeOf(t, w.world).Read(t.Context(), artifacts.MetadataRef(w.spec.Bucket, "clu_1", w.spec.Number, result.Outputs.StoredAt))
	require.NoError(t, err)
	address, err := artifacts.APIURLIn(metadata)
	require.NoError(t, err)
	require.Equal(t, result.Outputs.APIURL, address, "a recovery finds it there")
	require.NotZero(t, w.accessStates()[willView.ID].StoredAt, "its account is in the cluster itself")
	require.Empty(t, h.Left(willView.Account), "and not on the hub")

	more := w.after(t, contract.KindAccess).toHosted()
	more.spec.KubeconfigRef = kubeconfig
	more.access = func(int) contract.AccessWork { return contract.AccessWork{Give: []contract.Access{mayaAdmin}} }
	require.NoError(t, more.run(t.Context()))
	require.Equal(t, "succeeded", more.result().Outcome, more.result().Message)
	require.Equal(t, []string{"restoring", "accessing"}, more.phases())
	scaled := w.after(t, contract.KindScale).toHosted()
	require.NoError(t, scaled.run(t.Context()))
	require.Equal(t, "NotOfKind", scaled.result().Reason)

	for _, turn := range []struct {
		kind  string
		nodes int
	}{{contract.KindSleep, 0}, {contract.KindSleep, 0}, {contract.KindWake, 2}} {
		turned := w.after(t, turn.kind).toHosted()
		turned.spec.Power, turned.spec.Scale = &contract.Power{Mode: contract.PowerWorkers, KubeconfigRef: kubeconfig}, &contract.Scale{KubeconfigRef: kubeconfig}
		turned.file("operators", operators("True", "False", "False"))
		turned.spec.VerifyGap = time.Millisecond
		require.NoError(t, turned.run(t.Context()))
		require.Equal(t, "succeeded", turned.result().Outcome, turned.result().Message)
		require.Equal(t, turn.kind == contract.KindSleep, *turned.result().Asleep)
		require.Len(t, h.Left("/namespaces/"+name+"-shop/virtualmachines/"), turn.nodes, "it may be repeated")
	}

	gone := w.destroyHosted(before)
	passes := gone.allPasses()
	last := passes[len(passes)-1]
	require.Equal(t, []string{name}, last.Identities)
	asked := map[string]bool{}
	for _, q := range last.Queries {
		asked[q.Call+" "+q.Asked] = true
	}
	for _, call := range []string{
		"get namespaces " + name, "get namespaces " + name + "-shop", "list hostedclusters " + name, "list nodepools " + name, "list virtualmachines " + name + "-shop",
		"list services " + name + "-shop", "list persistentvolumes " + name + "," + name + "-shop",
	} {
		require.True(t, asked[call], call)
	}
}

// A machine that drains costs as one that runs: the cluster is not asleep before it is gone.
func TestAHostedClusterWhoseMachinesDoNotEndIsNotAsleep(t *testing.T) {
	h := newHub(t)
	w := onHub(t, h, contract.KindCreate).toHosted()
	require.NoError(t, w.run(t.Context()))
	machines := h.Left("/namespaces/" + w.recordedName() + "-shop/virtualmachines/")
	require.NoError(t, h.Hold(machines[0], "example.com/drain"))
	kubeconfig := artifacts.CredentialRef(w.spec.Bucket, "clu_1", w.spec.Number, w.result().Outputs.StoredAt, artifacts.Kubeconfig)
	slept := w.after(t, contract.KindSleep).toHosted()
	slept.spec.Power, slept.spec.Scale = &contract.Power{Mode: contract.PowerWorkers, KubeconfigRef: kubeconfig}, &contract.Scale{KubeconfigRef: kubeconfig}
	slept.cfg.Timings.Power = 300 * time.Millisecond
	require.NoError(t, slept.run(t.Context()))
	require.Equal(t, []string{"failed", "HostedLate", "1 virtual machines have not ended"}, []string{slept.result().Outcome, slept.result().Reason, slept.result().Message})
	require.Equal(t, machines[:1], h.Left("/namespaces/"+w.recordedName()+"-shop/virtualmachines/"))
}

// A runner that dies after any change of the hub leaves nothing that the teardown by the record does not find.
func TestAHostedClusterWhoseRunnerDiesAtAnyChangeIsRemovedByItsRecord(t *testing.T) {
	h := newHub(t)
	before := h.Left("")
	for strike := 1; ; strike++ {
		w := onHub(t, h, contract.KindCreate).toHosted()
		seen := w.runUntil(strike)
		if len(w.records) == 0 {
			require.Equal(t, before, h.Left(""), "strike %d came before the record", strike)
			continue
		}
		w.destroyHosted(before)
		if seen < strike {
			require.Greater(t, strike, 7, "every object was struck")
			return
		}
	}
}

func TestWhatKeepsAHostedClusterFromBecomingReadyIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		arrange      func(*hubWorld)
		reason, says string
		whose        string
		nothing      bool // is made
	}{
		"a version outside the window": {func(w *hubWorld) { w.spec.Version = "4.17.1" }, "VersionUnsupported", "no OpenShift 4.17.1, but 4.21, 4.20, 4.19, 4.18", contract.WhoseUser, true},
		"another domain":               {func(w *hubWorld) { w.spec.BaseDomain = "apps.lab.example.com" }, "BaseDomainForeign", "the base domain is apps.lab.example.com, but apps on the hub are below apps.hub.example.com", contract.WhoseOurs, true},
		"no usable document":           {func(w *hubWorld) { w.spec.InstallConfig = "nodes: []" }, "ProfileUnusable", "", contract.WhoseOurs, true},
		"no version":                   {func(w *hubWorld) { w.spec.Version = "hub" }, "UnknownVersion", "", contract.WhoseOurs, true},
		"a release that is refused":    {func(w *hubWorld) { w.hub.Break("ValidReleaseImage", "no such image") }, "HostedRefused", "ValidReleaseImage is False, Fault, no such image", contract.WhoseOurs, false},
		"a hub without room":           {func(w *hubWorld) { w.hub.Break("InfrastructureReady", "no address") }, "HostedNoRoom", "no address", contract.WhoseQuota, false},
		"nodes that never start":       {func(w *hubWorld) { w.hub.Break(hub.FaultNodes, "0/3 nodes are available") }, "HostedNoRoom", "-workers: AllMachinesReady is False, MachinesNotReady, 0/3 nodes are available", contract.WhoseQuota, false},
		"a degraded control plane":     {func(w *hubWorld) { w.hub.Break("Degraded", "a pod crashes") }, "HostedLate", "a pod crashes", contract.WhoseCloud, false},
		"a secret that is missing":     {func(w *hubWorld) { w.hub.Break(hub.FaultSecret, "never") }, "HostedLate", "shop-admin-kubeconfig", contract.WhoseCloud, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			before := h.Left("")
			w := onHub(t, h, contract.KindCreate).toHosted()
			w.spec.CreateDeadline = 600 * time.Millisecond
			c.arrange(w)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, []string{c.reason, c.whose}, []string{w.result().Reason, w.result().Whose}, w.result().Message)
			require.Contains(t, w.result().Message, c.says)
			require.NotEmpty(t, w.result().Next)
			require.Equal(t, c.nothing, len(w.records) == 0)
			if !c.nothing {
				w.destroyHosted(before)
			}
			require.Equal(t, before, h.Left(""))
		})
	}
}

func TestAHubWithoutHyperShiftMakesNoHostedCluster(t *testing.T) {
	h, err := hub.Start(t.Context(), hub.Config{Addr: "127.0.0.1:0", Plain: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Stop()) })
	w := onHub(t, h, contract.KindCreate).toHosted()
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "HyperShiftMissing", w.result().Reason, w.result().Message)
	require.Empty(t, w.records)
}

func TestAHubThatIsAwayForAWhileDelaysAHostedCluster(t *testing.T) {
	h := newHub(t)
	leaves := func(d time.Duration) {
		h.Strike(func(_, path string) {
			if strings.Contains(path, "/nodepools/") {
				h.Away(d)
			}
		})
	}
	leaves(2 * time.Second)
	w := onHub(t, h, contract.KindCreate).toHosted()
	w.cfg.Timings.Reach = time.Minute
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)

	leaves(time.Minute)
	late := onHub(t, h, contract.KindCreate).toHosted()
	late.spec.Bucket = s3test.Bucket(t)
	require.NoError(t, late.run(t.Context()))
	require.Equal(t, "HubRefused", late.result().Reason, late.result().Message)
	require.True(t, late.result().Retryable)
}

func TestWhatHoldsAHostedClusterIsNamedAndNeverForced(t *testing.T) {
	h := newHub(t)
	before := h.Left("")
	w := onHub(t, h, contract.KindCreate).toHosted()
	require.NoError(t, w.run(t.Context()))
	name := w.recordedName()
	cluster := fmt.Sprintf("/apis/hypershift.openshift.io/v1beta1/namespaces/%s/hostedclusters/shop", name)
	require.NoError(t, h.Hold(cluster, "example.com/backup"))
	gone := w.after(t, contract.KindDestroy).toHosted()
	gone.spec.VerifyGap, gone.spec.DestroyDeadline = 10*time.Millisecond, 300*time.Millisecond
	require.NoError(t, gone.run(t.Context()))
	require.Equal(t, "LeftoversFound", gone.result().Reason)
	passes := gone.allPasses()
	left := map[string]string{}
	for _, l := range passes[len(passes)-1].Leftovers {
		left[l.Type+" "+l.ID] = l.Remark
	}
	require.Equal(t, map[string]string{"namespace " + name: "", "hosted-cluster " + name + "/shop": "its deletion waits for: example.com/backup"}, left, "the namespace is not deleted before")
	require.Contains(t, gone.logText(), "removes hostedclusters "+name+"/shop: its deletion waits for: example.com/backup")
	require.NoError(t, h.Free(cluster))
	w.destroyHosted(before)
}

// A scan finds what belongs to a hosted cluster, also in the namespace of its control plane, which has none of ocpctl's labels.
func TestAScanSeesWhatBelongsToAHostedCluster(t *testing.T) {
	h := newHub(t)
	w := onHub(t, h, contract.KindCreate).toHosted()
	require.NoError(t, w.run(t.Context()))
	var keys struct{ Server, Token, CA string }
	require.NoError(t, json.Unmarshal([]byte(h.Credentials()), &keys))
	seeing, err := inventory.New("lab", cloud.Keys{ID: keys.Server, Secret: secret.New(keys.Token), CA: keys.CA})
	require.NoError(t, err)
	seen := map[string]int{}
	for _, part := range seeing.Parts(nil) {
		require.NoError(t, seeing.List(t.Context(), part, func(all []contract.SeenResource) error {
			for _, one := range all {
				require.Equal(t, w.recordedName(), one.Name, one.ID)
				if one.Type != "namespace" {
					require.Equal(t, "namespace/"+w.recordedName(), one.Within, one.ID)
				}
				seen[one.Type]++
			}
			return nil
		}))
	}
	require.Equal(t, map[string]int{"namespace": 1, "persistent-volume": 1, "load-balancer": 1, "hosted-cluster": 1, "node-pool": 1, "virtual-machine": 2}, seen)
}

func TestANamespaceOfAControlPlaneIsItsClusters(t *testing.T) {
	for namespace, owner := range map[string]string{
		"shop-x7k2p-shop": "shop-x7k2p", "pr41-shop-x7k2p-pr41-shop": "pr41-shop-x7k2p", "shop-x7k2p": "shop-x7k2p", "shop-x7k2p-cart": "shop-x7k2p-cart", "a": "a",
		"pr-41-x7k2p-pr--41": "pr-41-x7k2p", "a-name-that-is-longer-x7k2p-a-name-that-is-longer-than-its-part": "a-name-that-is-longer-x7k2p", "-": "-",
	} {
		require.Equal(t, owner, hubkinds.OwnerOf(namespace), namespace)
	}
	require.Equal(t, "shop-x7k2p", hubkinds.OwnerOf(hubkinds.ControlPlane("shop-x7k2p", "shop")))
}
