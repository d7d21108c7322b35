package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// scanAPI remembers what a scan's runner says.
type scanAPI struct {
	mu     sync.Mutex
	spec   contract.ScanSpec
	seen   map[string]contract.SeenResource
	ended  map[string]string // why a part is incomplete, by part; empty: it is complete
	result chan contract.ScanResult
}

func (s *scanAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if filepath.Dir(r.URL.Path) != "/api/v1/status/scans/"+s.spec.Scan {
		w.WriteHeader(http.StatusConflict)
		return
	}
	answer := contract.Answer{Token: "renewed", Lease: time.Minute}
	var out any = answer
	switch filepath.Base(r.URL.Path) {
	case "claim":
		out = contract.ClaimedScan{Spec: s.spec, Answer: answer}
	case "report":
		var report contract.ScanReport
		_ = json.NewDecoder(r.Body).Decode(&report)
		if part := report.Part; part != nil {
			for _, one := range part.Resources {
				s.seen[one.ID] = one
			}
			if part.Last {
				s.ended[part.Name] = part.Err
			}
		}
	case "result":
		var result contract.ScanResult
		_ = json.NewDecoder(r.Body).Decode(&result)
		s.result <- result
	}
	_ = json.NewEncoder(w).Encode(out)
}

// As in the test of an attempt, everything but the server is the real thing.
func TestARunnerLooksThroughAnAccountAndSaysWhatItWasNotShown(t *testing.T) {
	require.Equal(t, contract.KindScan, dispatch.KindScan)
	world, binary := installertest.Start(t), build(t)
	keys := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(keys, []byte(`{"aws_access_key_id":"`+os.Getenv("AWS_ACCESS_KEY_ID")+`","aws_secret_access_key":"`+os.Getenv("AWS_SECRET_ACCESS_KEY")+`"}`), 0o600))
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another key: only the reference's opens the account")
	vpc, err := world.AWS.Plant(aws.Resource{Service: "ec2", Type: "vpc", Region: "us-east-2", Tags: map[string]string{"ClusterId": "clu_1"}})
	require.NoError(t, err)
	world.AWS.Refuse("us-west-2/*", -1, aws.DeniedBySCP)
	world.AWS.Throttle("DescribeSubnets", 1, 0)

	api := &scanAPI{seen: map[string]contract.SeenResource{}, ended: map[string]string{}, result: make(chan contract.ScanResult, 1), spec: contract.ScanSpec{
		Scan: "scn_1", Installation: "test", Platform: "aws", Account: world.AWS.Account(), HomeRegion: "us-east-1", CloudCredentialsRef: "file:" + keys,
		BaseDomains: []string{"labs.example.com"}, CallsPerSecond: 500, Heartbeat: time.Second,
	}}
	server := httptest.NewServer(api)
	defer server.Close()
	runners, err := dispatch.NewProcess(dispatch.Config{Runner: binary, Installers: t.TempDir(), WorkDir: t.TempDir(), StatusURL: server.URL})
	require.NoError(t, err)
	require.NoError(t, runners.Start(t.Context(), dispatch.Job{Attempt: "scn_1", Number: 1, Kind: dispatch.KindScan, Token: "first"}))
	var result contract.ScanResult
	select {
	case result = <-api.result:
	case <-time.After(time.Minute):
		require.Fail(t, "no result within a minute")
	}
	require.Eventually(t, func() bool {
		seen, err := runners.Observe(t.Context(), "scn_1")
		require.NoError(t, err)
		return seen.Sighting == dispatch.Ended
	}, 20*time.Second, 10*time.Millisecond)
	require.Equal(t, "succeeded", result.Outcome, result.Message)
	require.Equal(t, "PartsIncomplete", result.Reason)
	require.Equal(t, []string{"us-east-1", "us-east-2", "us-west-2"}, result.Regions)
	require.Positive(t, result.Slowed)
	require.Len(t, api.ended, 12)
	for part, err := range api.ended {
		if filepath.Dir(part) == "us-west-2" {
			require.Contains(t, err, "service control policy", part)
		} else {
			require.Empty(t, err, part)
		}
	}
	require.Contains(t, api.seen, "arn:aws:ec2:us-east-2:"+world.AWS.Account()+":vpc/"+vpc.ID)
	require.NoError(t, runners.Forget(t.Context(), "scn_1"))
}

// The stand-in refuses a role without the right external id as AWS does, and the proof says what the role needs.
func TestAProofOfARoleWithAnotherExternalIDIsRefused(t *testing.T) {
	world, binary := installertest.Start(t), build(t)
	keys := filepath.Join(t.TempDir(), "keys")
	role := assumedRole(t, world, keys)
	role.ExternalID = "another"
	api := &scanAPI{seen: map[string]contract.SeenResource{}, ended: map[string]string{}, result: make(chan contract.ScanResult, 1), spec: contract.ScanSpec{
		Scan: "prf_1", Installation: "test", Platform: "aws", Account: world.AWS.Account(), HomeRegion: "us-east-1", CloudCredentialsRef: "file:" + keys, CloudRole: role,
		Proof: true, BaseDomains: []string{"labs.example.com"}, CallsPerSecond: 500, Heartbeat: time.Second,
	}}
	server := httptest.NewServer(api)
	defer server.Close()
	runners, err := dispatch.NewProcess(dispatch.Config{Runner: binary, Installers: t.TempDir(), WorkDir: t.TempDir(), StatusURL: server.URL})
	require.NoError(t, err)
	require.NoError(t, runners.Start(t.Context(), dispatch.Job{Attempt: "prf_1", Number: 1, Kind: dispatch.KindScan, Token: "first"}))
	select {
	case result := <-api.result:
		require.Equal(t, []string{contract.ProofRefused, "RoleRefused"}, []string{result.Proof, result.Reason}, result.Message)
		require.Contains(t, result.Message, "not authorized to perform: sts:AssumeRole")
		require.Contains(t, result.Next, "with the external id another")
	case <-time.After(time.Minute):
		require.Fail(t, "no result within a minute")
	}
}
