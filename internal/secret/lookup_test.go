package secret

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// manager is a Secrets Manager of one test: it speaks AWS's JSON protocol over real HTTP to the official SDK.
type manager struct {
	secrets map[string]string // by name or ARN; what begins with "binary:" is a binary one

	mu      sync.Mutex
	signed  []string // the Authorization headers
	refused string   // every question is answered with this code
}

// serve starts it and points the SDK's default chain at it.
func (m *manager) serve(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	for key, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "AKIADEMO", "AWS_SECRET_ACCESS_KEY": "demo", "AWS_REGION": "us-east-1",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(key, value)
	}
}

func (m *manager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.signed = append(m.signed, r.Header.Get("Authorization"))
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	var asked struct{ SecretId string }
	_ = json.NewDecoder(r.Body).Decode(&asked)
	value, known := m.secrets[asked.SecretId]
	code := m.refused
	switch {
	case r.Header.Get("X-Amz-Target") != "secretsmanager.GetSecretValue":
		code = "InvalidRequestException"
	case code == "" && !known:
		code = "ResourceNotFoundException"
	}
	if code != "" {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "Message": "not this one"})
		return
	}
	answer := map[string]any{"Name": asked.SecretId, "SecretString": value}
	if raw, binary := strings.CutPrefix(value, "binary:"); binary {
		answer = map[string]any{"Name": asked.SecretId, "SecretBinary": []byte(raw)}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

const inFrankfurt = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/pull-AbCdEf"

func TestASecretIsFoundInSecretsManager(t *testing.T) {
	m := &manager{secrets: map[string]string{
		"prod/pull": "CANARY", inFrankfurt: `{"dockerconfig":"CANARY-2","port":7}`, "prod/raw": "binary:CANARY-3",
	}}
	m.serve(t)
	for ref, want := range map[string]string{
		"aws-sm:prod/pull":                        "CANARY",
		"aws-sm:prod/raw":                         "CANARY-3",
		"aws-sm:" + inFrankfurt:                   `{"dockerconfig":"CANARY-2","port":7}`,
		"aws-sm:" + inFrankfurt + "#dockerconfig": "CANARY-2",
	} {
		found, err := Lookup(t.Context(), ref)
		require.NoError(t, err, ref)
		require.Equal(t, want, found.Reveal(), ref)
		last := m.signed[len(m.signed)-1]
		if strings.Contains(ref, "eu-central-1") {
			require.Contains(t, last, "/eu-central-1/secretsmanager/", "an ARN's own region is asked")
		} else {
			require.Contains(t, last, "/us-east-1/secretsmanager/")
		}
	}
}

func TestAFailedLookUpNamesTheReferenceAndNoValue(t *testing.T) {
	m := &manager{secrets: map[string]string{"object": `{"user":"CANARY","port":7}`, "plain": "CANARY", "list": `["CANARY"]`}}
	m.serve(t)
	for ref, want := range map[string]string{
		"aws-sm:none":          "ResourceNotFoundException",
		"aws-sm:object#nobody": `no string under the key "nobody"`,
		"aws-sm:object#port":   `no string under the key "port"`,
		"aws-sm:object#":       `no string under the key ""`,
		"aws-sm:plain#user":    "no JSON object",
		"aws-sm:list#user":     "no JSON object",
		"file:/no/such/file":   "no such file",
	} {
		found, err := Lookup(t.Context(), ref)
		require.ErrorContains(t, err, want, ref)
		require.ErrorContains(t, err, ref)
		require.NotContains(t, err.Error(), "CANARY")
		require.True(t, found.Empty())
	}
	m.refused = "AccessDeniedException"
	_, err := Lookup(t.Context(), "aws-sm:plain")
	require.ErrorContains(t, err, "AccessDeniedException")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Lookup(ctx, "aws-sm:plain")
	require.ErrorIs(t, err, context.Canceled)
}

func TestAFileIsItsContentWithoutTheFinalNewline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	for content, want := range map[string]string{"CANARY\n": "CANARY", "CANARY": "CANARY", "one\ntwo\n\n": "one\ntwo\n", "": ""} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		found, err := Lookup(t.Context(), "file:"+path)
		require.NoError(t, err)
		require.Equal(t, want, found.Reveal())
	}
}

func TestTheFormOfAReferenceIsCheckedWithoutLookingAnythingUp(t *testing.T) {
	for _, good := range []string{"file:/run/x", "aws-sm:prod/pull", "aws-sm:" + inFrankfurt, "aws-sm:prod/pull#key"} {
		require.NoError(t, Check(good), good)
	}
	for _, bad := range []string{"", "file:", "aws-sm:", "aws-sm:#key", "env:KEY", "/run/x", "CANARY"} {
		err := Check(bad)
		require.ErrorContains(t, err, "want file:/path, or aws-sm:<name or ARN", bad)
		_, err = Lookup(t.Context(), bad)
		require.Error(t, err, bad)
	}
}
