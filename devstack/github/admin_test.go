package github

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// post sends an order to the stand-in.
func order(t *testing.T, s *Server, path, body string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}

func TestFaultsAreSetOverHTTP(t *testing.T) {
	s, err := Start(t.Context(), Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	get := func(path string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+path, nil)
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	require.Equal(t, http.StatusOK, order(t, s, "/_standin/fail", `{"times":2,"status":403,"path":"/pulls/","method":"GET"}`))
	was := get("/repos/acme/shop/labels")
	require.Equal(t, []int{403, 403}, []int{get("/repos/acme/shop/pulls/41"), get("/repos/acme/shop/pulls/41")})
	require.NotEqual(t, 403, get("/repos/acme/shop/pulls/41"), "the third is answered")
	require.NotEqual(t, 403, was, "another route is")

	require.Equal(t, http.StatusOK, order(t, s, "/_standin/fail", `{"times":1,"status":429,"path":"/_actions/idtoken/","retry_after":"7"}`))
	require.Equal(t, 429, get("/_actions/idtoken/1"), "a job's token is refused, too")
	require.Equal(t, http.StatusOK, order(t, s, "/_standin/fail", `{"times":9,"status":500}`))
	require.Equal(t, http.StatusOK, order(t, s, "/_standin/lift", `{}`))
	require.NotEqual(t, 500, get("/repos/acme/shop/pulls/41"))
	for _, bad := range []string{`{"times":0,"status":403}`, `{"times":1,"status":200}`, `{"times":1,"status":403,"route":"/x"}`, `[]`} {
		require.Equal(t, http.StatusBadRequest, order(t, s, "/_standin/fail", bad), bad)
	}
	require.Equal(t, http.StatusOK, order(t, s, "/_standin/lose", `{"events":["pull_request.labeled"]}`))
	require.NoError(t, s.Label(41, "ocp/aws-standard", "will"))
	require.Equal(t, http.StatusOK, get("/_standin/faults"))
}
