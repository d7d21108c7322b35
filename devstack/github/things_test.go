package github

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/replymail"
)

func TestLabelsOfTheRepositoryAreKeptAsGitHubKeepsThem(t *testing.T) {
	s := start(t, Config{})
	in := asTokenHolder(t, s, nil)
	at := "/repos/acme/shop/labels"
	code := func(out object) any { return out["errors"].([]any)[0].(object)["code"] }
	in.want(201, "POST "+at, `{"name":"ocp-ttl/8","color":"0e8a16","description":"eight hours"}`)
	require.Equal(t, "already_exists", code(in.want(422, "POST "+at, `{"name":"OCP-TTL/8","color":"0e8a16"}`)))
	require.Equal(t, "missing_field", code(in.want(422, "POST "+at, `{"color":"0e8a16"}`)))
	require.Equal(t, "invalid", code(in.want(422, "POST "+at, `{"name":"x","color":"#0e8a16"}`)), "no leading #")
	in.want(422, "POST "+at, `{"name":"x","description":"`+strings.Repeat("x", 101)+`"}`)
	in.want(422, "POST "+at, `{"name":"`+strings.Repeat("x", 51)+`"}`)

	in.call("POST /repos/acme/shop/issues/41/labels", `["ocp-ttl/8"]`)
	in.want(422, "PATCH "+at+"/ocp-ttl%2F8", `{"new_name":"bug"}`)
	in.want(200, "PATCH "+at+"/ocp-ttl%2F8", `{"new_name":"ocp-ttl/9"}`)
	pr, _ := s.PullRequest(41)
	require.Equal(t, []string{"ocp-ttl/9"}, pr.Labels)
	in.want(404, "PATCH "+at+"/ocp-ttl/8", `{"new_name":"x"}`) // GitHub takes a slash as it is, too

	require.Equal(t, "Label does not exist", in.want(404, "DELETE /repos/acme/shop/issues/41/labels/bug", "")["message"])
	require.Equal(t, "Not Found", in.want(404, "DELETE /repos/acme/shop/issues/4100/labels/bug", "")["message"])
	in.want(404, "POST /repos/acme/shop/issues/4100/labels", `["bug"]`)
}

func TestAFileIsReadAtARefAndCostsNothingWhenItIsKnown(t *testing.T) {
	s := start(t, Config{})
	in := asTokenHolder(t, s, nil)
	at := "/repos/acme/shop/contents/.github/ocpctl.yaml"
	in.want(404, "GET "+at, "")
	content := strings.Repeat("default: aws-standard\n", 20)
	require.NoError(t, s.Commit(".github/ocpctl.yaml", content))
	require.NoError(t, s.PushFile(41, ".github/ocpctl.yaml", "default: other\n", "will"))
	pr, _ := s.PullRequest(41)

	one := in.want(200, "GET "+at, "")
	require.Equal(t, "base64", one["encoding"])
	lines := strings.Split(one["content"].(string), "\n")
	require.Len(t, lines[0], 60)
	raw, err := base64.StdEncoding.DecodeString(strings.Join(lines, ""))
	require.NoError(t, err)
	require.Equal(t, content, string(raw))
	require.Equal(t, blobID(content), one["sha"])
	require.NotEqual(t, one["sha"], in.want(200, "GET "+at+"?ref="+pr.HeadSHA, "")["sha"])
	require.NotEqual(t, one["sha"], in.want(200, "GET "+at+"?ref="+pr.HeadRef, "")["sha"])
	require.Contains(t, in.want(404, "GET "+at+"?ref=nowhere", "")["message"], "No commit found")
	require.Len(t, in.list("GET /repos/acme/shop/contents/.github"), 1)

	resp, _ := in.call("GET "+at, "")
	used := resp.Header.Get("X-Ratelimit-Used")
	in.header = http.Header{"If-None-Match": {resp.Header.Get("ETag")}}
	resp, _ = in.call("GET "+at, "")
	require.Equal(t, 304, resp.StatusCode)
	in.header = nil
	resp, _ = in.call("GET "+at, "")
	require.Equal(t, plus(t, used, 1), resp.Header.Get("X-Ratelimit-Used"), "what was known was free")
	in.header = http.Header{"If-None-Match": {resp.Header.Get("ETag")}}
	require.NoError(t, s.Commit(".github/ocpctl.yaml", "changed"))
	resp, _ = in.call("GET "+at, "")
	require.Equal(t, 200, resp.StatusCode)

	files := in.list("GET /repos/acme/shop/pulls/41/files")
	require.Equal(t, ".github/ocpctl.yaml", files[0].(object)["filename"])
	require.Equal(t, "added", files[0].(object)["status"])
}

func plus(t *testing.T, n string, more int) string {
	t.Helper()
	var i int
	_, err := fmt.Sscan(n, &i)
	require.NoError(t, err)
	return fmt.Sprint(i + more)
}

func TestACheckRunTakesNoMoreThanGitHubTakes(t *testing.T) {
	s := start(t, Config{})
	in := asTokenHolder(t, s, nil)
	pr, _ := s.PullRequest(41)
	annotations := func(n int, one string) string {
		return `,"output":{"title":"t","summary":"s","annotations":[` + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + `]}`
	}
	good := `{"path":"a","start_line":1,"end_line":1,"annotation_level":"warning","message":"m"}`
	action := func(label, text, id string) string {
		return `{"label":"` + label + `","description":"` + text + `","identifier":"` + id + `"}`
	}
	for name, c := range map[string]struct {
		more string
		want int
	}{
		"fifty annotations":                   {annotations(50, good), 201},
		"fifty-one":                           {annotations(51, good), 422},
		"an annotation of a level of its own": {annotations(1, strings.Replace(good, "warning", "error", 1)), 422},
		"an annotation at line 0":             {annotations(1, strings.Replace(good, `"start_line":1`, `"start_line":0`, 1)), 422},
		"three buttons":                       {`,"actions":[` + action("a", "b", "c") + "," + action("a", "b", "c") + "," + action("a", "b", "c") + "]", 201},
		"four buttons":                        {`,"actions":[` + strings.Repeat(action("a", "b", "c")+",", 3) + action("a", "b", "c") + "]", 422},
		"a long label":                        {`,"actions":[` + action(strings.Repeat("x", 21), "b", "c") + "]", 422},
		"a long description":                  {`,"actions":[` + action("a", strings.Repeat("x", 41), "c") + "]", 422},
		"a long identifier":                   {`,"actions":[` + action("a", "b", strings.Repeat("x", 21)) + "]", 422},
		"an address that is none":             {`,"details_url":"ocpctl"`, 422},
	} {
		resp, out := in.call("POST /repos/acme/shop/check-runs", `{"name":"ocpctl","head_sha":"`+pr.HeadSHA+`"`+c.more+`}`)
		require.Equal(t, c.want, resp.StatusCode, "%s: %v", name, out)
	}
	id := num(in.want(201, "POST /repos/acme/shop/check-runs", `{"name":"n","head_sha":"`+pr.HeadSHA+`"`+annotations(50, good)+`}`)["id"])
	in.want(200, "PATCH /repos/acme/shop/check-runs/"+id, `{"status":"in_progress"`+annotations(7, good)+`}`)
	require.Len(t, in.list("GET /repos/acme/shop/check-runs/"+id+"/annotations?per_page=100"), 57, "they add up")
	require.Contains(t, in.want(422, "POST /repos/acme/shop/check-runs", `{"name":"n","head_sha":"`+strings.Repeat("a", 40)+`"}`)["message"], "No commit found")
}

func TestTeamsAnswerWhoIsInThem(t *testing.T) {
	s := start(t, Config{})
	in := asTokenHolder(t, s, nil)
	require.Equal(t, "active", in.want(200, "GET /orgs/acme/teams/platform/memberships/maya", "")["state"])
	in.want(404, "GET /orgs/acme/teams/platform/memberships/will", "")
	in.want(404, "GET /orgs/acme/teams/nobody/memberships/maya", "")
	in.want(404, "GET /orgs/other/teams/platform/memberships/maya", "")
}

func TestAReplyByMailIsACommentWithWhatTheProgramAdds(t *testing.T) {
	s := start(t, Config{})
	answered, err := s.Comment(41, "Type `/ocp status`, or **wait**.", "will")
	require.NoError(t, err)
	for _, with := range replymail.Programs {
		id, err := s.ReplyByMail(answered, "Thanks.", with, "maya")
		require.NoError(t, err)
		body := s.find(id).Body
		require.True(t, strings.HasPrefix(body, "Thanks.\n"), with.Name)
		require.Contains(t, body, "/ocp status", with.Name)
	}
	_, err = s.ReplyByMail(1, "Thanks.", replymail.Programs[0], "maya")
	require.ErrorIs(t, err, errNotFound)
}
