package client

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
)

func TestARequestHasTheParametersThatHaveAValue(t *testing.T) {
	var sent *http.Request
	c := New("https://ocpctl.example.com/base/", func(r *http.Request) (*http.Response, error) {
		sent = r
		return &http.Response{}, nil
	})
	none := 0
	for name, one := range map[string]struct {
		send func() (*http.Response, error)
		want string
	}{
		"lists, texts and numbers": {func() (*http.Response, error) {
			return c.ListClusters(t.Context(), &v1.ListClustersParams{Status: []string{"READY", "FAILED"}, Team: "a&b", Live: true, Limit: 5})
		}, "/base/api/v1/clusters?limit=5&live=true&status=READY&status=FAILED&team=a%26b"},
		"no parameters": {func() (*http.Response, error) { return c.ListClusters(t.Context(), nil) }, "/base/api/v1/clusters"},
		"times": {func() (*http.Response, error) {
			return c.ListAudit(t.Context(), &v1.ListAuditParams{From: time.Date(2026, 3, 1, 18, 0, 0, 0, time.UTC)})
		}, "/base/api/v1/audit?from=2026-03-01T18%3A00%3A00Z"},
		"a zero that is meant": {func() (*http.Response, error) { return c.GetLogs(t.Context(), "shop", &v1.GetLogsParams{Lines: &none}) }, "/base/api/v1/clusters/shop/logs?lines=0"},
		"a path":               {func() (*http.Response, error) { return c.GetCluster(t.Context(), "a/b c") }, "/base/api/v1/clusters/a%2Fb%20c"},
	} {
		_, err := one.send()
		require.NoError(t, err, name)
		require.Equal(t, one.want, sent.URL.RequestURI(), name)
		require.Nil(t, sent.Body, name)
	}
	_, err := c.ExtendCluster(t.Context(), "shop", &v1.ExtendClusterParams{IfMatch: `"7"`}, v1.Extend{Hours: 4})
	require.NoError(t, err)
	body, err := io.ReadAll(sent.Body)
	require.NoError(t, err)
	require.JSONEq(t, `{"hours": 4}`, string(body))
	require.Equal(t, []string{http.MethodPost, `"7"`, "application/json"}, []string{sent.Method, sent.Header.Get("If-Match"), sent.Header.Get("Content-Type")})
	require.NotNil(t, sent.GetBody, "it can be sent again")
}
