package github

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"
)

// api calls the stand-in by hand as the installation, or as the App.
type api struct {
	t      *testing.T
	s      *Server
	client *http.Client
	header http.Header
}

func asTokenHolder(t *testing.T, s *Server, transport http.RoundTripper) api {
	t.Helper()
	if transport == nil {
		transport = http.DefaultTransport
	}
	signed, err := ghinstallation.New(transport, AppID, Installation, s.KeyPEM())
	require.NoError(t, err)
	signed.BaseURL = s.URL()
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return api{t: t, s: s, client: &http.Client{Transport: signed, CheckRedirect: stay}}
}

func asJWTHolder(t *testing.T, s *Server, transport http.RoundTripper) api {
	t.Helper()
	signed, err := ghinstallation.NewAppsTransport(transport, AppID, s.KeyPEM())
	require.NoError(t, err)
	return api{t: t, s: s, client: &http.Client{Transport: signed}}
}

// byClock calls with a token, or as the App with a JWT, that are good by the stand-in's own clock.
func byClock(t *testing.T, s *Server, app bool) api {
	t.Helper()
	var token string
	var err error
	if app {
		signer, mistake := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: s.key.PrivateKey}, nil)
		require.NoError(t, mistake)
		claims := jwt.Claims{Issuer: itoa(AppID), IssuedAt: jwt.NewNumericDate(s.now()), Expiry: jwt.NewNumericDate(s.now().Add(time.Minute))}
		token, err = jwt.Signed(signer).Claims(claims).Serialize()
	} else {
		token, _, err = s.issueToken(grant{Installation: Installation})
	}
	require.NoError(t, err)
	return api{t: t, s: s, client: http.DefaultClient, header: http.Header{"Authorization": {"Bearer " + token}}}
}

// call makes one call, e.g. "POST /repos/acme/shop/labels", and answers the status and the decoded body.
func (a api) call(what, body string) (*http.Response, any) {
	a.t.Helper()
	method, path, _ := strings.Cut(what, " ")
	var sent io.Reader
	if body != "" {
		sent = bytes.NewReader([]byte(body))
	}
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.s.URL()+path, sent)
	require.NoError(a.t, err)
	maps.Copy(req.Header, a.header)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.client.Do(req)
	require.NoError(a.t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(a.t, err)
	var out any
	if len(raw) > 0 {
		require.NoError(a.t, json.Unmarshal(raw, &out), string(raw))
	}
	return resp, out
}

// want makes a call that has to answer a status, and answers its body if that is an object.
func (a api) want(status int, what, body string) object {
	a.t.Helper()
	resp, out := a.call(what, body)
	require.Equal(a.t, status, resp.StatusCode, "%s: %v", what, out)
	one, _ := out.(object)
	return one
}

// list makes a call that answers a list.
func (a api) list(what string) []any {
	a.t.Helper()
	resp, out := a.call(what, "")
	require.Equal(a.t, 200, resp.StatusCode, "%s: %v", what, out)
	return out.([]any)
}

func num(v any) string { return itoa(int64(v.(float64))) }

func TestEveryAnswerHasGitHubsShape(t *testing.T) {
	s, _ := withInbox(t)
	m := Registered()
	m.Permissions["contents"], m.Permissions["actions"] = "write", "write"
	s.SetManifest(m)
	transport := held(t)
	app, in := asJWTHolder(t, s, transport), asTokenHolder(t, s, transport)
	repo := "/repos/acme/shop"
	pr, _ := s.PullRequest(41)
	require.NoError(t, s.PushFile(41, ".github/ocpctl.yaml", "default: aws-standard\n", "will"))
	require.NoError(t, s.Label(41, "bug", "maya"))

	in.want(201, "POST "+repo+"/labels", `{"name":"ocp/new","color":"1d76db","description":"one"}`)
	in.want(200, "PATCH "+repo+"/labels/ocp%2Fnew", `{"new_name":"ocp/newer","color":"ffffff"}`)
	in.list("GET " + repo + "/labels?per_page=100")
	in.call("POST "+repo+"/issues/41/labels", `{"labels":["ocp/aws-standard"]}`)
	in.list("GET " + repo + "/issues/41/labels")
	in.call("DELETE "+repo+"/issues/41/labels/ocp%2Faws-standard", "")

	comment := num(in.want(201, "POST "+repo+"/issues/41/comments", `{"body":"words"}`)["id"])
	in.want(200, "GET "+repo+"/issues/comments/"+comment, "")
	in.want(200, "PATCH "+repo+"/issues/comments/"+comment, `{"body":"other words"}`)
	in.list("GET " + repo + "/issues/41/comments")
	in.want(201, "POST "+repo+"/issues/comments/"+comment+"/reactions", `{"content":"eyes"}`)

	check := num(in.want(201, "POST "+repo+"/check-runs", `{"name":"ocpctl","head_sha":"`+pr.HeadSHA+`","external_id":"sub_1",
		"status":"in_progress","details_url":"https://ocpctl.example/c/1","output":{"title":"t","summary":"s","annotations":[
		{"path":".github/ocpctl.yaml","start_line":1,"end_line":1,"annotation_level":"failure","message":"no","title":"t"}]},
		"actions":[{"label":"Extend","description":"Two hours more","identifier":"extend"}]}`)["id"])
	in.want(200, "PATCH "+repo+"/check-runs/"+check, `{"status":"completed","conclusion":"success"}`)
	in.list("GET " + repo + "/check-runs/" + check + "/annotations")
	in.list("GET " + repo + "/commits/" + pr.HeadSHA + "/pulls")
	require.NotEmpty(t, in.list("GET "+repo+"/git/matching-refs/heads/main"))
	in.want(200, "GET "+repo+"/commits/"+pr.HeadSHA+"/check-runs?filter=all&check_name=ocpctl&app_id=4242", "")

	deploy := num(in.want(201, "POST "+repo+"/deployments", `{"ref":"`+pr.HeadSHA+`","task":"deploy","auto_merge":false,"required_contexts":[],
		"environment":"ocp/pr41-shop","description":"a cluster","transient_environment":true,"production_environment":false,"payload":{"key":"sub_1"}}`)["id"])
	in.want(201, "POST "+repo+"/deployments/"+deploy+"/statuses", `{"state":"in_progress","description":"installing",
		"environment_url":"https://console.example","log_url":"https://ocpctl.example/c/1","auto_inactive":false}`)
	in.list("GET " + repo + "/deployments?environment=ocp%2Fpr41-shop&sha=" + pr.HeadSHA)
	in.list("GET " + repo + "/deployments/" + deploy + "/statuses")
	in.want(204, "DELETE "+repo+"/deployments/"+deploy, "")
	require.Contains(t, s.Environments(), "ocp/pr41-shop", "the environment stays when its last deployment is deleted")

	in.want(200, "GET "+repo+"/contents/.github/ocpctl.yaml?ref="+commitID(Repo, 41, 2), "")
	tree := in.want(200, "GET "+repo+"/git/trees/"+commitID(Repo, 41, 2)+"?recursive=1", "")["tree"].([]any)
	in.want(200, "GET "+repo+"/git/blobs/"+tree[0].(map[string]any)["sha"].(string), "")
	in.want(404, "GET "+repo+"/git/blobs/none", "")
	main := in.want(200, "GET "+repo+"/git/ref/heads/main", "")["object"].(map[string]any)["sha"].(string)
	in.want(404, "GET "+repo+"/git/ref/heads/proposal", "")
	in.want(201, "POST "+repo+"/git/refs", `{"ref":"refs/heads/proposal","sha":"`+main+`"}`)
	in.want(422, "POST "+repo+"/git/refs", `{"ref":"refs/heads/proposal","sha":"`+main+`"}`)
	in.want(201, "PUT "+repo+"/contents/teams/shop.yaml", `{"message":"Add it","content":"bmFtZTogc2hvcAo=","branch":"proposal","author":{"name":"Maya","email":"maya@example.com"}}`)
	in.want(409, "PUT "+repo+"/contents/teams/shop.yaml", `{"message":"Add it","content":"bmFtZQ==","branch":"proposal"}`)
	in.want(201, "POST "+repo+"/pulls", `{"title":"Add it","head":"proposal","base":"main","body":"words"}`)
	in.want(422, "POST "+repo+"/pulls", `{"title":"Add it","head":"proposal","base":"main","body":"words"}`)
	require.Len(t, in.list("GET "+repo+"/pulls?state=all&head=acme:proposal"), 1)
	require.Empty(t, in.list("GET "+repo+"/pulls?state=closed&head=acme:proposal"))
	in.want(200, "GET "+repo, "")
	in.want(200, "GET "+repo+"/pulls/45", "")
	in.list("GET " + repo + "/pulls/41/files")
	in.want(200, "GET "+repo+"/collaborators/maya/permission", "")
	in.want(204, "POST "+repo+"/dispatches", `{"event_type":"create_ephemeral_cluster","client_payload":{"profile":"aws-standard"}}`)
	everyCallForRuns(t, s, in)
	in.want(200, "GET /installation/repositories", "")
	in.want(200, "GET /orgs/acme/teams/platform/memberships/maya", "")
	in.want(200, "GET /rate_limit", "")

	app.want(200, "GET /app", "")
	app.list("GET /app/installations")
	app.want(200, "GET /app/installations/5001", "")
	app.want(200, "GET /orgs/acme/installation", "")
	app.want(200, "GET "+repo+"/installation", "")
	settled(t, s)
	last := num(app.list("GET /app/hook/deliveries?per_page=2")[0].(object)["id"])
	app.want(202, "POST /app/hook/deliveries/"+last+"/attempts", "")

	seen := transport.CountSeen()
	for _, id := range describedIDs() {
		require.NotZero(t, seen[id], "%s was not tried", id)
	}
}

// everyCallForRuns makes every call for workflow runs.
func everyCallForRuns(t *testing.T, s *Server, in api) {
	t.Helper()
	run, err := s.Runs().Start(NewRun{Pull: 41, Jobs: []NewJob{{Key: "build"}, {Key: "e2e", Needs: []string{"build"}}}})
	require.NoError(t, err)
	require.NoError(t, s.Runs().Begin(run.Jobs[0].ID))
	at := "/repos/acme/shop/actions/runs"
	one := at + "/" + itoa(run.ID)
	in.want(200, "GET "+at+"?event=pull_request&status=in_progress&head_sha="+run.HeadSHA, "")
	in.want(200, "GET "+one, "")
	in.want(200, "GET /repos/acme/shop/actions/jobs/"+itoa(run.Jobs[0].ID), "")
	in.want(202, "POST "+one+"/cancel", "")
	in.want(201, "POST "+one+"/rerun", "")
	in.want(202, "POST "+one+"/cancel", "")
	in.want(201, "POST "+one+"/rerun-failed-jobs", `{"enable_debug_logging":false}`)
	in.want(200, "GET "+one+"/attempts/1", "")
	in.want(202, "POST "+one+"/cancel", "")
	everyCallForReviews(t, s, in)
}

// everyCallForReviews makes every call about deployments of runs.
func everyCallForReviews(t *testing.T, s *Server, in api) {
	t.Helper()
	require.NoError(t, s.Protect("ocp/aws", true))
	require.NoError(t, s.Protect("staging", false, "ocpctl[bot]"))
	run, err := s.Runs().Start(NewRun{Jobs: []NewJob{{Key: "e2e", Environment: "ocp/aws"}, {Key: "stage", Environment: "staging"}}})
	require.NoError(t, err)
	one := "/repos/acme/shop/actions/runs/" + itoa(run.ID)
	pending := in.list("GET " + one + "/pending_deployments")
	require.Len(t, pending, 2)
	in.want(204, "POST "+one+"/deployment_protection_rule", `{"environment_name":"ocp/aws","comment":"installing"}`)
	in.want(204, "POST "+one+"/deployment_protection_rule", `{"environment_name":"ocp/aws","state":"approved","comment":"ready"}`)
	in.want(422, "POST "+one+"/deployment_protection_rule", `{"environment_name":"ocp/aws","state":"approved","comment":"ready"}`)
	require.NoError(t, s.Runs().CompleteAll(run.ID, "success"))
}
