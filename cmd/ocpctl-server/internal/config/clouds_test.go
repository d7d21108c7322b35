package config

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/secret"
)

func TestEachCloudHasAnAccountAndKeysOfItsOwn(t *testing.T) {
	cfg, err := read(t, sound+"account: \"123456789012\"\nclouds: {ibmcloud: {account: "+ibmAccount+", credentials_ref: file:/ibm}}\n")
	require.NoError(t, err)
	cfg.Runner.CloudCredsRef = "file:/keys"
	require.Equal(t, Cloud{Account: "123456789012", CredentialsRef: "file:/keys"}, cfg.Cloud("aws"))
	require.Equal(t, Cloud{Account: ibmAccount, CredentialsRef: "file:/ibm"}, cfg.Cloud("ibmcloud"))
	require.Empty(t, cfg.Cloud("gcp"))
	field, ref := cfg.CredentialsField("aws")
	require.Equal(t, []string{"runner.cloud_credentials_ref", "file:/keys"}, []string{field, ref})
	field, ref = cfg.CredentialsField("ibmcloud")
	require.Equal(t, []string{"clouds.ibmcloud.credentials_ref", "file:/ibm"}, []string{field, ref})

	cfg.Account, cfg.Runner.CloudCredsRef, cfg.Clouds.AWS = "", "", Cloud{Account: "210987654321", CredentialsRef: "file:/aws"}
	require.Equal(t, cfg.Clouds.AWS, cfg.Cloud("aws"))
	field, ref = cfg.CredentialsField("aws")
	require.Equal(t, []string{"clouds.aws.credentials_ref", "file:/aws"}, []string{field, ref})
}

func TestWhatIsWrongWithACloudIsTold(t *testing.T) {
	c := Defaults()
	c.Features.IBMCloud, c.Account = true, ibmAccount
	c.Clouds = Clouds{AWS: Cloud{Account: "acme", CredentialsRef: "AKIACANARY"}, IBMCloud: Cloud{Account: "123456789012"}}
	var told []string
	for _, err := range c.checkClouds(Roles{WorkerRole}) {
		told = append(told, err.Error())
		require.NotContains(t, err.Error(), "CANARY")
	}
	require.Equal(t, []string{
		`clouds.aws.account is "acme"; give an AWS account's 12 digits, or omit it`,
		"clouds.aws.credentials_ref is not a reference; give a reference (" + secret.References + `) to the cloud's keys: {"aws_access_key_id": …, "aws_secret_access_key": …}, or omit it`,
		`clouds.ibmcloud.account is "123456789012"; give the id of an account on IBM Cloud, 32 digits and letters a-f (ibmcloud account show), or omit it`,
		`account is "` + ibmAccount + `"; give an AWS account's 12 digits, or omit it: another cloud's is set below clouds`,
		"clouds.aws.account and account are both set, and differ; they mean the same, so omit one",
		"features.ibm_cloud is on, and clouds.ibmcloud.credentials_ref is empty; give a reference (" + secret.References + `) to {"ibmcloud_api_key": …}: the installer works with an API key alone`,
	}, told)
	require.Len(t, c.checkClouds(Roles{HooksRole}), len(told)-1, "webhooks need no keys")
}
