package connect_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/api"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
)

const (
	documentedServer = "https://ocpctl.example.com"
	actionsIssuer    = "https://token.actions.githubusercontent.com"
)

// documented is docs/identity.md, block by block.
type documented struct {
	*testing.T
	blocks []string
}

func readDocuments(t *testing.T) documented {
	raw, err := os.ReadFile("../../../../docs/identity.md")
	require.NoError(t, err)
	d := documented{T: t}
	for _, found := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(raw), -1) {
		d.blocks = append(d.blocks, found[1])
	}
	return d
}

// block reads the one block that has all of these words.
func (d documented) block(into any, words ...string) string {
	d.Helper()
	var found []string
	for _, b := range d.blocks {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(b, w) }) {
			found = append(found, b)
		}
	}
	require.Len(d, found, 1, "%v", words)
	require.NoError(d, yaml.Unmarshal([]byte(found[0]), into))
	return found[0]
}

// scene is a server that is configured as the documents show. Only addresses differ: each documented one has a stand-in.
type scene struct {
	*testing.T
	url     string
	issuers map[string]*oidc.Issuer // by their documented address
	gate    *httptest.Server        // gives jobs of GitHub Actions their tokens
	claims  oidc.Claims             // of the job that asks
}

func setTheScene(t *testing.T, d documented) *scene {
	var config struct {
		Server string `yaml:"ui_url"`
		OIDC   []struct{ Issuer, Audience string }
	}
	d.block(&config, "ui_url:", "oidc:")
	require.Equal(t, documentedServer, config.Server)
	s := &scene{T: t, issuers: map[string]*oidc.Issuer{}}
	server := httptest.NewUnstartedServer(nil)
	s.url = "http://" + server.Listener.Addr().String()
	trust := auth.Config{Audience: s.local(config.Server)}
	for _, e := range config.OIDC {
		s.issuers[e.Issuer] = servicetest.Issuer(t)
		trust.Issuers = append(trust.Issuers, auth.Issuer{URL: s.issuers[e.Issuer].URL(), Audience: s.local(e.Audience)})
	}
	identities := s.identities(d)
	trust.Identities = func() []profiles.Identity { return identities }
	db := servicetest.Store(t, pgtest.New(t))
	terms, err := catalogue.Embedded()
	require.NoError(t, err)
	cfg := app.Config{Store: db, Catalogue: func() catalogue.Catalogue { return terms }, UI: s.url}
	core := app.New(cfg)
	server.Config.Handler = api.New(api.Config{App: core, Admin: admin.New(core, cfg), Costs: costs.New(cfg), Credentials: credentials.New(core, cfg), Store: db, Auth: auth.New(trust), UI: s.url})
	server.Start()
	t.Cleanup(server.Close)
	s.gate = httptest.NewServer(http.HandlerFunc(s.token))
	t.Cleanup(s.gate.Close)
	return s
}

// local is a documented text with the address that stands in for the server's.
func (s *scene) local(text string) string { return strings.ReplaceAll(text, documentedServer, s.url) }

// identities are the documented ones and those of the sample catalogue, as a server reads them, at the issuers of the scene.
func (s *scene) identities(d documented) (all []profiles.Identity) {
	var ignored any
	files := map[string]string{
		"identities/github.yaml":     d.block(&ignored, "identities:", "issuer: "+actionsIssuer),
		"identities/kubernetes.yaml": d.block(&ignored, "identities:", "kubernetes.io.namespace"),
	}
	sample, err := catalogue.Read(catalogue.Config{Dir: "../../../../profiles/testdata/example"})
	require.NoError(s, err)
	for _, i := range slices.Concat(servicetest.Catalogue(s.T, files).Identities, sample.Identities) {
		if issuer, known := s.issuers[i.Issuer]; known {
			i.Issuer = issuer.URL()
			all = append(all, i)
		}
	}
	return all
}

// token answers a job as GitHub Actions does.
func (s *scene) token(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer request-token" || r.FormValue("api-version") != "2.0" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	claims := s.claims
	claims.Audience = jwt.Audience{r.FormValue("audience")}
	raw, err := s.issuers[actionsIssuer].Token(claims)
	if err != nil || json.NewEncoder(w).Encode(map[string]string{"value": raw}) != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// teams are those in which somebody has a seat.
func (s *scene) teams(c connect.Context, env map[string]string) (teams []string) {
	s.Helper()
	api, _ := dial(s.T, c, env)
	me, err := connect.Read[v1.Me](api.GetMe(s.Context()))
	require.NoError(s, err)
	for _, seat := range me.Value.Seats {
		teams = append(teams, seat.Team)
	}
	return teams
}

// actions are the claims of a job of acme/shop by the event that began it, as in
// https://docs.github.com/en/actions/reference/security/oidc
var actions = map[string]oidc.Claims{
	"push": {Subject: "repo:acme/shop:ref:refs/heads/main", More: map[string]any{
		"repository": "acme/shop", "repository_id": "70107786", "repository_owner": "acme", "ref": "refs/heads/main", "ref_type": "branch", "event_name": "push",
		"job_workflow_ref": "acme/shop/.github/workflows/e2e.yml@refs/heads/main",
	}},
	"pull_request": {Subject: "repo:acme/shop:pull_request", More: map[string]any{
		"repository": "acme/shop", "repository_id": "70107786", "repository_owner": "acme", "ref": "refs/pull/41/merge", "ref_type": "branch", "event_name": "pull_request",
		"base_ref": "main", "head_ref": "feature", "job_workflow_ref": "acme/shop/.github/workflows/e2e.yml@refs/pull/41/merge",
	}},
}

func TestTheDocumentedJobOfGitHubActionsSignsIn(t *testing.T) {
	d := readDocuments(t)
	s := setTheScene(t, d)
	var workflow struct {
		On   map[string]any
		Jobs map[string]struct {
			Permissions, Env map[string]string
			Steps            []struct{ Run string }
		}
	}
	d.block(&workflow, "id-token: write")
	require.Contains(t, workflow.On, "pull_request")
	require.Len(t, workflow.Jobs, 1)
	for event := range workflow.On {
		for _, job := range workflow.Jobs {
			require.Equal(t, "write", job.Permissions["id-token"])
			s.claims = actions[event]
			require.NotEmpty(t, s.claims.Subject, event)
			env := map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": s.gate.URL + "/token?api-version=2.0", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-token"}
			for name, value := range job.Env {
				env[name] = s.local(value)
			}
			require.Regexp(t, `^ocpctl `, job.Steps[0].Run)
			c, err := connect.Choose(connect.Config{}, connect.Wanted{}, func(name string) string { return env[name] })
			require.NoError(t, err)
			require.Equal(t, []string{"platform", "shop"}, s.teams(c, env), event)
			require.Equal(t, http.StatusOK, s.byHand(job.Steps[1].Run, env), event)
		}
	}
}

var (
	asksToken = regexp.MustCompile(`"(\$ACTIONS_ID_TOKEN_REQUEST_URL[^"]*)"`)
	asksUs    = regexp.MustCompile(`Bearer \$TOKEN" "([^"]*)"`)
)

// byHand asks the addresses that a script asks with curl, and returns the last status.
func (s *scene) byHand(script string, env map[string]string) int {
	s.Helper()
	value := func(name string) string { return env[name] }
	get := func(address, bearer string) *http.Response {
		r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, address, nil)
		require.NoError(s, err)
		r.Header.Set("Authorization", "Bearer "+bearer)
		res, err := http.DefaultClient.Do(r)
		require.NoError(s, err)
		s.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	first, second := asksToken.FindStringSubmatch(script), asksUs.FindStringSubmatch(script)
	require.Len(s, first, 2)
	require.Len(s, second, 2)
	var said struct{ Value string }
	require.NoError(s, json.NewDecoder(get(os.Expand(first[1], value), "request-token").Body).Decode(&said))
	return get(os.Expand(second[1], value), said.Value).StatusCode
}

func TestTheDocumentedPodSignsIn(t *testing.T) {
	d := readDocuments(t)
	s := setTheScene(t, d)
	var pod struct {
		Metadata struct{ Namespace string }
		Spec     struct {
			ServiceAccountName string `yaml:"serviceAccountName"`
			Containers         []struct {
				Args         []string
				VolumeMounts []struct {
					MountPath string `yaml:"mountPath"`
				} `yaml:"volumeMounts"`
			}
			Volumes []struct {
				Projected struct {
					Sources []struct {
						Token struct{ Audience, Path string } `yaml:"serviceAccountToken"`
					}
				}
			}
		}
	}
	d.block(&pod, "kind: Pod")
	container, token := pod.Spec.Containers[0], pod.Spec.Volumes[0].Projected.Sources[0].Token
	args := container.Args[0]
	require.Contains(t, args, "--auth token-file --token-file "+container.VolumeMounts[0].MountPath+"/"+token.Path)
	require.Contains(t, args, "--server "+documentedServer)

	claims := oidc.Claims{
		Subject: "system:serviceaccount:" + pod.Metadata.Namespace + ":" + pod.Spec.ServiceAccountName, Audience: jwt.Audience{s.local(token.Audience)},
		More: map[string]any{"kubernetes.io": map[string]any{
			"namespace": pod.Metadata.Namespace, "serviceaccount": map[string]any{"name": pod.Spec.ServiceAccountName},
		}},
	}
	raw, err := s.issuers["https://oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF"].Token(claims)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), token.Path)
	require.NoError(t, os.WriteFile(file, []byte(raw), 0o600))
	require.Equal(t, []string{"platform"}, s.teams(connect.Context{Server: s.url, Auth: connect.TokenFile, TokenFile: file}, nil))
}
