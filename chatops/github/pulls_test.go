package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// seen41 is a pull request in GraphQL's spelling.
const seen41 = `{"number":41,"state":"OPEN","merged":false,"isDraft":true,"isCrossRepository":true,"headRefOid":"abc","headRefName":"topic",
	"baseRefName":"main","authorAssociation":"FIRST_TIMER","updatedAt":"2026-11-20T12:00:00Z","author":{"__typename":"User","login":"will"},
	"labels":{"nodes":[{"name":"bug"},{"name":"ocp/aws-standard"}]}}`

func repository(name, pull string) string {
	return fmt.Sprintf(`{"nameWithOwner":%q,"databaseId":1001,"pullRequest":%s}`, name, pull)
}

// graph answers GraphQL with a text, whatever is asked.
func graph(t *testing.T, text string) (*Client, *graphRequest) {
	t.Helper()
	asked := &graphRequest{}
	a := answering(t, "", routes{"POST /graphql": func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(asked)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write([]byte(text))
	}})
	return speaking(t, a.URL, nil), asked
}

func TestAPullRequestIsSeenAsTheOtherCallTellsIt(t *testing.T) {
	bot := strings.Replace(seen41, `"User","login":"will"`, `"Bot","login":"dependabot"`, 1)
	merged := strings.NewReplacer(`"OPEN"`, `"MERGED"`, `"merged":false`, `"merged":true`, `{"__typename":"User","login":"will"}`, "null").Replace(seen41)
	c, _ := graph(t, `{"data":{"rateLimit":{"cost":1,"remaining":4999,"resetAt":"2026-11-20T13:00:00Z"},
		"p0":`+repository("acme/shop", seen41)+`,"p1":`+repository("acme/shop", bot)+`,"p2":`+repository("acme/storefront", merged)+`}}`)
	refs := []PullRef{{shop, 41}, {"Acme/Shop", 41}, {shop, 41}}
	looks, err := c.Pulls(t.Context(), 7, refs)
	require.NoError(t, err)
	want := PullRequest{
		Repo: shop, Number: 41, Open: true, Draft: true, Fork: true, Labels: []string{"bug", "ocp/aws-standard"}, Author: "will", Association: "FIRST_TIMER",
		Head: "abc", HeadRef: "topic", Base: "main", RepoID: 1001, UpdatedAt: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
	}
	require.Equal(t, PullLook{PullRef: refs[0], PR: want}, looks[0])
	want.Author = "dependabot[bot]"
	require.Equal(t, PullLook{PullRef: refs[1], PR: want}, looks[1], "another case is no other name")
	want.Repo, want.Author, want.Open, want.Merged = "acme/storefront", "", false, true
	require.Equal(t, PullLook{PullRef: refs[2], PR: want, RenamedTo: "acme/storefront"}, looks[2])
}

func TestANameThatNoRepositoryCanHaveHoldsUpNoOther(t *testing.T) {
	c, asked := graph(t, `{"data":{"p1":`+repository(shop, seen41)+`}}`)
	looks, err := c.Pulls(t.Context(), 7, []PullRef{{"repository/~900", 41}, {shop, 41}})
	require.NoError(t, err)
	require.ErrorIs(t, looks[0].Err, ErrRefused)
	require.False(t, looks[0].Gone)
	require.Equal(t, "will", looks[1].PR.Author)
	require.NotContains(t, asked.Query, "p0:")

	*asked = graphRequest{}
	looks, err = c.Pulls(t.Context(), 7, []PullRef{{"repository/~900", 41}})
	require.NoError(t, err)
	require.Error(t, looks[0].Err)
	require.Empty(t, asked.Query, "nothing is asked")
}

func TestOnlyGitHubsOwnNotFoundIsGone(t *testing.T) {
	for name, f := range map[string]struct {
		data, errors string
		gone         bool
		text         string
	}{
		"no repository":         {`null`, `{"type":"NOT_FOUND","path":["p0"],"message":"Could not resolve to a Repository"}`, true, ""},
		"no pull request":       {repository(shop, "null"), `{"type":"NOT_FOUND","path":["p0","pullRequest"],"message":"Could not resolve to a PullRequest"}`, true, ""},
		"forbidden":             {`null`, `{"type":"FORBIDDEN","path":["p0"],"message":"Resource not accessible by integration"}`, false, "Resource not accessible"},
		"a list of addresses":   {`null`, `{"type":"FORBIDDEN","path":["p0"],"message":"Although you appear to have the correct authorization credentials, the acme organization has an IP allow list enabled"}`, false, "IP allow list"},
		"an error without kind": {`null`, `{"path":["p0"],"message":"Something went wrong while executing your query"}`, false, "Something went wrong"},
		"nothing and no error":  {`null`, ``, false, "only a part"},
		"a part and no error":   {repository(shop, "null"), ``, false, "only a part"},
		"another one":           {repository(shop, strings.Replace(seen41, ":41", ":42", 1)), ``, false, "only a part"},
		"something inside":      {repository(shop, seen41), `{"type":"NOT_FOUND","path":["p0","pullRequest","labels"],"message":"no labels"}`, false, "no labels"},
		"both":                  {`null`, `{"type":"NOT_FOUND","path":["p0"],"message":"x"},{"type":"FORBIDDEN","path":["p0"],"message":"no"}`, false, "FORBIDDEN: no"},
		"an odd answer":         {`"odd"`, ``, false, "read the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := graph(t, `{"data":{"p0":`+f.data+`,"p1":`+repository(shop, seen41)+`},"errors":[`+f.errors+`]}`)
			looks, err := c.Pulls(t.Context(), 7, []PullRef{{shop, 41}, {shop, 41}})
			require.NoError(t, err)
			require.Equal(t, f.gone, looks[0].Gone)
			require.Zero(t, looks[0].PR)
			if f.gone {
				require.NoError(t, looks[0].Err)
			} else {
				require.ErrorContains(t, looks[0].Err, "look at acme/shop#41")
				require.ErrorContains(t, looks[0].Err, f.text)
			}
			require.NoError(t, looks[1].Err, "one's trouble is not the other's")
			require.Equal(t, 41, looks[1].PR.Number)
		})
	}
}

func TestAnErrorOfTheWholeAnswerIsNobodysEnd(t *testing.T) {
	for name, text := range map[string]string{
		"an error of the query": `{"data":null,"errors":[{"message":"Something went wrong while executing your query"}]}`,
		"an error beside data":  `{"data":{"p0":null},"errors":[{"type":"NOT_FOUND","message":"somewhere"}]}`,
		"no data":               `{}`,
		"no JSON":               `<html>`,
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := graph(t, text)
			looks, err := c.Pulls(t.Context(), 7, []PullRef{{shop, 41}})
			require.ErrorContains(t, err, "look at 1 pull requests of installation 7")
			require.Empty(t, looks)
		})
	}
	a := answering(t, "", routes{"POST /graphql": complaining(502, "We couldn't respond to your request in time")})
	_, err := speaking(t, a.URL, nil).Pulls(t.Context(), 7, []PullRef{{shop, 41}})
	require.ErrorContains(t, err, "in time")
}

func TestALimitToldWithStatus200IsALimitOfLooksAlone(t *testing.T) {
	for _, kind := range []string{"RATE_LIMITED", "RATE_LIMIT"} {
		at := newClock()
		a := answering(t, "", routes{
			"POST /graphql": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-RateLimit-Remaining", "0")
				w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(at.at.Add(20*time.Minute).Unix(), 10))
				say(w, 200, map[string]any{"errors": []any{map[string]string{"type": kind, "message": "API rate limit exceeded for installation ID 7."}}})
			},
			"GET /repos/acme/shop/pulls/41": saying(200, pull41),
		})
		c := speaking(t, a.URL, func(cfg *Config) {
			cfg.Now = at.now
			cfg.Limited = func(context.Context, int64, time.Duration) { t.Error("writing is not limited by it") }
		})
		for range 2 {
			_, err := c.Pulls(t.Context(), 7, []PullRef{{shop, 41}})
			require.Equal(t, 20*time.Minute, waitOf(t, err))
		}
		require.Equal(t, 1, a.count("POST /graphql"))
		_, err := c.PullRequest(t.Context(), 7, shop, 41)
		require.NoError(t, err)
	}
}

func TestASecondaryLimitOfLooksIsToldToAll(t *testing.T) {
	heard := []notified(nil)
	a := answering(t, "", routes{"POST /graphql": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "40")
		say(w, 200, map[string]any{"errors": []any{map[string]string{"message": "You have exceeded a secondary rate limit."}}})
	}})
	c := speaking(t, a.URL, func(cfg *Config) {
		cfg.Limited = func(_ context.Context, in int64, d time.Duration) { heard = append(heard, notified{in, d}) }
	})
	_, err := c.Pulls(t.Context(), 7, []PullRef{{shop, 41}})
	require.Equal(t, 40*time.Second, waitOf(t, err))
	require.Equal(t, []notified{{7, 40 * time.Second}}, heard)
}

func TestALookIsNotTakenWhereTheNextWouldBeRefused(t *testing.T) {
	end := time.Now().Add(15 * time.Minute).UTC().Format(time.RFC3339)
	c, _ := graph(t, `{"data":{"rateLimit":{"cost":2,"remaining":1,"resetAt":"`+end+`"},"p0":`+repository(shop, seen41)+`}}`)
	looks, err := c.Pulls(t.Context(), 7, []PullRef{{shop, 41}})
	require.NoError(t, err)
	require.NoError(t, looks[0].Err)
	_, err = c.Pulls(t.Context(), 7, []PullRef{{shop, 41}})
	require.InDelta(t, (15 * time.Minute).Seconds(), waitOf(t, err).Seconds(), 3)
}

func TestNamesTravelAsVariables(t *testing.T) {
	c, asked := graph(t, `{"data":{}}`)
	refs := make([]PullRef, 100)
	for i := range refs {
		refs[i] = PullRef{fmt.Sprintf("acme/repo-%d", i), 40 + i}
	}
	looks, err := c.Pulls(t.Context(), 7, refs)
	require.NoError(t, err)
	require.Len(t, looks, 100)
	require.NotContains(t, asked.Query, "acme")
	require.Len(t, asked.Variables, 300)
	require.Equal(t, "repo-99", asked.Variables["n99"])
	require.InEpsilon(t, 139, asked.Variables["k99"], 0)
	for i, look := range looks {
		require.Equal(t, refs[i], look.PullRef)
		require.Error(t, look.Err, "nothing was said of it")
		require.False(t, look.Gone)
	}

	_, err = c.Pulls(t.Context(), 7, append(refs, PullRef{shop, 1}))
	require.ErrorContains(t, err, "want at most 100")
	looks, err = c.Pulls(t.Context(), 7, []PullRef{{`acme/x"){}`, 1}})
	require.NoError(t, err)
	require.ErrorContains(t, looks[0].Err, "want owner/name")
	looks, err = c.Pulls(t.Context(), 7, nil)
	require.NoError(t, err)
	require.Empty(t, looks)
}
