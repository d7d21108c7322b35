package github

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	gh "github.com/google/go-github/v66/github"
	"github.com/stretchr/testify/require"
)

func TestTheAppKnowsItselfAndItsInstallation(t *testing.T) {
	s := start(t, Config{})
	app, _, err := asApp(t, s).Apps.Get(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, int64(AppID), app.GetID())
	require.Equal(t, "ocpctl", app.GetSlug())

	all, _, err := asApp(t, s).Apps.ListInstallations(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, int64(5001), all[0].GetID())
	require.Equal(t, "acme", all[0].GetAccount().GetLogin())

	one, _, err := asApp(t, s).Apps.FindRepositoryInstallation(t.Context(), "acme", "shop")
	require.NoError(t, err)
	require.Equal(t, int64(5001), one.GetID())

	token, _, err := asApp(t, s).Apps.CreateInstallationToken(t.Context(), Installation, nil)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(token.GetToken(), "ghs_"))
	require.WithinDuration(t, time.Now().Add(time.Hour), token.GetExpiresAt().Time, 5*time.Second)
}

func TestOnlyAGoodJWTGetsAToken(t *testing.T) {
	s := start(t, Config{})
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	now := time.Now()
	good := jwt.Claims{Issuer: itoa(AppID), IssuedAt: jwt.NewNumericDate(now.Add(-time.Second)), Expiry: jwt.NewNumericDate(now.Add(time.Minute))}
	change := func(fn func(*jwt.Claims)) jwt.Claims { c := good; fn(&c); return c }
	for name, c := range map[string]struct {
		key    *rsa.PrivateKey
		claims jwt.Claims
		status int
		text   string
	}{
		"good":            {s.key.PrivateKey, good, 201, ""},
		"another's key":   {stranger, good, 401, "could not be decoded"},
		"another App":     {s.key.PrivateKey, change(func(c *jwt.Claims) { c.Issuer = "1" }), 401, "Integration not found"},
		"expired":         {s.key.PrivateKey, change(func(c *jwt.Claims) { c.Expiry = jwt.NewNumericDate(now.Add(-time.Second)) }), 401, "'exp'"},
		"good for an age": {s.key.PrivateKey, change(func(c *jwt.Claims) { c.Expiry = jwt.NewNumericDate(now.Add(time.Hour)) }), 401, "too far in the future"},
		"from the future": {s.key.PrivateKey, change(func(c *jwt.Claims) { c.IssuedAt = jwt.NewNumericDate(now.Add(30 * time.Second)) }), 401, "'iat'"},
		"without expiry":  {s.key.PrivateKey, change(func(c *jwt.Claims) { c.Expiry = nil }), 401, "'exp'"},
	} {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: c.key}, nil)
		require.NoError(t, err)
		raw, err := jwt.Signed(signer).Claims(c.claims).Serialize()
		require.NoError(t, err)
		status, message := call(t, "POST", s.URL()+"/app/installations/5001/access_tokens", "Bearer "+raw)
		require.Equal(t, c.status, status, name)
		require.Contains(t, message, c.text, name)
	}
	hs, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(strings.Repeat("k", 32))}, nil)
	require.NoError(t, err)
	raw, err := jwt.Signed(hs).Claims(good).Serialize()
	require.NoError(t, err)
	status, _ := call(t, "GET", s.URL()+"/app", "Bearer "+raw)
	require.Equal(t, 401, status, "only RS256 counts")
}

func call(t *testing.T, method, url, authorization string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	var body struct {
		Message string `json:"message"`
		Docs    string `json:"documentation_url"`
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&body))
	if resp.StatusCode >= 400 {
		require.NotEmpty(t, body.Docs)
	}
	return resp.StatusCode, body.Message
}

func TestCallsNeedATokenThatIsStillGood(t *testing.T) {
	now := time.Now()
	s := start(t, Config{Now: func() time.Time { return now }})
	url := s.URL() + "/repos/acme/shop"
	status, message := call(t, "GET", url+"/collaborators/maya/permission", "")
	require.Equal(t, 401, status)
	require.Equal(t, "Requires authentication", message)
	status, message = call(t, "POST", url+"/issues/41/comments", "")
	require.Equal(t, 401, status, "anybody may read a public repository, nobody may write unknown")
	require.Equal(t, "Requires authentication", message)
	status, _ = call(t, "GET", url, "")
	require.Equal(t, 200, status)
	status, message = call(t, "GET", url, "token ghs_made_up")
	require.Equal(t, 401, status)
	require.Equal(t, "Bad credentials", message)

	token, _, err := s.issueToken(grant{Installation: Installation})
	require.NoError(t, err)
	status, _ = call(t, "GET", url, "token "+token)
	require.Equal(t, 200, status)
	now = now.Add(time.Hour)
	status, _ = call(t, "GET", url, "token "+token)
	require.Equal(t, 401, status, "an hour is over")
}

func TestPullRequestsLookLikeGitHubs(t *testing.T) {
	s := start(t, Config{})
	client := asInstallation(t, s)
	require.NoError(t, s.Close(49, "maya"))

	closed, _, err := client.PullRequests.Get(t.Context(), "acme", "shop", 49)
	require.NoError(t, err)
	require.Equal(t, "closed", closed.GetState())
	require.NotNil(t, closed.ClosedAt)

	pr, _, err := client.PullRequests.Get(t.Context(), "acme", "shop", 45)
	require.NoError(t, err)
	require.Equal(t, "outsider/shop", pr.GetHead().GetRepo().GetFullName())
	require.True(t, pr.GetHead().GetRepo().GetFork())
	require.Equal(t, "acme/shop", pr.GetBase().GetRepo().GetFullName())
	require.Equal(t, int64(1001), pr.GetBase().GetRepo().GetID())
	require.Equal(t, "main", pr.GetBase().GetRef())
	require.Equal(t, s.URL()+"/acme/shop/pull/45", pr.GetHTMLURL())

	repo, _, err := client.Repositories.Get(t.Context(), "acme", "shop")
	require.NoError(t, err)
	require.Equal(t, "acme", repo.GetOwner().GetLogin())
	_, answer, err := client.PullRequests.Get(t.Context(), "acme", "shop", 7)
	require.Error(t, err)
	require.Equal(t, 404, answer.StatusCode)
	raw, err := json.Marshal(pr)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "Codertocat")
}

func TestCommentsAreWrittenByTheBotAndPaged(t *testing.T) {
	s := start(t, Config{})
	client := asInstallation(t, s)
	one, _, err := client.Issues.CreateComment(t.Context(), "acme", "shop", 41, &gh.IssueComment{Body: new("hello")})
	require.NoError(t, err)
	require.Equal(t, "ocpctl[bot]", one.GetUser().GetLogin())
	require.Equal(t, "Bot", one.GetUser().GetType())
	for range 4 {
		_, err := s.Comment(41, "more", "will")
		require.NoError(t, err)
	}

	var ids []int64
	opts := &gh.IssueListCommentsOptions{ListOptions: gh.ListOptions{PerPage: 2}}
	for {
		part, answer, err := client.Issues.ListComments(t.Context(), "acme", "shop", 41, opts)
		require.NoError(t, err)
		for _, c := range part {
			ids = append(ids, c.GetID())
		}
		if answer.NextPage == 0 {
			break
		}
		require.Equal(t, 3, answer.LastPage)
		opts.Page = answer.NextPage
	}
	require.Len(t, ids, 5)

	edited, _, err := client.Issues.EditComment(t.Context(), "acme", "shop", one.GetID(), &gh.IssueComment{Body: new("hello again")})
	require.NoError(t, err)
	require.Equal(t, "hello again", edited.GetBody())
	got, _, err := client.Issues.GetComment(t.Context(), "acme", "shop", one.GetID())
	require.NoError(t, err)
	require.Equal(t, "hello again", got.GetBody())
	require.NoError(t, s.DeleteComment(one.GetID(), Bot))
	_, answer, err := client.Issues.EditComment(t.Context(), "acme", "shop", one.GetID(), &gh.IssueComment{Body: new("x")})
	require.Error(t, err)
	require.Equal(t, 404, answer.StatusCode)
	_, answer, err = client.Issues.CreateComment(t.Context(), "acme", "shop", 41, &gh.IssueComment{Body: new(" ")})
	require.Error(t, err)
	require.Equal(t, 422, answer.StatusCode)
}

func TestLabelsAndReactions(t *testing.T) {
	s := start(t, Config{})
	client := asInstallation(t, s)
	labels, _, err := client.Issues.AddLabelsToIssue(t.Context(), "acme", "shop", 41, []string{"ocp/aws-standard", "new one"})
	require.NoError(t, err)
	require.Len(t, labels, 2)
	_, err = client.Issues.RemoveLabelForIssue(t.Context(), "acme", "shop", 41, "ocp/aws-standard")
	require.NoError(t, err)
	labels, _, err = client.Issues.ListLabelsByIssue(t.Context(), "acme", "shop", 41, nil)
	require.NoError(t, err)
	require.Equal(t, "new one", labels[0].GetName())
	answer, err := client.Issues.RemoveLabelForIssue(t.Context(), "acme", "shop", 41, "ocp/aws-standard")
	require.Error(t, err)
	require.Equal(t, 404, answer.StatusCode)

	id, err := s.Comment(41, "/ocp help", "will")
	require.NoError(t, err)
	_, answer, err = client.Reactions.CreateIssueCommentReaction(t.Context(), "acme", "shop", id, "eyes")
	require.NoError(t, err)
	require.Equal(t, 201, answer.StatusCode)
	_, answer, err = client.Reactions.CreateIssueCommentReaction(t.Context(), "acme", "shop", id, "eyes")
	require.NoError(t, err)
	require.Equal(t, 200, answer.StatusCode)
	_, answer, err = client.Reactions.CreateIssueCommentReaction(t.Context(), "acme", "shop", id, "thinking")
	require.Error(t, err)
	require.Equal(t, 422, answer.StatusCode)
	require.Equal(t, map[string][]string{"eyes": {Bot}}, s.find(id).Reactions)
}

func TestCheckRunsGoForwardOnly(t *testing.T) {
	s := start(t, Config{})
	client := asInstallation(t, s)
	pr, _ := s.PullRequest(41)
	output := &gh.CheckRunOutput{Title: new("t"), Summary: new("s")}
	run, _, err := client.Checks.CreateCheckRun(t.Context(), "acme", "shop", gh.CreateCheckRunOptions{Name: "ocpctl", HeadSHA: pr.HeadSHA, ExternalID: new("k"), Output: output})
	require.NoError(t, err)
	require.Equal(t, "queued", run.GetStatus())
	run, _, err = client.Checks.UpdateCheckRun(t.Context(), "acme", "shop", run.GetID(), gh.UpdateCheckRunOptions{Name: "ocpctl", Conclusion: new("failure")})
	require.NoError(t, err)
	require.Equal(t, "completed", run.GetStatus())
	run, _, err = client.Checks.UpdateCheckRun(t.Context(), "acme", "shop", run.GetID(), gh.UpdateCheckRunOptions{Name: "ocpctl", Status: new("in_progress")})
	require.NoError(t, err)
	require.Equal(t, "completed", run.GetStatus())

	_, _, err = client.Checks.CreateCheckRun(t.Context(), "acme", "shop", gh.CreateCheckRunOptions{Name: "ocpctl", HeadSHA: pr.HeadSHA})
	require.NoError(t, err)
	latest, _, err := client.Checks.ListCheckRunsForRef(t.Context(), "acme", "shop", pr.HeadRef, nil)
	require.NoError(t, err)
	require.Equal(t, 1, latest.GetTotal())
	all, _, err := client.Checks.ListCheckRunsForRef(t.Context(), "acme", "shop", pr.HeadSHA, &gh.ListCheckRunsOptions{Filter: new("all")})
	require.NoError(t, err)
	require.Equal(t, 2, all.GetTotal())
	require.Equal(t, "k", run.GetExternalID())

	for name, bad := range map[string]gh.CreateCheckRunOptions{
		"no such commit":           {Name: "x", HeadSHA: "main"},
		"completed without an end": {Name: "x", HeadSHA: pr.HeadSHA, Status: new("completed")},
		"a status of its own":      {Name: "x", HeadSHA: pr.HeadSHA, Status: new("stuck")},
	} {
		_, answer, err := client.Checks.CreateCheckRun(t.Context(), "acme", "shop", bad)
		require.Error(t, err, name)
		require.Equal(t, 422, answer.StatusCode, name)
	}
}

func TestPermissionsNameTheRole(t *testing.T) {
	s := start(t, Config{})
	client := asInstallation(t, s)
	for login, want := range map[string][2]string{"maya": {"write", "maintain"}, "will": {"write", "write"}, "rita": {"read", "read"}, "outsider": {"read", "read"}} {
		level, _, err := client.Repositories.GetPermissionLevel(t.Context(), "acme", "shop", login)
		require.NoError(t, err)
		require.Equal(t, want, [2]string{level.GetPermission(), level.GetRoleName()}, login)
	}
	_, answer, err := client.Repositories.GetPermissionLevel(t.Context(), "acme", "shop", "nobody")
	require.ErrorContains(t, err, "nobody is not a user")
	require.Equal(t, 404, answer.StatusCode)
}
