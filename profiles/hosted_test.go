package profiles

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/kinds"
)

const aHostedCluster = `name: small
displayName: Small
description: Ready in minutes.
platform: kubernetes
provisioner: hypershift
enabled: true
regions:
  default: lab
  allow:
    - {name: lab, hourlyCents: 35}
versions: {allow: ["4.20.3"], default: "4.20.3"}
baseDomains: {allow: [apps.hub.example.com], default: apps.hub.example.com}
hypershift:
  nodes:
    - {name: workers, replicas: 2, cores: 4, memory: 16Gi}
    - {name: big, replicas: 1, cores: 16, memory: 64Gi, rootVolume: 120Gi, storageClass: fast}
ttl: {defaultHours: 24, maxHours: 72}
grace: 15m
attempts: 2
deadlines: {create: 45m, destroy: 1h}
tags: {allowUser: true}
pricesAsOf: "2025-09-05"
`

func TestAHostedProfileIsFrozenAsItsOwnDocument(t *testing.T) {
	c, err := withHub(t, aHostedCluster, aHub)
	require.NoError(t, err)
	p, _ := c.Get("small")
	require.Equal(t, kinds.HostedOrder{Etcd: "8Gi", Nodes: []kinds.NodeSet{
		{Name: "workers", Replicas: 2, Cores: 4, Memory: "16Gi", RootVolume: "32Gi"},
		{Name: "big", Replicas: 1, Cores: 16, Memory: "64Gi", RootVolume: "120Gi", StorageClass: "fast"},
	}}, p.Hosted)
	require.Equal(t, []any{kinds.HyperShift, SleepNever, 3, 35}, []any{p.Provisioner, p.Sleep, p.Nodes(), p.Regions[0].HourlyCents})
	require.Equal(t, "a control plane on a shared cluster, and nodes: 2 × 4 CPU and 16Gi of memory, 1 × 16 CPU and 64Gi of memory", p.Share())
	raw, err := p.InstallConfig(InstallInput{Name: "pr41-shop", BaseDomain: "apps.hub.example.com", Region: "lab", Version: "4.20.3"})
	require.NoError(t, err)
	require.YAMLEq(t, `{etcd: 8Gi, nodes: [{name: workers, replicas: 2, cores: 4, memory: 16Gi, rootVolume: 32Gi}, {name: big, replicas: 1, cores: 16, memory: 64Gi, rootVolume: 120Gi, storageClass: fast}]}`, string(raw))
	_, err = p.InstallConfig(InstallInput{Name: "pr41-shop", BaseDomain: "apps.hub.example.com", Region: "lab", Version: "4.19.1"})
	require.ErrorContains(t, err, `version "4.19.1"; accepted: 4.20.3`)
	sleepy, err := withHub(t, strings.NewReplacer("hourlyCents: 35", "hourlyCents: 35, asleepCents: 9", "grace:", "sleep: {mode: workers}\ngrace:").Replace(aHostedCluster), aHub)
	require.NoError(t, err)
	p, _ = sleepy.Get("small")
	require.Equal(t, []any{SleepWorkers, 9}, []any{p.Sleep, *p.Regions[0].AsleepCents})
	usual, _ := c.Default()
	require.Equal(t, "aws-minimal-test", usual.Name)
}

func TestABrokenHostedProfileSaysWhatIsAccepted(t *testing.T) {
	for name, of := range map[string]struct{ from, to, says string }{
		"machines":             {"grace:", "workers: {replicas: 3, instanceType: m6i.large}\ngrace:", `workers: not supported by provisioner hypershift: its control plane is hosted on a hub, and no installer made it; accepted: none; its fields are name, `},
		"a namespace's quota":  {"grace:", "namespace: {network: open}\ngrace:", `namespace: not supported; accepted: `},
		"no versions":          {"versions: {allow: [\"4.20.3\"], default: \"4.20.3\"}\n", "", "versions: missing"},
		"no domain":            {"baseDomains: {allow: [apps.hub.example.com], default: apps.hub.example.com}\n", "", "baseDomains: missing"},
		"another platform":     {"  nodes:", "  platform: Agent\n  nodes:", `hypershift.platform: "Agent"; accepted: one of KubeVirt`},
		"no nodes":             {"replicas: 2", "replicas: 0", `hypershift.nodes[0].replicas: 0; accepted: a whole number from 1 to 20`},
		"too many nodes":       {"replicas: 2", "replicas: 20", `hypershift.nodes: 2 sets with 21 nodes; accepted: at most 5 sets with 20 nodes together`},
		"a name twice":         {"name: big", "name: workers", `hypershift.nodes[1].name: workers again; accepted: each name once`},
		"a name for no object": {"name: big", "name: Big", `hypershift.nodes[1].name: "Big"; accepted: lowercase letters`},
		"too few cores":        {"cores: 4", "cores: 1", `hypershift.nodes[0].cores: 1; accepted: a whole number from 2 to 64`},
		"bytes without a unit": {"memory: 16Gi", `memory: "16"`, `hypershift.nodes[0].memory: "16"; accepted: bytes such as 8Gi`},
		"a storage class":      {"storageClass: fast", "storageClass: Fast!", `hypershift.nodes[1].storageClass: "Fast!"; accepted: the name of a storage class of the hub`},
		"an unknown field":     {"cores: 4", "cores: 4, gpus: 1", `hypershift.nodes[0].gpus: not supported`},
		"a sleep of machines":  {"grace:", "sleep: {mode: stopped}\ngrace:", `sleep.mode: "stopped"; accepted: one of workers, never`},
		"a sleep for nothing":  {"grace:", "sleep: {mode: workers}\ngrace:", `regions.allow[0].asleepCents: missing; accepted: cents an hour of its control plane, or sleep.mode: never`},
		"no kind":              {"provisioner: hypershift\n", "", `provisioner: missing; accepted: one of openshift, hypershift, namespace`},
		"a cloud":              {"platform: kubernetes", "platform: aws", `provisioner: hypershift on aws; accepted: openshift`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := withHub(t, strings.Replace(aHostedCluster, of.from, of.to, 1), aHub)
			require.ErrorContains(t, err, of.says)
		})
	}
}
