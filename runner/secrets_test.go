package runner_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// keep puts a secret into a file and returns its reference.
func (w *world) keep(name, value string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	require.NoError(w.t, os.WriteFile(path, []byte(value), 0o600))
	return "file:" + path
}

const cloudKeys = `{"aws_access_key_id":"AKIACANARYCANARY1234","aws_secret_access_key":"CANARY-cloud-secret"}`

// everythingReported is what others could see of an attempt: what it said, what it started and what it left.
func (w *world) everythingReported() map[string]string {
	w.t.Helper()
	got, err := json.Marshal([]any{w.records, w.reports, w.results, w.demands, w.spec})
	require.NoError(w.t, err)
	return map[string]string{
		"what the server was told": string(got), "the runner's log": w.log.String(), "the attempt's log": readFile(w.t, filepath.Join(w.cfg.WorkDir, "attempt.log")),
		"arguments": readFile(w.t, filepath.Join(w.dir, "calls")), "environments": readFile(w.t, filepath.Join(w.dir, "environ")),
		"the bucket outside operate/": publicObjects(w.t, w),
	}
}

func TestSecretsComeByReferenceAndAreSeenByNobody(t *testing.T) {
	private, public := sshKey(t, "")
	w := manual(t, contract.KindCreate)
	w.spec.CloudCredentialsRef = w.keep("cloud-keys", cloudKeys)
	w.spec.SSHKey, w.spec.SSHKeyRef = "", w.keep("ssh-key", private)
	w.on("manifests", `stat -c %a "$AWS_SHARED_CREDENTIALS_FILE" >"$D/mode"; cp "$AWS_SHARED_CREDENTIALS_FILE" "$D/seen-credentials"`)
	w.on("create", `for word in CANARY-cloud-secret CANARY-signer-key; do say "this is $word"; done; cat "$D/ssh-key" >&2`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)

	require.Equal(t, "600\n", readFile(t, filepath.Join(w.dir, "mode")))
	require.Equal(t, "[default]\naws_access_key_id = AKIACANARYCANARY1234\naws_secret_access_key = CANARY-cloud-secret\n", readFile(t, filepath.Join(w.dir, "seen-credentials")))
	require.Equal(t, "CANARY-cloud-secret", w.keys.Secret.Reveal(), "our own questions are asked with the same keys")
	require.Contains(t, readFile(t, filepath.Join(w.dir, "seen-install-config.yaml")), public)
	require.JSONEq(t, pullSecret, readFile(t, filepath.Join(w.dir, "seen-registry.json")))

	secrets := []string{
		"CANARY-cloud-secret", "AKIACANARYCANARY1234", "CANARY-pull", "Q0FOQVJZOkNBTkFSWS1wdWxs", "CANARY-kubeadmin-password", "CANARY-client-key",
		"CANARY-signer-key", s3test.SecretKey, strings.Split(private, "\n")[1],
	}
	for where, text := range w.everythingReported() {
		for _, each := range secrets {
			require.NotContains(t, text, each, where)
		}
	}
	require.Contains(t, w.logText(), "this is [redacted]")
	require.NotContains(t, readFile(t, filepath.Join(w.dir, "environ")), "AWS_ACCESS_KEY_ID")
}

// sshKey makes a key pair: the private half in PEM, locked with a passphrase where one is given, and the public one.
func sshKey(t *testing.T, passphrase string) (private, public string) {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(key, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(passphrase))
	}
	require.NoError(t, err)
	half, err := ssh.NewPublicKey(pub)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(block)), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(half)))
}

func TestWithoutAReferenceTheRunnersLastingKeysReachTheInstallerAsAFile(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("manifests", `cp "$AWS_SHARED_CREDENTIALS_FILE" "$D/seen-credentials"`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	require.Contains(t, readFile(t, filepath.Join(w.dir, "seen-credentials")), s3test.SecretKey)
	environ := readFile(t, filepath.Join(w.dir, "environ"))
	require.NotContains(t, environ, s3test.SecretKey)
	require.NotContains(t, environ, "AWS_ACCESS_KEY_ID")
}

func TestAnIdentityThatRenewsItselfIsHandedOnAsItIs(t *testing.T) {
	w := manual(t, contract.KindCreate)
	w.own(cloud.Keys{})
	w.cfg.Env = []string{"PATH=" + os.Getenv("PATH"), "OCPCTL_STANDIN_DIR=" + w.dir, "AWS_ROLE_ARN=arn:aws:iam::123456789012:role/runner", "AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/token"}
	w.on("create", `true`)
	// The script prints a key from the file, which is not there now.
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	environ := readFile(t, filepath.Join(w.dir, "environ"))
	require.Contains(t, environ, "AWS_ROLE_ARN=arn:aws:iam::123456789012:role/runner")
	require.Contains(t, environ, "AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/token")
	require.NotContains(t, environ, "AWS_SHARED_CREDENTIALS_FILE")
	require.True(t, w.keys.Empty())
}

func TestMintWantsKeysThatLast(t *testing.T) {
	temporary := cloud.Keys{ID: "ASIA1", Secret: secret.New("CANARY"), Token: secret.New("CANARY-token")}
	for name, c := range map[string]struct {
		mode string
		keys cloud.Keys
		want string // reason; empty: it succeeds
	}{
		"temporary keys": {"Mint", temporary, "TemporaryCredentials"},
		"a role":         {"Mint", cloud.Keys{}, "TemporaryCredentials"},
		"with Manual":    {"Manual", temporary, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, contract.KindCreate)
			w.spec.CredentialsMode = c.mode
			w.own(c.keys)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, c.want, w.result().Reason)
			if c.want != "" {
				require.Equal(t, contract.WhoseOurs, w.result().Whose)
				require.Contains(t, w.result().Next, "clouds.aws.credentials_ref")
				require.False(t, w.did("installer:"))
			}
		})
	}
}

func TestASecretThatCannotBeUsedEndsTheCreateBeforeAnythingIsMade(t *testing.T) {
	locked, _ := sshKey(t, "CANARY-passphrase")
	for name, c := range map[string]struct {
		spoil        func(w *world)
		reason, want string
		retryable    bool
	}{
		"no pull secret":       {func(w *world) { w.spec.PullSecretRef = "file:/no/such" }, "SecretMissing", "the pull secret could not be read", false},
		"an empty pull secret": {func(w *world) { w.spec.PullSecretRef = w.keep("empty", "\n") }, "SecretMissing", "is empty", false},
		"no cloud credentials": {func(w *world) { w.spec.CloudCredentialsRef = "file:/no/such" }, "SecretMissing", "the cloud credentials could not be read", false},
		"half the credentials": {func(w *world) { w.spec.CloudCredentialsRef = w.keep("half", `{"aws_access_key_id":"CANARY"}`) }, "InvalidCloudCredentials", "no string aws_secret_access_key", false},
		"a manager away": {func(w *world) {
			t.Setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", "http://127.0.0.1:1")
			t.Setenv("AWS_MAX_ATTEMPTS", "1")
			w.spec.CloudCredentialsRef = "aws-sm:prod/cloud"
		}, "SecretMissing", `"aws-sm:prod/cloud"`, true},
		"no ssh key":     {func(w *world) { w.spec.SSHKey, w.spec.SSHKeyRef = "", "file:/no/such" }, "SecretMissing", "the SSH key could not be read", false},
		"a locked key":   {func(w *world) { w.spec.SSHKey, w.spec.SSHKeyRef = "", w.keep("locked", locked) }, "InvalidSSHKey", "protected by a passphrase", false},
		"a key of words": {func(w *world) { w.spec.SSHKey, w.spec.SSHKeyRef = "", w.keep("words", "CANARY-key") }, "InvalidSSHKey", "not a private key in PEM format", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, contract.KindCreate)
			c.spoil(w)
			require.NoError(t, w.run(t.Context()))
			result := w.result()
			require.Equal(t, c.reason, result.Reason)
			require.Contains(t, result.Message, c.want)
			require.Equal(t, contract.WhoseOurs, result.Whose)
			require.NotEmpty(t, result.Next)
			require.Equal(t, c.retryable, result.Retryable)
			require.Empty(t, w.records)
			require.False(t, w.did("installer: create cluster"))
			require.NotContains(t, result.Message+w.log.String()+w.logText(), "CANARY")
		})
	}
}

func TestWhatWasNoSecretYetWhenItWasPrintedIsNotKept(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("ignition", `say "making up CANARY-kubeadmin-password"`) // before anybody could read it from its file
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	kept := readFile(t, filepath.Join(w.cfg.WorkDir, "attempt.log"))
	require.Contains(t, kept, "making up [redacted]")
	require.Contains(t, kept, "Install complete!")
	require.NotContains(t, kept, "CANARY")
	client := s3test.Shared(t).Client()
	listed, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &w.spec.Bucket, Prefix: new("clusters/clu_1/create/")})
	require.NoError(t, err)
	at := slices.IndexFunc(listed.Contents, func(o types.Object) bool { return strings.HasSuffix(*o.Key, "-a3/create.log") })
	require.GreaterOrEqual(t, at, 0)
	raw, err := storeOf(t, w).Read(t.Context(), "s3://"+w.spec.Bucket+"/"+*listed.Contents[at].Key)
	require.NoError(t, err)
	require.Equal(t, kept, string(raw))
}

// AWS answers a wrong signature with the request it would have signed, header by header.
const repeatedRequest = "api error SignatureDoesNotMatch: The Canonical String for this request should have been\nPOST\nx-amz-security-token:CANARY-token\n"

func TestTheCloudsOwnWordsAreRedactedBeforeTheServerKeepsThem(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.verify = func(n int, t cloud.Target) contract.Pass {
		p := cleanPass(t)
		if n == 1 {
			p.Queries = []contract.Query{{Service: "iam", Call: "ListRoles", Err: repeatedRequest}}
			p.Leftovers = []contract.Leftover{{Type: "refused-query", ID: "iam:ListRoles", Name: "x", Free: repeatedRequest}}
		}
		return p
	}
	var said []byte
	w.hear = func(what string, _ int, body []byte) {
		if what == "report" {
			said = append(said, body...)
		}
	}
	require.NoError(t, w.run(t.Context()))
	require.Contains(t, string(said), "x-amz-security-token:[redacted]")
	require.NotContains(t, string(said), "CANARY")

	w = newWorld(t, contract.KindCreate)
	w.quotas = func(cloud.Plan) ([]contract.Quota, error) {
		return []contract.Quota{{Code: "L-1", Name: "things", Unknown: repeatedRequest}}, nil
	}
	require.NoError(t, w.run(t.Context()))
	require.Contains(t, w.demands[0].Quotas[0].Unknown, "x-amz-security-token:[redacted]")
}
