package api

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// grants remembers what was granted.
type grants []artifacts.Part

func (g *grants) Grant(_ context.Context, part artifacts.Part) (aws.Credentials, error) {
	*g = append(*g, part)
	return aws.Credentials{AccessKeyID: "ASIA1", SecretAccessKey: "secret", SessionToken: "session", Expires: noon}, nil
}

func TestARunnerIsGivenCredentialsForItsOwnPartOfTheBucket(t *testing.T) {
	var given grants
	h := fixtureWith(t, embedded(t), func(c *Config) { c.Grants = &given })
	cluster := h.accept("shop", "platform").ID
	h.step(cluster)
	open, bearer := h.attempt(cluster)
	r := &runner{h, open.Attempt, bearer}
	path := statusPath + "attempts/" + r.id
	answer, raw := h.ask(http.MethodPost, path+"/claim", bearer, contract.Claim{Pod: "pod-1"})
	require.Equal(t, http.StatusOK, answer.StatusCode)
	var claimed contract.Claimed
	require.NoError(t, json.Unmarshal(raw, &claimed))
	require.True(t, claimed.Spec.BucketGrant)

	answer, raw = h.ask(http.MethodPost, path+"/bucket-credentials", bearer, nil)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s", raw)
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	var got contract.BucketCredentials
	require.NoError(t, json.Unmarshal(raw, &got))
	require.Equal(t, []string{"ASIA1", "secret", "session"}, []string{got.AccessKeyID, got.SecretAccessKey, got.SessionToken})
	require.True(t, noon.Equal(got.ExpiresAt))
	require.Equal(t, grants{{Cluster: cluster, Attempt: r.id, Number: 1}}, given)

	another, err := h.tokens.Sign(r.id, "another-token-id", time.Now())
	require.NoError(t, err)
	h.refused(http.MethodPost, path+"/bucket-credentials", another, nil, http.StatusConflict)
	r.say("result", contract.Result{Outcome: "failed", Reason: "InstallFailed"})
	h.refused(http.MethodPost, path+"/bucket-credentials", bearer, nil, http.StatusConflict)
	require.Len(t, given, 1, "a closed attempt gets none")
}

func TestWithoutARoleTheRunnersOwnIdentityHasToDo(t *testing.T) {
	h, _, r := started(t)
	r.say("claim", contract.Claim{Pod: "pod-1"})
	p := h.refused(http.MethodPost, statusPath+"attempts/"+r.id+"/bucket-credentials", r.bearer, nil, http.StatusNotFound)
	require.Contains(t, p.Detail, "artifacts.runner_role is not set")
}
