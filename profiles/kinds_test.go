package profiles

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/kinds"
)

const aNamespace = `name: small
displayName: Small
description: Ready in seconds.
platform: kubernetes
provisioner: namespace
enabled: true
regions:
  default: lab
  allow:
    - {name: lab, hourlyCents: 3}
namespace:
  quota: {cpu: "4", memory: 8Gi, storage: 20Gi, pods: 20}
  limits: {cpu: 250m, memory: 256Mi}
  pullSecret: true
ttl: {defaultHours: 24, maxHours: 72}
grace: 15m
attempts: 2
deadlines: {create: 10m, destroy: 30m}
tags: {allowUser: true}
pricesAsOf: "2025-09-05"
`

const aHub = `name: lab
platform: kubernetes
number: "0a1b2c3d-0000-4000-8000-000000000001"
server: https://api.hub.example.com:6443
credentials: {ref: "file:/run/secrets/hub"}
`

func withHub(t *testing.T, profile, hub string) (Catalogue, error) {
	t.Helper()
	return Load(fstest.MapFS{
		"profiles/aws-minimal-test.yaml": {Data: []byte(good(t))},
		"profiles/small.yaml":            {Data: []byte(profile)}, "accounts/lab.yaml": {Data: []byte(hub)},
	})
}

func TestANamespaceProfileIsFrozenAsItsOwnDocument(t *testing.T) {
	c, err := withHub(t, aNamespace, aHub)
	require.NoError(t, err)
	p, _ := c.Get("small")
	require.Equal(t, kinds.NamespaceOrder{
		Quota: kinds.Quota{CPU: "4", Memory: "8Gi", Storage: "20Gi", Pods: 20}, Limits: kinds.Limits{CPU: "250m", Memory: "256Mi"}, Isolated: true, Pull: true,
	}, p.Namespace)
	require.Equal(t, []any{kinds.Namespace, SleepNever, 0}, []any{p.Provisioner, p.Sleep, p.Nodes()})
	raw, err := p.InstallConfig(InstallInput{Name: "pr41-shop", BaseDomain: HubDomain, Region: "lab", Version: OnHub})
	require.NoError(t, err)
	require.YAMLEq(t, `{quota: {cpu: "4", memory: 8Gi, storage: 20Gi, pods: 20}, limits: {cpu: 250m, memory: 256Mi}, isolated: true, pull: true}`, string(raw))
	again, err := new(InstallConfigs).Render("hash", p, InstallInput{Name: "pr41-shop", BaseDomain: HubDomain, Region: "lab", Version: OnHub})
	require.NoError(t, err)
	require.Equal(t, string(raw), string(again))
	_, err = p.InstallConfig(InstallInput{Name: "pr41-shop", BaseDomain: HubDomain, Region: "mars", Version: OnHub})
	require.ErrorContains(t, err, `region "mars"; accepted: lab`)
	usual, _ := c.Default()
	require.Equal(t, "aws-minimal-test", usual.Name, "the cheaper kind is nobody's default unless it says so")
	other, _ := c.Get("aws-minimal-test")
	require.Equal(t, kinds.OpenShift, other.Provisioner)

	open, err := withHub(t, strings.NewReplacer("  pullSecret: true", "  network: open", "pods: 20", "pods: 20, loadBalancers: 2").Replace(aNamespace), aHub)
	require.NoError(t, err)
	p, _ = open.Get("small")
	require.False(t, p.Namespace.Isolated)
	require.False(t, p.Namespace.Pull)
	require.Equal(t, 2, p.Namespace.Quota.LoadBalancers)
	raw, err = p.InstallConfig(InstallInput{Name: "pr41-shop", BaseDomain: HubDomain, Region: "lab", Version: OnHub})
	require.NoError(t, err)
	require.Contains(t, string(raw), "loadBalancers: 2")

	a, _ := c.Account("lab")
	require.Equal(t, "https://api.hub.example.com:6443", a.Server)
	moved := a
	moved.Server = "https://api.other.example.com:6443"
	require.NotEqual(t, a.Version(), moved.Version(), "another address has to be proven")
}

func TestABrokenNamespaceProfileSaysWhatIsAccepted(t *testing.T) {
	for name, of := range map[string]struct{ from, to, says string }{
		"machines":              {"grace:", "workers: {replicas: 3, instanceType: m6i.large}\ngrace:", `workers: not supported by provisioner namespace: it is a namespace on a shared cluster, and not a cluster of its own; accepted: none; its fields are name, `},
		"versions":              {"grace:", "versions: {allow: [\"4.20.3\"], default: \"4.20.3\"}\ngrace:", `versions: not supported by provisioner namespace`},
		"spot machines":         {"grace:", "spot: workers\ngrace:", `spot: not supported by provisioner namespace`},
		"sleep":                 {"grace:", "sleep: {mode: stopped}\ngrace:", `sleep: not supported by provisioner namespace`},
		"zones":                 {"hourlyCents: 3", "hourlyCents: 3, zones: [a]", `regions.allow[0].zones: not supported; accepted: name, fallback, hourlyCents`},
		"no price":              {", hourlyCents: 3", "", `regions.allow[0].hourlyCents: missing`},
		"no quota of pods":      {", pods: 20", "", `namespace.quota.pods: missing; accepted: a whole number from 1 to 1000`},
		"a balancer too many":   {"pods: 20", "pods: 20, loadBalancers: 21", `namespace.quota.loadBalancers: 21; accepted: a whole number from 0 to 20`},
		"cores of an unknown":   {`cpu: "4"`, `cpu: lots`, `namespace.quota.cpu: "lots"; accepted: cores such as "4" or 500m, in quotes`},
		"bytes without a unit":  {"memory: 8Gi", `memory: "8"`, `namespace.quota.memory: "8"; accepted: bytes such as 512Mi or 8Gi`},
		"an unknown network":    {"  pullSecret: true", "  network: closed", `namespace.network: "closed"; accepted: one of isolated, open`},
		"no kind":               {"provisioner: namespace\n", "", `provisioner: missing; accepted: one of openshift, hypershift, namespace`},
		"an unknown kind":       {"provisioner: namespace", "provisioner: hive", `provisioner: "hive"; accepted: one of openshift, hypershift, namespace`},
		"a kind of a cloud":     {"platform: kubernetes", "platform: aws", `provisioner: namespace on aws; accepted: openshift`},
		"a namespace in a pool": {"name: small", "name: small", ""},
		"a region's name":       {"{name: lab,", "{name: Lab,", `regions.allow[0].name: "Lab"; accepted: a name such as lab`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := withHub(t, strings.Replace(aNamespace, of.from, of.to, 1), aHub)
			if of.says != "" {
				require.ErrorContains(t, err, of.says)
				return
			}
			_, err = Load(fstest.MapFS{
				"profiles/small.yaml": {Data: []byte(aNamespace)}, "accounts/lab.yaml": {Data: []byte(aHub)},
				"pools/one.yaml": {Data: []byte("name: one\nprofile: small\nsize: 1\nmax: 1\n")},
			})
			require.ErrorContains(t, err, "profile: small, whose clusters do not wait in pools")
		})
	}
	_, err := withHub(t, strings.Replace(aNamespace, "platform: kubernetes\nprovisioner: namespace", "platform: kubernetes\nprovisioner: openshift", 1), aHub)
	require.ErrorContains(t, err, "provisioner: openshift on kubernetes; accepted: hypershift, namespace")
}

func TestABrokenHubSaysWhatIsAccepted(t *testing.T) {
	for name, of := range map[string]struct{ from, to, says string }{
		"no address":         {"server: https://api.hub.example.com:6443\n", "", `accounts/lab.yaml:1: server: missing on kubernetes; accepted: the address of the hub's API`},
		"a path":             {":6443", ":6443/api", `server: "https://api.hub.example.com:6443/api"; accepted: the address of the hub's API`},
		"no TLS":             {"https:", "http:", `server: "http://api.hub.example.com:6443"; accepted: the address`},
		"no credentials":     {`credentials: {ref: "file:/run/secrets/hub"}`, "", `credentials.ref: missing on kubernetes; accepted: a reference to a kubeconfig with a token, or {server, token, ca}: file:`},
		"another number":     {"0a1b2c3d-0000-4000-8000-000000000001", "123456789012", `number: "123456789012"; accepted: the UID of the hub's namespace kube-system`},
		"a base domain":      {"credentials:", "baseDomain: hub.internal\ncredentials:", `baseDomain: given on kubernetes, where clusters have no domain; accepted: none`},
		"a server on AWS":    {"platform: kubernetes\nnumber: \"0a1b2c3d-0000-4000-8000-000000000001\"", "platform: aws\nnumber: \"123456789012\"", `server: given on aws; accepted: none, or platform: kubernetes`},
		"a region of nobody": {"credentials:", "regions: [mars]\ncredentials:", `regions[0]: "mars", which no profile of the platform allows; accepted: one of lab`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := withHub(t, aNamespace, strings.Replace(aHub, of.from, of.to, 1))
			require.ErrorContains(t, err, of.says)
		})
	}
}
