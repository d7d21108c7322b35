// Package helm_test renders the chart with Helm's own code and checks what comes out: it is valid for Helm and for the Kubernetes
// API, it is what the golden files say, and values that make no sense are refused. The golden files are checked for safety in the
// product's own module, which needs no Helm.
package helm_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	routev1 "github.com/openshift/api/route/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	chartDir = "../../deploy/helm/ocpctl"
	golden   = "../../deploy/helm/testdata"
)

var kube = chartutil.KubeVersion{Version: "v1.30.0", Major: "1", Minor: "30"}

// examples are the values that the chart comes with. What they render must not depend on the API server that it was rendered for.
var examples = []string{"eks", "openshift", "try"}

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetOutput(io.Discard) // Helm logs that the chart contains a symbolic link
	os.Exit(m.Run())
}

func readValues(t *testing.T, example string) map[string]any {
	t.Helper()
	values, err := chartutil.ReadValuesFile(filepath.Join(chartDir, "values-"+example+".yaml"))
	require.NoError(t, err)
	return values
}

// render returns the release as "helm template" would make it, for an API server that has the given groups besides its own.
func render(values map[string]any, groups ...string) (*release.Release, error) {
	chart, err := loader.Load(chartDir)
	if err != nil {
		return nil, err
	}
	install := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
	install.ClientOnly, install.DryRun, install.ReleaseName, install.Namespace = true, true, "ocpctl", "ocpctl"
	install.KubeVersion, install.APIVersions = &kube, groups
	return install.Run(chart, values)
}

// manifest returns the release's objects, its hooks among them, in a stable order.
func manifest(r *release.Release) string {
	sort.SliceStable(r.Hooks, func(i, j int) bool { return r.Hooks[i].Weight < r.Hooks[j].Weight })
	var b strings.Builder
	b.WriteString(strings.TrimSpace(r.Manifest) + "\n")
	for _, h := range r.Hooks {
		fmt.Fprintf(&b, "---\n# Source: %s\n%s\n", h.Path, strings.TrimSpace(h.Manifest))
	}
	return generated.ReplaceAllString(b.String(), "${1}"+base64.StdEncoding.EncodeToString([]byte("generated")))
}

// generated matches what is different in each installation: the keys of the embedded Secret, and the certificate for runners.
var generated = regexp.MustCompile(`(?m)^(  (?:(?:postgresql-password|database-url|s3-access-key|s3-secret-key|status-key|session-key|ca\.crt|tls\.crt|tls\.key):|  aws_\w+ =) )\S+$`)

func TestTheExamplesPassHelmsStrictLint(t *testing.T) {
	for _, example := range examples {
		t.Run(example, func(t *testing.T) {
			result := lint.AllWithKubeVersion(chartDir, readValues(t, example), "ocpctl", &kube)
			for _, message := range result.Messages {
				require.Less(t, message.Severity, support.WarningSev, message.Error())
			}
		})
	}
}

func TestTheExamplesRenderAsTheGoldenFilesSay(t *testing.T) {
	for _, example := range examples {
		t.Run(example, func(t *testing.T) {
			r, err := render(readValues(t, example))
			require.NoError(t, err)
			for name, got := range map[string]string{example + ".yaml": manifest(r), example + ".notes.txt": r.Info.Notes + "\n"} {
				path := filepath.Join(golden, name)
				if *update {
					require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
				}
				want, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, string(want), got, "run make chart-golden and read the difference")
			}
		})
	}
}

// The decoder refuses unknown and repeated fields, as a server with strict validation does.
func TestEachObjectFitsItsAPIType(t *testing.T) {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, routev1.Install, monitoringv1.AddToScheme} {
		require.NoError(t, add(types))
	}
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, types, types, json.SerializerOptions{Yaml: true, Strict: true})
	apart := map[string]any{"roles": "apart", "monitoring": map[string]any{"serviceMonitor": map[string]any{"enabled": true}}}
	for _, example := range examples {
		for name, more := range map[string]map[string]any{"as it is": {}, "with roles apart": apart} {
			t.Run(example+" "+name, func(t *testing.T) {
				r, err := render(chartutil.CoalesceTables(more, readValues(t, example)))
				require.NoError(t, err)
				documents := utilyaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(manifest(r))))
				n, buffer := 0, make([]byte, 1<<20)
				for {
					size, err := documents.Read(buffer)
					if err == io.EOF {
						break
					}
					require.NoError(t, err)
					if len(bytes.TrimSpace(buffer[:size])) == 0 {
						continue
					}
					_, _, err = strict.Decode(buffer[:size], nil, nil)
					require.NoError(t, err, string(buffer[:size]))
					n++
				}
				require.Greater(t, n, 15)
			})
		}
	}
}

func TestThePlatformIsDetected(t *testing.T) {
	values := readValues(t, "openshift")
	delete(values, "platform")
	openshift, err := render(values, "route.openshift.io/v1")
	require.NoError(t, err)
	require.Contains(t, openshift.Manifest, "kind: Route\n")
	require.NotContains(t, openshift.Manifest, "kind: Ingress\n")
	require.NotContains(t, openshift.Manifest, "runAsUser")
	kubernetes, err := render(values)
	require.NoError(t, err)
	require.Contains(t, kubernetes.Manifest, "kind: Ingress\n")
	require.NotContains(t, kubernetes.Manifest, "kind: Route\n")
	require.Contains(t, kubernetes.Manifest, "runAsUser: 65532")
}

func TestCatalogueFilesAreMountedAtTheirPaths(t *testing.T) {
	values := readValues(t, "openshift")
	values["catalogue"] = map[string]any{"files": map[string]any{"profiles/small.yaml": "name: small\n"}}
	r, err := render(values)
	require.NoError(t, err)
	require.Contains(t, r.Manifest, "{key: profiles__small.yaml, path: profiles/small.yaml}")
	require.Contains(t, r.Manifest, "profiles__small.yaml: |\n    name: small\n")
	require.Contains(t, r.Manifest, "dir: /etc/ocpctl/catalogue")
}

// The migrations run before everything else, when a volume of the servers may not exist yet, and the pods that the internet reaches need nothing
// that only the worker needs.
func TestFurtherVolumesAreInThePodsThatNeedThem(t *testing.T) {
	values := readValues(t, "eks")
	worker := values["components"].(map[string]any)["worker"].(map[string]any)
	worker["extraVolumes"] = []any{map[string]any{"name": "tekton", "secret": map[string]any{"secretName": "tekton"}}}
	worker["extraVolumeMounts"] = []any{map[string]any{"name": "tekton", "mountPath": "/etc/ocpctl/tekton"}}
	pods := values["pods"].(map[string]any)
	pods["extraVolumes"] = append(pods["extraVolumes"].([]any), map[string]any{"name": "proxy", "configMap": map[string]any{"name": "proxy"}})
	r, err := render(values)
	require.NoError(t, err)
	have := map[string][]int{}
	for object := range strings.SplitSeq(manifest(r), "\n---\n") {
		kind, name := regexp.MustCompile(`(?m)^kind: (\S+)$`).FindStringSubmatch(object), regexp.MustCompile(`(?m)^  name: (\S+)$`).FindStringSubmatch(object)
		if kind != nil && (kind[1] == "Deployment" || kind[1] == "Job") {
			have[name[1]] = []int{strings.Count(object, "name: rds-ca"), strings.Count(object, "name: tekton"), strings.Count(object, "name: proxy")}
		}
	}
	require.Equal(t, map[string][]int{"ocpctl-hooks": {3, 0, 2}, "ocpctl-api": {3, 0, 2}, "ocpctl-worker": {3, 2, 2}, "ocpctl-migrate": {3, 0, 0}}, have)
}

func TestVolumesMayBeNull(t *testing.T) {
	values := readValues(t, "eks")
	for _, of := range []map[string]any{values["pods"].(map[string]any), values["migrations"].(map[string]any), values["components"].(map[string]any)["worker"].(map[string]any)} {
		of["extraVolumes"], of["extraVolumeMounts"] = nil, nil
	}
	r, err := render(values)
	require.NoError(t, err)
	require.NotContains(t, manifest(r), "name: rds-ca")
}

func TestRunnersGetTheSecretsOfTheValuesAndTheMountsOfTheConfiguration(t *testing.T) {
	values := readValues(t, "openshift")
	put(values, strings.Split("runner.secrets.sshKey.existingSecret", "."), "keys")
	put(values, strings.Split("runner.secrets.ibmcloudCredentials.existingSecret", "."), "ibm")
	values["config"].(map[string]any)["runner"] = map[string]any{"kubernetes": map[string]any{"mounts": []any{map[string]any{"config_map": "ca", "path": "/etc/ca"}}}}
	r, err := render(values)
	require.NoError(t, err)
	require.Contains(t, r.Manifest, "ssh_key_ref: file:/run/secrets/ocpctl/ssh-key/ssh-key")
	require.Regexp(t, `clouds:\n\s+ibmcloud:\n\s+credentials_ref: file:/run/secrets/ocpctl/ibmcloud-credentials/ibmcloud-credentials`, r.Manifest)
	require.Regexp(t, `mounts:\n\s+- path: /run/secrets/ocpctl/ibmcloud-credentials\n\s+secret: ibm\n\s+- path: /run/secrets/ocpctl/ssh-key\n\s+secret: keys\n\s+- config_map: ca\n\s+path: /etc/ca`, r.Manifest)
}

// The server reads its keys as PKCS#8; another form would stop it.
func TestTheEmbeddedKeysAreOnesThatTheServerReads(t *testing.T) {
	r, err := render(readValues(t, "try"))
	require.NoError(t, err)
	keys := regexp.MustCompile(`(?m)^  (?:status|session)-key: (\S+)$`).FindAllStringSubmatch(r.Manifest, -1)
	require.Len(t, keys, 2)
	require.NotEqual(t, keys[0][1], keys[1][1])
	for _, key := range keys {
		raw, err := base64.StdEncoding.DecodeString(key[1])
		require.NoError(t, err)
		block, _ := pem.Decode(raw)
		require.NotNil(t, block)
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		require.NoError(t, err)
		require.IsType(t, ed25519.PrivateKey{}, parsed)
	}
}

func TestTheCertificateForRunnersIsOneThatTheyVerify(t *testing.T) {
	r, err := render(readValues(t, "openshift"))
	require.NoError(t, err)
	part := func(name string) []byte {
		found := regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(name) + `: (\S+)$`).FindStringSubmatch(r.Manifest)
		require.NotNil(t, found, name)
		raw, err := base64.StdEncoding.DecodeString(found[1])
		require.NoError(t, err)
		return raw
	}
	pair, err := tls.X509KeyPair(part("tls.crt"), part("tls.key"))
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(part("ca.crt")))
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	require.NoError(t, err)
	_, err = cert.Verify(x509.VerifyOptions{DNSName: "ocpctl-runners.ocpctl.svc", Roots: roots})
	require.NoError(t, err)
	require.Contains(t, r.Manifest, "status_url: https://ocpctl-runners.ocpctl.svc\n")
	require.NotContains(t, r.Manifest, "http://ocpctl-")

	values := readValues(t, "openshift")
	put(values, strings.Split("runnersTLS.existingSecret", "."), "from-cert-manager")
	r, err = render(values)
	require.NoError(t, err)
	require.NotContains(t, r.Manifest, "kubernetes.io/tls")
	require.Contains(t, r.Manifest, "secretName: from-cert-manager")
}

func TestExtraObjectsAreTemplates(t *testing.T) {
	values := readValues(t, "try")
	values["extraObjects"] = []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "{{ .Release.Name }}-more"}}}
	r, err := render(values)
	require.NoError(t, err)
	require.Contains(t, r.Manifest, "name: 'ocpctl-more'")
}

func TestValuesThatMakeNoSenseAreRefused(t *testing.T) {
	for set, want := range map[string]string{
		"roles=both":                            "at '/roles': value must be one of 'together', 'apart'",
		"platform=nomad":                        "at '/platform': value must be one of",
		"components.worker.replica=3":           "additional properties 'replica' not allowed",
		"config.listen.public=x":                "at '/config/listen': additional properties 'public' not allowed",
		"secrets.databaseURL.value=x":           "additional properties 'value' not allowed",
		"public.host=https://x":                 "at '/public/host': 'https://x' does not match pattern",
		"pods.terminationGracePeriodSeconds=30": "minimum: got 30, want 40",
		"image.digest=latest":                   "at '/image/digest'",
		"runner.namespace.name=ocpctl":          "give runners a namespace of their own",
		"config.installation=":                  "config.installation is empty; give a short name",
		"config.database_url_ref=":              "the database is unknown; set secrets.databaseURL.existingSecret",
		"private.host=ocpctl-hooks.example.com": "public.host and private.host are the same",
	} {
		t.Run(set, func(t *testing.T) {
			values := readValues(t, "eks")
			path, value, _ := strings.Cut(set, "=")
			put(values, strings.Split(path, "."), value)
			_, err := render(values)
			require.ErrorContains(t, err, want)
		})
	}
}

// put sets a value at a path; digits become a number.
func put(values map[string]any, path []string, value string) {
	for _, key := range path[:len(path)-1] {
		inner, ok := values[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			values[key] = inner
		}
		values = inner
	}
	var number float64
	if _, err := fmt.Sscanf(value, "%g", &number); err == nil {
		values[path[len(path)-1]] = number
		return
	}
	values[path[len(path)-1]] = value
}
