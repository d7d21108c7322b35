package platform

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

func content(p Platform, keys cloud.Keys, own ...string) string {
	_, content := p.KeyFile(own, keys)
	return content.Reveal()
}

func TestKeysBecomeASharedCredentialsFile(t *testing.T) {
	lasting, err := aws{}.ParseKeys(secret.New(`{"aws_access_key_id":"AKIA1","aws_secret_access_key":"CANARY/a+b","rotated":"yesterday"}`))
	require.NoError(t, err)
	require.False(t, lasting.Temporary())
	require.Equal(t, "[default]\naws_access_key_id = AKIA1\naws_secret_access_key = CANARY/a+b\n", content(aws{}, lasting))
	temporary, err := aws{}.ParseKeys(secret.New(`{"aws_access_key_id":"ASIA1","aws_secret_access_key":"CANARY","aws_session_token":"CANARY-token"}`))
	require.NoError(t, err)
	require.True(t, temporary.Temporary())
	require.Contains(t, content(aws{}, temporary), "aws_session_token = CANARY-token\n")
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", temporary, temporary, temporary), "CANARY")
	require.True(t, cloud.Keys{}.Empty())
}

func TestKeysThatCannotBeReadAreRefusedWithoutAValue(t *testing.T) {
	for name, c := range map[string]struct{ document, want string }{
		"no JSON":             {`CANARY`, `not of the form {"aws_access_key_id"`},
		"no object":           {`["CANARY"]`, "not of the form"},
		"no id":               {`{"aws_secret_access_key":"CANARY"}`, "no string aws_access_key_id"},
		"no secret":           {`{"aws_access_key_id":"AKIA1","secret":"CANARY"}`, "no string aws_secret_access_key"},
		"a number":            {`{"aws_access_key_id":"AKIA1","aws_secret_access_key":7}`, "not of the form"},
		"a line of its own":   {`{"aws_access_key_id":"AKIA1","aws_secret_access_key":"CANARY\nrole_arn = x"}`, "aws_secret_access_key of the cloud credentials contains a space or a line break"},
		"a token of two ends": {`{"aws_access_key_id":"AKIA1","aws_secret_access_key":"x","aws_session_token":"CANARY y"}`, "aws_session_token"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := aws{}.ParseKeys(secret.New(c.document))
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "CANARY")
		})
	}
}

func TestEveryProgramAssumesTheRoleItself(t *testing.T) {
	role := cloud.Role{ARN: "arn:aws:iam::210987654321:role/ocpctl", ExternalID: "the-id", Session: "ocpctl-clu_1"}
	const assumed = "[default]\nrole_arn = arn:aws:iam::210987654321:role/ocpctl\nexternal_id = the-id\nrole_session_name = ocpctl-clu_1\nduration_seconds = 3600\n"
	keys := cloud.Keys{ID: "AKIA1", Secret: secret.New("x"), Role: role}
	require.True(t, keys.Temporary(), "what it assumes expires")
	require.Equal(t, assumed+"source_profile = ocpctl\n[ocpctl]\naws_access_key_id = AKIA1\naws_secret_access_key = x\n", content(aws{}, keys))
	own := cloud.Keys{Role: role}
	web := []string{"AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/token", "AWS_ROLE_ARN=arn:aws:iam::123456789012:role/ocpctl-runner-create", "HOME=/home/me"}
	require.Equal(t, assumed+"source_profile = ocpctl\n[ocpctl]\nrole_arn = arn:aws:iam::123456789012:role/ocpctl-runner-create\nweb_identity_token_file = /var/run/token\nrole_session_name = ocpctl-clu_1\n",
		content(aws{}, own, web...))
	require.Equal(t, map[string]string{"AWS_EC2_METADATA_DISABLED": "true", "AWS_SHARED_CREDENTIALS_FILE": "/keys", "AWS_CONFIG_FILE": "/dev/null", "AWS_SDK_LOAD_CONFIG": "1"},
		aws{}.Environment(web, own, "/keys"), "else the programs would use the runner's own role")
	pod := []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://169.254.170.23/v1/credentials"}
	require.Contains(t, content(aws{}, own, pod...), assumed+"credential_source = EcsContainer\n")
	require.Contains(t, aws{}.Environment(pod, own, "/keys"), "AWS_CONTAINER_CREDENTIALS_FULL_URI")
	require.NotContains(t, aws{}.Environment(pod, keys, "/keys"), "AWS_CONTAINER_CREDENTIALS_FULL_URI")
}

func TestAnAPIKeyIsReadAndHandedOnInTheEnvironmentAlone(t *testing.T) {
	keys, err := ibmCloud{}.ParseKeys(secret.New(`{"ibmcloud_api_key":"CANARY-key"}`))
	require.NoError(t, err)
	require.False(t, keys.Empty())
	require.False(t, keys.Temporary())
	name, _ := ibmCloud{}.KeyFile(nil, keys)
	require.Empty(t, name)
	own := []string{"IBMCLOUD_API_KEY=CANARY-own", "IBMCLOUD_APIKEY=CANARY-own", "IBMCLOUD_IAM_APIKEY=CANARY-own", "IC_API_KEY=CANARY-own", "BM_API_KEY=CANARY-own", "IBMCLOUD_IAM_API_ENDPOINT=http://127.0.0.1:1", "AWS_ACCESS_KEY_ID=CANARY-bucket", "HOME=/root"}
	require.Equal(t, map[string]string{"IC_API_KEY": "CANARY-key", "IBMCLOUD_IAM_API_ENDPOINT": "http://127.0.0.1:1"}, ibmCloud{}.Environment(own, keys, ""),
		"neither another key nor the bucket's reaches the installer")
	require.Equal(t, map[string]string{"IBMCLOUD_IAM_API_ENDPOINT": "http://127.0.0.1:1"}, ibmCloud{}.Environment(own, cloud.Keys{}, ""),
		"without a reference there is no key")
	for _, document := range []string{`CANARY`, `{"ibmcloud_api_key":7}`, `{"apikey":"CANARY"}`, `{"ibmcloud_api_key":"CANARY x"}`} {
		_, err := ibmCloud{}.ParseKeys(secret.New(document))
		require.Error(t, err)
		require.NotContains(t, err.Error(), "CANARY")
	}
}

func TestTheCommandThatTestsAnAPIKeyReadsTheDocumentOfTheReference(t *testing.T) {
	document := `{"ibmcloud_api_key":"CANARY-key"}`
	_, err := ibmCloud{}.ParseKeys(secret.New(document))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "key.json")
	require.NoError(t, os.WriteFile(file, []byte(document), 0o600))
	bin := t.TempDir()
	for name, script := range map[string]string{
		"ibmcloud": "echo $1 with $IBMCLOUD_API_KEY",
		"jq":       `[ "$*" = "-r .ibmcloud_api_key key.json" ] && sed 's/.*:"//;s/".*//' key.json`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	}
	cmd := exec.Command("/bin/sh", "-c", ibmCloud{}.TestCredentials())
	cmd.Dir, cmd.Env = filepath.Dir(file), []string{"PATH=" + bin + ":/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "login with CANARY-key\naccount with\n", string(out))
}

func TestKeysOfAnotherPlatformAreHandedToNoProgram(t *testing.T) {
	require.NotContains(t, aws{}.Environment([]string{"IC_API_KEY=CANARY", "AWS_REGION=us-east-1"}, cloud.Keys{}, ""), "IC_API_KEY")
}

func TestAnUnknownPlatformIsRefused(t *testing.T) {
	_, err := Of("azure")
	require.EqualError(t, err, `there is no platform "azure"; known: aws, ibmcloud, kubernetes`)
}

func TestTheRunnersFilesAreFoundUnderItsOwnHome(t *testing.T) {
	own := []string{"HOME=/home/me", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=CANARY", "AWS_PROFILE=x"}
	require.Equal(t, map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "CANARY", "AWS_PROFILE": "x", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_SHARED_CREDENTIALS_FILE": "/home/me/.aws/credentials", "AWS_CONFIG_FILE": "/home/me/.aws/config",
	}, aws{}.Environment(own, cloud.Keys{}, ""))
	require.Equal(t, map[string]string{
		"AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "AWS_SHARED_CREDENTIALS_FILE": "/work/keys", "AWS_CONFIG_FILE": "/dev/null",
	}, aws{}.Environment(own, cloud.Keys{}, "/work/keys"), "with a file of keys, nothing else gives any")
}
