package github

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ask sends a query and answers the whole body.
func (a api) ask(query string, vars object) object {
	a.t.Helper()
	body, err := json.Marshal(object{"query": query, "variables": vars})
	require.NoError(a.t, err)
	return a.want(200, "POST /graphql", string(body))
}

func TestAliasedPullRequestsAreAnsweredEachForItself(t *testing.T) {
	s := start(t, Config{})
	in := asTokenHolder(t, s, nil)
	require.NoError(t, s.Label(41, "ocp/aws-standard", "maya"))
	require.NoError(t, s.Merge(42, "maya"))
	require.NoError(t, s.Close(43, "maya"))
	require.NoError(t, s.Rename("store", "maya"))
	out := in.ask(`query($k: Int!) {
  rateLimit { cost remaining resetAt }
  p0: repository(owner: "acme", name: "shop") { nameWithOwner databaseId pullRequest(number: $k) { ...pull } }
  p1: repository(owner: "acme", name: "store") { pullRequest(number: 42) { state merged mergedAt } }
  p2: repository(owner: "acme", name: "store") { pullRequest(number: 43) { state } }
  p3: repository(owner: "acme", name: "store") { pullRequest(number: 45) { isCrossRepository authorAssociation headRepository { nameWithOwner isFork } } }
  p4: repository(owner: "acme", name: "store") { pullRequest(number: 999) { state } }
  p5: repository(owner: "acme", name: "ledger") { pullRequest(number: 1) { state } }
}
fragment pull on PullRequest { __typename number state isDraft headRefOid updatedAt author { __typename login } labels(first: 100) { nodes { name } totalCount } }`, object{"k": 41})
	data := out["data"].(object)
	pull := func(alias string) object { return data[alias].(object)["pullRequest"].(object) }
	require.Equal(t, "acme/store", data["p0"].(object)["nameWithOwner"], "renamings are followed")
	require.InDelta(t, RepoID, data["p0"].(object)["databaseId"], 0)
	one, _ := s.PullRequest(41)
	require.Equal(t, object{
		"__typename": "PullRequest", "number": 41.0, "state": "OPEN", "isDraft": false, "headRefOid": one.HeadSHA, "updatedAt": stamp(one.UpdatedAt),
		"author": object{"__typename": "User", "login": "will"},
		"labels": object{"nodes": []any{object{"name": "ocp/aws-standard"}}, "totalCount": 1.0},
	}, pull("p0"))
	require.Equal(t, "MERGED", pull("p1")["state"])
	require.NotNil(t, pull("p1")["mergedAt"])
	require.Equal(t, "CLOSED", pull("p2")["state"])
	require.Equal(t, object{
		"isCrossRepository": true, "authorAssociation": "CONTRIBUTOR", "headRepository": object{"nameWithOwner": "outsider/store", "isFork": true},
	}, pull("p3"))
	require.Nil(t, data["p4"].(object)["pullRequest"])
	require.Nil(t, data["p5"])
	problems := out["errors"].([]any)
	require.Len(t, problems, 2)
	first := problems[0].(object)
	require.Equal(t, "NOT_FOUND", first["type"])
	require.Equal(t, []any{"p4", "pullRequest"}, first["path"])
	require.Equal(t, "Could not resolve to a PullRequest with the number of 999.", first["message"])
	require.Equal(t, []any{"p5"}, problems[1].(object)["path"])
	require.Contains(t, problems[1].(object)["message"], "Could not resolve to a Repository with the name 'acme/ledger'.")
	require.InDelta(t, 1, data["rateLimit"].(object)["cost"], 0)
}

func TestAQueryIsHeldAgainstTheSchema(t *testing.T) {
	s := start(t, Config{})
	in := asTokenHolder(t, s, nil)
	message := func(query string) string {
		t.Helper()
		out := in.ask(query, nil)
		require.Nil(t, out["data"], query)
		return out["errors"].([]any)[0].(object)["message"].(string)
	}
	require.Contains(t, message(`{ repository(owner: "acme", name: "shop") { secrets } }`), "secrets")
	require.Contains(t, message(`{ repository(owner: "acme") { id } }`), "name")
	require.Contains(t, message(`{ repository(owner: "acme", name: "shop") }`), "selection")
	require.NotEmpty(t, message(`{`))
	require.NotEmpty(t, message(``))
	out := in.ask(`{ repository(owner: "acme", name: "shop") { pullRequest(number: 41) { labels { totalCount } } } }`, nil)
	require.Equal(t, "MISSING_PAGINATION_BOUNDARIES", out["errors"].([]any)[0].(object)["type"])
	out = in.ask(`{ repository(owner: "acme", name: "shop") { pullRequest(number: 41) { labels(first: 101) { totalCount } } } }`, nil)
	require.Equal(t, "EXCESSIVE_PAGINATION", out["errors"].([]any)[0].(object)["type"])

	m := Registered()
	delete(m.Permissions, "pull_requests")
	s.SetManifest(m)
	out = in.ask(`{ repository(owner: "acme", name: "shop") { name pullRequest(number: 41) { state } } }`, nil)
	require.Equal(t, "FORBIDDEN", out["errors"].([]any)[0].(object)["type"])
	require.Equal(t, "shop", out["data"].(object)["repository"].(object)["name"])

	l := DocumentedLimits()
	l.PerHour = 1
	s.SetLimits(l)
	out = in.ask(`{ rateLimit { remaining } }`, nil)
	require.Equal(t, "RATE_LIMITED", out["errors"].([]any)[0].(object)["type"])
	nobody := api{t: t, s: s, client: http.DefaultClient}
	resp, _ := nobody.call("POST /graphql", `{"query":"{ viewer { login } }"}`)
	require.Equal(t, 403, resp.StatusCode)
	require.Empty(t, strings.TrimSpace(resp.Header.Get("X-Ratelimit-Resource")))
}

func TestACommentIsMinimizedByItsNodeID(t *testing.T) {
	s := start(t, Config{})
	in := asTokenHolder(t, s, nil)
	id, err := s.Comment(41, "old words", "will")
	require.NoError(t, err)
	one := in.want(200, "GET /repos/acme/shop/issues/comments/"+itoa(id), "")
	minimize := func(node any, classifier string) object {
		return in.ask(`mutation($id: ID!, $why: ReportedContentClassifiers!) {
  minimizeComment(input: {subjectId: $id, classifier: $why, clientMutationId: "m1"}) { clientMutationId minimizedComment { isMinimized minimizedReason ... on IssueComment { databaseId } } }
}`, object{"id": node, "why": classifier})
	}
	out := minimize(one["node_id"], "OUTDATED")
	require.Nil(t, out["errors"])
	require.Equal(t, object{"minimizeComment": object{
		"clientMutationId": "m1", "minimizedComment": object{"isMinimized": true, "minimizedReason": "outdated", "databaseId": float64(id)},
	}}, out["data"])
	require.Equal(t, "outdated", s.Comments(41)[0].Minimized)

	first := func(out object) object { return out["errors"].([]any)[0].(object) }
	require.Equal(t, "NOT_FOUND", first(minimize("IC_nothing", "OUTDATED"))["type"])
	require.Contains(t, first(minimize(one["node_id"], "OLD"))["message"], "OLD")
	m := Registered()
	m.Permissions["pull_requests"] = "read"
	s.SetManifest(m)
	require.Equal(t, "FORBIDDEN", first(minimize(one["node_id"], "SPAM"))["type"])
	require.Equal(t, "outdated", s.Comments(41)[0].Minimized)
}
