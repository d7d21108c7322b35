package secret

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVariablesThatAreCredentialsOfIBMCloudAreKnownByTheirNames(t *testing.T) {
	for _, name := range []string{
		"IBMCLOUD_APIKEY", "IBMCLOUD_API_KEY", "IBMCLOUD_IAM_APIKEY", "IBMCLOUD_BEARER_TOKEN", "IBMCLOUD_PASSWORD", "IBMCLOUD_CLIENT_SECRET",
		"IC_API_KEY", "IC_IAM_TOKEN", "IC_IAM_REFRESH_TOKEN", "BM_API_KEY", "BLUEMIX_API_KEY",
	} {
		require.True(t, IBMVariable(name), name)
	}
	for _, name := range []string{
		"IBMCLOUD_IAM_API_ENDPOINT", "IBMCLOUD_LIMITS", "IBMCLOUD_TRUSTED_PROFILE_ID", "IBMCLOUD_CR_TOKEN_FILENAME", "APIKEY", "GITHUB_TOKEN", "AWS_SESSION_TOKEN",
	} {
		require.False(t, IBMVariable(name), name)
	}
}
