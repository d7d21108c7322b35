package ibmcloud

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/vpc-go-sdk/vpcv1"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// known is a caller who has a token.
type known struct{ core.NoAuthAuthenticator }

func (known) GetToken() (string, error) { return "token", nil }

// Whoever may write a record can invent a host in it, which must not keep a teardown from what is ours.
func TestAHostInARegionThatDoesNotExistIsNobodys(t *testing.T) {
	status := http.StatusNotFound
	answers := transport(func(r *http.Request) (*http.Response, error) {
		require.Equal(t, "/v1/regions/zz-nowhere", r.URL.Path)
		body := io.NopCloser(strings.NewReader(`{"errors":[{"code":"not_found","message":"Region not found"}]}`))
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Request: r}, nil
	})
	c := &Client{auth: &known{}, web: &http.Client{Transport: answers}, vpcs: map[string]*vpcv1.VpcV1{}}
	region := regionOf("0a1b2c3d-zz-nowhere.lb.appdomain.cloud")
	require.Equal(t, "zz-nowhere", region)
	found, err := c.othersBalancers(t.Context(), []string{region}, ownerOf(cloud.Target{}))
	require.NoError(t, err)
	require.Empty(t, found)
	status = http.StatusForbidden
	_, err = c.othersBalancers(t.Context(), []string{region}, ownerOf(cloud.Target{}))
	require.ErrorContains(t, err, "(403)")
}
