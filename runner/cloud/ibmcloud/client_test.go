package ibmcloud_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud"
)

func TestTheAccountIsThatOfTheCredentials(t *testing.T) {
	s := newScene(t)
	for key, want := range map[string]string{"ours": account, "theirs": other} {
		got, err := s.as(t, key).Account(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := s.as(t, "CANARY").Account(t.Context())
	require.ErrorIs(t, err, cloud.ErrCredentials)
	require.ErrorContains(t, err, "BXNIM0415E: Provided API key could not be found. (400)")
	require.NotContains(t, err.Error(), "CANARY")
}

func TestATrustedProfileOfThePodIsEnoughForOurCalls(t *testing.T) {
	s := newScene(t)
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("pod-token"), 0o600))
	client, err := ibmcloud.New(t.Context(), region, cloud.Keys{}, s.env("IBMCLOUD_TRUSTED_PROFILE_ID=Profile-1", "IBMCLOUD_CR_TOKEN_FILENAME="+token))
	require.NoError(t, err)
	got, err := client.Account(t.Context())
	require.NoError(t, err)
	require.Equal(t, account, got)
	_, err = client.Found(t.Context(), s.target)
	require.NoError(t, err)
	problems, err := client.Preflight(t.Context(), s.target, nil, nil)
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Equal(t, "NoAPIKey", problems[0].Code, "but not for an install")
	require.Contains(t, problems[0].Next, "(clouds.ibmcloud.credentials_ref)")
	require.True(t, problems[0].Block)

	_, err = ibmcloud.New(t.Context(), region, cloud.Keys{}, s.env())
	require.ErrorIs(t, err, cloud.ErrCredentials)
	require.ErrorContains(t, err, "IBMCLOUD_TRUSTED_PROFILE_ID")
}

// IAM's answers decide whether the credentials are wrong, expired or only not answered for.
func TestRefusedCredentialsAreToldFromAnIAMThatIsUnwell(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   error
	}{
		"unknown key":       {http.StatusBadRequest, `{"errorCode":"BXNIM0415E","errorMessage":"Provided API key could not be found."}`, cloud.ErrCredentials},
		"expired key":       {http.StatusBadRequest, `{"errorCode":"BXNIM0499E","errorMessage":"The API key has expired."}`, cloud.ErrCredentialsExpired},
		"locked":            {http.StatusForbidden, `{"errorCode":"BXNIM0513E","errorMessage":"You are not authorized."}`, cloud.ErrCredentials},
		"unwell":            {http.StatusInternalServerError, `{"errorCode":"BXNIM0001E"}`, nil},
		"throttled":         {http.StatusTooManyRequests, `{}`, nil},
		"another address":   {http.StatusNotFound, `no such page`, nil},
		"no token":          {http.StatusOK, `{}`, nil},
		"token is no JWT":   {http.StatusOK, `{"access_token":"CANARY","expires_in":3600,"expiration":4102444800}`, nil},
		"token of nobody's": {http.StatusOK, `{"access_token":"e30.e30.e30","expires_in":3600,"expiration":4102444800}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			iam := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			t.Cleanup(iam.Close)
			env := func(name string) string {
				if strings.HasSuffix(name, "_API_ENDPOINT") {
					return iam.URL
				}
				return ""
			}
			client, err := ibmcloud.NewHurried(region, cloud.Keys{Secret: secret.New("key")}, env, time.Second)
			require.NoError(t, err)
			_, err = client.Account(t.Context())
			require.Error(t, err)
			require.NotContains(t, err.Error(), "CANARY")
			for _, kind := range []error{cloud.ErrCredentials, cloud.ErrCredentialsExpired} {
				if c.want == kind {
					require.ErrorIs(t, err, kind)
				} else {
					require.NotErrorIs(t, err, kind)
				}
			}
		})
	}
}

// A request for a token that ends with 404 must not look like a resource that does not exist.
func TestATokenThatIsNotFoundIsNoResourceThatIsGone(t *testing.T) {
	s := newScene(t)
	s.cluster(t, mine, myCCO, "shop")
	before := s.left()
	client, err := ibmcloud.NewHurried(region, cloud.Keys{Secret: secret.New("ours")}, s.env("IBMCLOUD_IAM_API_ENDPOINT="+s.Base()+"/nowhere"), time.Second)
	require.NoError(t, err)
	_, err = client.Remove(t.Context(), s.target)
	require.Error(t, err)
	_, err = client.Contested(t.Context(), s.target)
	require.Error(t, err)
	require.Equal(t, before, s.left())
}

func TestWhatWasThrottledIsRepeatedAndACreateThatFailedIsNot(t *testing.T) {
	s := newScene(t)
	s.Throttle("rc:create_resource_group", 2, 0)
	_, err := s.client.Prepare(t.Context(), s.target, myCCO)
	require.NoError(t, err)
	require.Equal(t, 3, s.Calls()["rc:create_resource_group"].Calls)

	s.Refuse("rc:create_resource_group", 1, standin.Lost)
	_, err = s.client.Prepare(t.Context(), s.target, "another")
	require.NoError(t, err, "it is there, whatever the answer was")
	require.Equal(t, 4, s.Calls()["rc:create_resource_group"].Calls)

	s.Refuse("vpc:list_instances", 3, standin.Broken)
	_, err = s.client.Machines(t.Context(), s.target)
	require.NoError(t, err)
	require.Equal(t, 4, s.Calls()["vpc:list_instances"].Calls)
}
