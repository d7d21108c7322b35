package profiles

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

const anAddon = `name: shop
description: What the shop needs.
manifests:
  - apiVersion: v1
    kind: Namespace
    metadata: {name: shop}
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: db, namespace: shop}
    spec: {replicas: 1, paused: no}
wait:
  - {kind: deployment, name: db, namespace: shop, condition: Available, timeout: 5m}
`

func withAddon(t *testing.T, body string) (Catalogue, error) {
	t.Helper()
	return Load(fstest.MapFS{"profiles/aws-minimal-test.yaml": {Data: []byte(good(t))}, "addons/shop.yaml": {Data: []byte(body)}})
}

func TestAnAddonIsItsObjectsAsJSONAndWhatIsWaitedFor(t *testing.T) {
	c, err := withAddon(t, anAddon)
	require.NoError(t, err)
	a, known := c.Addon("shop")
	require.True(t, known)
	require.JSONEq(t, `{"apiVersion": "v1", "kind": "List", "items": [
		{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
		{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "db", "namespace": "shop"}, "spec": {"replicas": 1, "paused": "no"}}]}`, a.Manifests)
	require.Equal(t, []AddonWait{{"deployment", "db", "shop", "Available", 5 * time.Minute}}, a.Waits)
	p, _ := c.Get("aws-minimal-test")
	require.Equal(t, []string{"shop"}, c.AddonsOf(p))
	_, known = c.Addon("other")
	require.False(t, known)
}

func TestWhatIsNoAddonIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"a value of no cluster":    {"kind: Namespace\n    metadata: {name: shop}", "kind: Namespace\n    metadata: {name: shop, labels: {a: '${cluster.owner}'}}", `manifests: "${cluster.owner}"; accepted: ${cluster.name}, ${cluster.domain}, ${cluster.region}`},
		"a secret":                 {"kind: Namespace", "kind: Secret", `addons/shop.yaml:5: manifests[0].kind: "Secret"; accepted: a kind such as Namespace; Secret is not allowed`},
		"a list":                   {"kind: Namespace", "kind: List", `manifests[0].kind: "List"`},
		"no kind":                  {"    kind: Namespace\n", "", `addons/shop.yaml:4: manifests[0].kind: missing`},
		"no name":                  {"metadata: {name: shop}", "metadata: {generateName: shop-}", "manifests[0].metadata.name: missing"},
		"no metadata":              {"    metadata: {name: shop}\n", "", "manifests[0].metadata: missing"},
		"no version":               {"apiVersion: v1", "apiVersion: 1", `manifests[0].apiVersion: 1; accepted: a version`},
		"a flag for a name":        {"name: db, namespace: shop, condition", "name: --all, namespace: shop, condition", `wait[0].name: "--all"`},
		"a flag for a kind":        {"{kind: deployment", "{kind: -A", `wait[0].kind: "-A"`},
		"a flag for a namespace":   {"namespace: shop, condition", "namespace: -x, condition", `wait[0].namespace: "-x"`},
		"a condition of more":      {"condition: Available", "condition: 'jsonpath={.a}'", `wait[0].condition: "jsonpath={.a}"`},
		"too long":                 {"timeout: 5m", "timeout: 16m", `wait[0].timeout: "16m"; accepted: a duration such as 5m, above 0 and at most 15m`},
		"an object twice":          {"apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: db, namespace: shop}", "apiVersion: v1\n    kind: Namespace\n    metadata: {name: shop}", "v1 Namespace  shop again; accepted: each object once"},
		"an alias":                 {"spec: {replicas: 1", "spec: &s {replicas: 1", "an anchor, alias or merge key"},
		"a date":                   {"paused: no", "paused: 2026-01-01", "accepted: a string in quotes, a number, true or false"},
		"a number for a key":       {"paused: no", "7: no", "accepted: a key in quotes"},
		"a key twice":              {"paused: no", "replicas: 2", `already defined`},
		"no number":                {"replicas: 1", "replicas: .inf", "what JSON cannot represent"},
		"nothing":                  {anAddon[strings.Index(anAddon, "manifests"):], "manifests: []\n", "manifests: a list of 0"},
		"another file's name":      {"name: shop\ndesc", "name: other\ndesc", "the file's own name, shop"},
		"more than the bound":      {"paused: no", "paused: " + strings.Repeat("x", mostManifests), "bytes as JSON; accepted: at most 65536"},
		"an object that is a word": {"  - apiVersion: v1\n    kind: Namespace\n    metadata: {name: shop}\n", "  - namespace\n", `manifests[0]: "namespace"; accepted: a Kubernetes object with apiVersion`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, anAddon, c.old)
			_, err := withAddon(t, strings.Replace(anAddon, c.old, c.new, 1))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestAProfileNamesAddonsThatAreThere(t *testing.T) {
	with := func(addons string) error {
		body := strings.Replace(good(t), `addons: {allowed: ["*"]}`, addons, 1)
		require.NotEqual(t, good(t), body)
		_, err := Load(fstest.MapFS{"profiles/aws-minimal-test.yaml": {Data: []byte(body)}, "addons/shop.yaml": {Data: []byte(anAddon)}})
		return err
	}
	require.NoError(t, with("addons: {default: [shop]}"))
	require.NoError(t, with("addons: {default: [shop], allowed: [sh*]}"))
	require.ErrorContains(t, with("addons: {default: [shop, stop]}"), `addons.default[1]: "stop", which is not an add-on; accepted: one of shop`)
	require.ErrorContains(t, with("addons: {allowed: [cert-*]}"), `addons.allowed[0]: "cert-*", which is not an add-on`)
	require.NoError(t, load(good(t)), "who has none allows what there will be")

	both := Addons{Default: []string{"db"}, Allowed: []string{"cert-*"}}
	require.Equal(t, []bool{true, true, false}, []bool{both.Has("db"), both.Has("cert-manager"), both.Has("other")})
}

func TestTheBuiltInAddonsAreWhatOpenShiftKnows(t *testing.T) {
	c := catalogue(t)
	objects := map[string][]string{}
	for _, a := range c.Addons {
		var list struct {
			Items []struct {
				APIVersion, Kind string
				Metadata         struct{ Name, Namespace string }
				Spec             struct{ Channel, Name, Source, SourceNamespace string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(a.Manifests), &list))
		for _, o := range list.Items {
			objects[a.Name] = append(objects[a.Name], strings.TrimSpace(strings.Join([]string{o.APIVersion, o.Kind, o.Metadata.Namespace, o.Metadata.Name, o.Spec.Source, o.Spec.Channel}, " ")))
		}
	}
	require.Equal(t, []string{
		"v1 Namespace  cert-manager-operator", "v1 Namespace  cert-manager", "operators.coreos.com/v1 OperatorGroup cert-manager-operator openshift-cert-manager-operator",
		"operators.coreos.com/v1alpha1 Subscription cert-manager-operator openshift-cert-manager-operator redhat-operators stable-v1",
	}, objects["cert-manager"])
	require.Len(t, objects["pr-namespace"], 7)
	manager, _ := c.Addon("cert-manager")
	require.Equal(t, AddonWait{"crd", "certificates.cert-manager.io", "", "Established", 10 * time.Minute}, manager.Waits[0])
	for name, want := range map[string]int{"aws-minimal-test": 2, "aws-standard": 2, "aws-minimal-mint": 2, "ibm-minimal-test": 2, "ibm-standard": 2} {
		require.Len(t, c.AddonsOf(get(t, name)), want, name)
		require.Empty(t, get(t, name).Addons.Default, "none comes by itself")
	}
}

func TestAddonsThatNobodyCouldHaveAreDoubted(t *testing.T) {
	doubts := catalogue(t).Doubts([]byte("profiles: [aws-standard]\naddons: [cert-manager, postgres]\n"))
	require.Len(t, doubts, 1)
	require.Equal(t, `.github/ocpctl.yaml:2:24: addons[1]: "postgres", which no profile allows; accepted: one of cert-manager, pr-namespace`, doubts[0].Error())
}

func TestAnAddonOffersEditInNoNamespaceOfAnOperator(t *testing.T) {
	const operator = `  - apiVersion: operators.coreos.com/v1alpha1
    kind: Subscription
    metadata: {name: mesh, namespace: %s}
`
	const binding = `  - apiVersion: rbac.authorization.k8s.io/v1
    kind: ClusterRoleBinding
    metadata: {name: mesh}
    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
    subjects: [{kind: ServiceAccount, name: mesh, namespace: shop}]
`
	for name, c := range map[string]struct{ label, more, other, want string }{
		"a namespace that says nothing":                {},
		"a namespace that offers edit":                 {label: "true"},
		"another value":                                {label: "yes", want: `addons/shop.yaml:4: manifests: the namespace shop with the label ocpctl.io/edit: "yes"; accepted: "true" or "false"`},
		"an operator in a namespace that says nothing": {more: fmt.Sprintf(operator, "shop"), want: `lacks the label ocpctl.io/edit: "false"`},
		"an operator in a namespace that offers edit":  {label: "true", more: fmt.Sprintf(operator, "shop"), want: `lacks the label ocpctl.io/edit: "false"`},
		"an operator in a namespace that does not":     {label: "false", more: fmt.Sprintf(operator, "shop")},
		"an operator elsewhere":                        {label: "true", more: fmt.Sprintf(operator, "openshift-operators")},
		"an account with rights in the whole cluster":  {label: "true", more: binding, want: `lacks the label ocpctl.io/edit: "false"`},
		"an account with rights in another namespace":  {more: strings.Replace(strings.Replace(binding, "kind: ClusterRoleBinding", "kind: RoleBinding", 1), "{name: mesh}", "{name: mesh, namespace: kube-system}", 1), want: `lacks the label ocpctl.io/edit: "false"`},
		"an account with rights in its own":            {label: "true", more: strings.Replace(strings.Replace(binding, "kind: ClusterRoleBinding", "kind: RoleBinding", 1), "{name: mesh}", "{name: mesh, namespace: shop}", 1)},
		"an operator of another add-on":                {label: "true", other: fmt.Sprintf(operator, "shop"), want: "addons/mesh.yaml:4: manifests: an operator or an account with rights beyond the namespace shop, in which the add-on shop offers the role edit"},
	} {
		t.Run(name, func(t *testing.T) {
			body := strings.Replace(anAddon, "wait:\n", c.more+"wait:\n", 1)
			if c.label != "" {
				body = strings.Replace(body, "metadata: {name: shop}", fmt.Sprintf("metadata: {name: shop, labels: {ocpctl.io/edit: %q}}", c.label), 1)
			}
			files := fstest.MapFS{"profiles/aws-minimal-test.yaml": {Data: []byte(good(t))}, "addons/shop.yaml": {Data: []byte(body)}}
			if c.other != "" {
				files["addons/mesh.yaml"] = &fstest.MapFile{Data: []byte("name: mesh\ndescription: A mesh.\nmanifests:\n" + c.other)}
			}
			_, err := Load(files)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestAnAddonKnowsItsCluster(t *testing.T) {
	c, err := withAddon(t, strings.Replace(anAddon, "spec: {replicas: 1, paused: no}", "spec: {host: '*.apps.${cluster.domain}', a: '${cluster.name} ${cluster.region} ${HOME}'}", 1))
	require.NoError(t, err)
	a, _ := c.Addon("shop")
	made := a.ManifestsFor("pr1-shop", "pr1-shop.labs.example.com", "eu-central-1")
	require.Contains(t, made, `"host":"*.apps.pr1-shop.labs.example.com"`)
	require.Contains(t, made, `"a":"pr1-shop eu-central-1 ${HOME}"`)
}

// What deploy/addons has fits into a catalogue.
func TestTheAddonsForACertificateAreSound(t *testing.T) {
	files := fstest.MapFS{"profiles/aws-minimal-test.yaml": {Data: []byte(good(t))}}
	for _, name := range []string{"cert-manager-route53.yaml", "apps-certificate.yaml"} {
		raw, err := os.ReadFile("../deploy/addons/" + name)
		require.NoError(t, err)
		files["addons/"+name] = &fstest.MapFile{Data: raw}
	}
	c, err := Load(files)
	require.NoError(t, err)
	require.Len(t, c.Addons, 2)
}
