package github

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestACallNeedsItsPermission(t *testing.T) {
	s := start(t, Config{})
	in := asTokenHolder(t, s, nil)
	pr, _ := s.PullRequest(41)
	for without, calls := range map[string][]string{
		"checks":      {`POST /repos/acme/shop/check-runs {"name":"x","head_sha":"` + pr.HeadSHA + `"}`, "GET /repos/acme/shop/commits/" + pr.HeadSHA + "/check-runs "},
		"contents":    {"GET /repos/acme/shop/contents/README.md "},
		"deployments": {`POST /repos/acme/shop/deployments {"ref":"main"}`, "GET /repos/acme/shop/deployments "},
		"issues":      {`POST /repos/acme/shop/labels {"name":"x","color":"ffffff"}`, `POST /repos/acme/shop/issues/41/labels ["unheard of"]`},
		"members":     {"GET /orgs/acme/teams/platform/memberships/maya "},
		"metadata":    {"GET /repos/acme/shop/collaborators/maya/permission "},
	} {
		m := Registered()
		delete(m.Permissions, without)
		s.SetManifest(m)
		for _, one := range calls {
			method, rest := cutTwice(one)
			resp, out := in.call(method+" "+rest[0], rest[1])
			require.Equal(t, 403, resp.StatusCode, "without %s: %s: %v", without, one, out)
		}
	}
	m := Registered()
	delete(m.Permissions, "issues")
	s.SetManifest(m)
	in.want(201, "POST /repos/acme/shop/issues/41/comments", `{"body":"the right to write pull requests is enough"}`)
	delete(m.Permissions, "pull_requests")
	s.SetManifest(m)
	require.Equal(t, "Resource not accessible by integration", in.want(403, "POST /repos/acme/shop/issues/41/comments", `{"body":"x"}`)["message"])
	in.want(403, "GET /repos/acme/shop/pulls/41", "")
	m.Permissions["pull_requests"] = "read"
	s.SetManifest(m)
	in.want(200, "GET /repos/acme/shop/pulls/41", "")
	in.want(403, "POST /repos/acme/shop/issues/41/labels", `["bug"]`)
}

func cutTwice(s string) (string, [2]string) {
	var method, path string
	_, _ = fmt.Sscan(s, &method, &path)
	return method, [2]string{path, s[len(method)+len(path)+2:]}
}

func TestATokenIsGoodForWhatItWasMadeFor(t *testing.T) {
	s := start(t, Config{})
	app := asJWTHolder(t, s, http.DefaultTransport)
	at := "POST /app/installations/5001/access_tokens"
	in := api{t: t, s: s, client: http.DefaultClient}
	token := app.want(201, at, `{"repositories":["api"],"permissions":{"pull_requests":"read","metadata":"read"}}`)["token"].(string)
	in.header = http.Header{"Authorization": {"token " + token}}
	in.want(200, "GET /repos/acme/api/pulls/7", "")
	in.want(403, "POST /repos/acme/api/issues/7/comments", `{"body":"x"}`)
	in.want(403, "POST /repos/acme/shop/issues/41/comments", `{"body":"x"}`)
	require.InDelta(t, 1, in.want(200, "GET /installation/repositories", "")["total_count"], 0)
	app.want(422, at, `{"permissions":{"contents":"write"}}`)
	app.want(422, at, `{"repositories":["ledger"]}`)
	app.want(404, "POST /app/installations/77/access_tokens", "")
}

func TestLimitsAreToldAndHeld(t *testing.T) {
	now := time.Now()
	s := start(t, Config{Now: func() time.Time { return now }})
	in := asTokenHolder(t, s, nil)
	resp, _ := in.call("GET /repos/acme/shop/pulls/41", "")
	require.Equal(t, "5000", resp.Header.Get("X-Ratelimit-Limit"))
	require.Equal(t, "core", resp.Header.Get("X-Ratelimit-Resource"))
	require.Equal(t, plus(t, resp.Header.Get("X-Ratelimit-Used"), 1), func() string {
		resp, _ := in.call("GET /repos/acme/shop/pulls/41", "")
		return resp.Header.Get("X-Ratelimit-Used")
	}())
	l := DocumentedLimits()
	l.PerHour = 5
	s.SetLimits(l)
	for range 3 {
		resp, _ = in.call("GET /repos/acme/shop/pulls/41", "")
	}
	require.Equal(t, 403, resp.StatusCode)
	require.Equal(t, "0", resp.Header.Get("X-Ratelimit-Remaining"))
	now = now.Add(time.Hour)
	in = byClock(t, s, false)
	in.want(200, "GET /repos/acme/shop/pulls/41", "")

	l.Hour = 5 * time.Minute
	s.SetLimits(l)
	for range 5 {
		resp, _ = in.call("GET /repos/acme/shop/pulls/41", "")
	}
	require.Equal(t, 403, resp.StatusCode)
	now = now.Add(5 * time.Minute)
	in.want(200, "GET /repos/acme/shop/pulls/41", "")

	s.SetLimits(Limits{PerHour: 5000, Strict: true, ContentPerMinute: 3, ContentPerHour: 5, PointsPerMinute: 900})
	comment := func() *http.Response {
		resp, _ := in.call("POST /repos/acme/shop/issues/41/comments", `{"body":"x"}`)
		return resp
	}
	for range 3 {
		require.Equal(t, 201, comment().StatusCode)
	}
	resp = comment()
	require.Equal(t, 403, resp.StatusCode)
	require.Equal(t, "60", resp.Header.Get("Retry-After"))
	now = now.Add(time.Minute)
	require.Equal(t, 201, comment().StatusCode)
	require.Len(t, s.Comments(41), 4)
	resp = comment()
	require.Equal(t, "300", resp.Header.Get("Retry-After"), "what was refused counts, and the hour is full")

	require.Equal(t, 4, s.MostContent(time.Minute))
	require.Equal(t, 6, s.CallsByRoute()["POST /repos/{owner}/{repo}/issues/{number}/comments"])
}

func TestWhatIsNewIsNotSeenAtOnce(t *testing.T) {
	s := start(t, Config{})
	in := asTokenHolder(t, s, nil)
	s.NotYet(2)
	number, err := s.Open("Brand new", "will")
	require.NoError(t, err)
	at := fmt.Sprintf("GET /repos/acme/shop/pulls/%d", number)
	in.want(404, at, "")
	in.want(404, at, "")
	in.want(200, at, "")
	id := num(in.want(201, "POST /repos/acme/shop/issues/41/comments", `{"body":"x"}`)["id"])
	in.want(404, "PATCH /repos/acme/shop/issues/comments/"+id, `{"body":"y"}`)
	in.want(404, "PATCH /repos/acme/shop/issues/comments/"+id, `{"body":"y"}`)
	in.want(200, "PATCH /repos/acme/shop/issues/comments/"+id, `{"body":"y"}`)
}

func TestOldDeliveriesAreForgottenAndPagesHaveACursor(t *testing.T) {
	now := time.Now()
	s := start(t, Config{Now: func() time.Time { return now }, WebhookURL: "http://127.0.0.1:1/", WebhookSecret: secret})
	app := func() api { return byClock(t, s, true) }
	require.NoError(t, s.Label(41, "bug", "maya"))
	old := settled(t, s)[0].ID
	now = now.Add(72*time.Hour - time.Minute)
	for range 3 {
		require.NoError(t, s.Push(42, "maya"))
	}
	settled(t, s)
	first, more := app().call("GET /app/hook/deliveries?per_page=3", "")
	require.Len(t, more, 3)
	require.Contains(t, first.Header.Get("Link"), "cursor=v1_")
	rest := app().list(fmt.Sprintf("GET /app/hook/deliveries?per_page=3&cursor=v1_%s", num(more.([]any)[2].(object)["id"])))
	require.Equal(t, itoa(old), num(rest[0].(object)["id"]))
	require.Len(t, app().list("GET /app/hook/deliveries?status=failure"), 4)
	require.Empty(t, app().list("GET /app/hook/deliveries?status=success"))
	app().want(400, "GET /app/hook/deliveries?cursor=what", "")
	now = now.Add(2 * time.Minute)
	require.Len(t, app().list("GET /app/hook/deliveries"), 3)
	app().want(404, "GET /app/hook/deliveries/"+itoa(old), "")
	app().want(422, "POST /app/hook/deliveries/"+itoa(old)+"/attempts", "")
}
