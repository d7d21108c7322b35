package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/binaries"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/dispatch"
	runnerinstaller "github.com/ocpctl/ocpctl/runner/installer"
)

func TestMain(m *testing.M) { installertest.Main(m) }

// statusAPI remembers what a runner says.
type statusAPI struct {
	mu     sync.Mutex
	spec   contract.Spec
	facts  []contract.Report
	demand *contract.Demand
	record *contract.Record // the last
	result *contract.Result
	done   chan struct{}
}

func (s *statusAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.Contains(r.URL.Path, "/attempts/"+s.spec.Attempt+"/") {
		w.WriteHeader(http.StatusConflict)
		return
	}
	answer := contract.Answer{Token: "renewed", Lease: time.Minute}
	decoder, encoder := json.NewDecoder(r.Body), json.NewEncoder(w)
	switch filepath.Base(r.URL.Path) {
	case "claim":
		_ = encoder.Encode(contract.Claimed{Spec: s.spec, Answer: answer})
		return
	case "reserve":
		s.demand = &contract.Demand{}
		_ = decoder.Decode(s.demand)
		_ = encoder.Encode(contract.Reservation{Answer: answer})
		return
	case "record":
		s.record = &contract.Record{}
		_ = decoder.Decode(s.record)
	case "report":
		var report contract.Report
		_ = decoder.Decode(&report)
		s.facts = append(s.facts, report)
	case "result":
		s.result = &contract.Result{}
		_ = decoder.Decode(s.result)
		defer close(s.done)
	}
	_ = encoder.Encode(answer)
}

// begin opens the next attempt.
func (s *statusAPI) begin(spec contract.Spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spec, s.result, s.facts, s.done = spec, nil, nil, make(chan struct{})
}

// await waits for the attempt's result and the end of its process.
func (s *statusAPI) await(t *testing.T, d *dispatch.Process, attempt string) contract.Result {
	t.Helper()
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		require.Fail(t, "no result within a minute")
	}
	require.Eventually(t, func() bool {
		seen, err := d.Observe(t.Context(), attempt)
		require.NoError(t, err)
		return seen.Sighting == dispatch.Ended
	}, 20*time.Second, 10*time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.result
}

// build compiles the runner once per test that needs it.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, binaries.Build(t.Context(), dir, "cmd/ocpctl-runner"))
	return filepath.Join(dir, "ocpctl-runner")
}

// Everything but the server is the real thing here: the dispatcher starts the real runner, which talks to the stand-in of the cloud,
// a real S3 and the stand-in installer.
func TestARunnerCreatesAndAnotherRemovesEverything(t *testing.T) {
	binary := build(t)
	for _, mode := range []string{"Manual", "Mint", "Role"} {
		t.Run(mode, func(t *testing.T) { createAndRemove(t, binary, mode) })
	}
}

func createAndRemove(t *testing.T, binary, mode string) {
	world := installertest.Start(t)
	t.Setenv("OCPCTL_STANDIN_PACE", "5ms")
	t.Setenv("OCPCTL_STANDIN_FAULTS", world.Faults)
	installers, pull := t.TempDir(), filepath.Join(t.TempDir(), "pull-secret")
	version := installer.Versions()[0]
	require.NoError(t, os.Mkdir(filepath.Join(installers, version), 0o755))
	for _, program := range []string{"openshift-install", "ccoctl", "oc"} {
		require.NoError(t, os.Symlink(filepath.Join(filepath.Dir(world.Binary), program), filepath.Join(installers, version, program)))
	}
	keys := filepath.Join(t.TempDir(), "cloud-keys")
	require.NoError(t, os.WriteFile(keys, fmt.Appendf(nil, `{"aws_access_key_id":%q,"aws_secret_access_key":%q}`, s3test.AccessKey, s3test.SecretKey), 0o600))
	require.NoError(t, os.WriteFile(pull, []byte(installertest.PullSecret), 0o600))
	var role *contract.CloudRole
	credentials := mode
	if mode == "Role" { // the keys may only assume it, with the external id; the installer, ccoctl and the runner do that by themselves
		credentials, role = "Manual", assumedRole(t, world, keys)
	}
	api := &statusAPI{}
	server := httptest.NewServer(api)
	defer server.Close()
	work := t.TempDir()
	runners, err := dispatch.NewProcess(dispatch.Config{Runner: binary, Installers: installers, WorkDir: work, StatusURL: server.URL})
	require.NoError(t, err)

	spec := contract.Spec{
		Attempt: fmt.Sprintf("att_%d_create", os.Getpid()), Number: 1, Kind: contract.KindCreate, Cluster: "clu_shop", Job: "job_1",
		Installation: "test", Name: "shop", BaseDomain: "labs.example.com", Platform: "aws", Region: "us-east-1", Version: version,
		InstallConfig: installertest.InstallConfig("shop", "us-east-1", 2), Zones: []string{"us-east-1a"}, PullSecretRef: "file:" + pull,
		CredentialsMode: credentials, CloudCredentialsRef: "file:" + keys, CloudRole: role,
		Bucket: s3test.Bucket(t), Heartbeat: time.Second, CreateDeadline: time.Minute, DestroyDeadline: time.Minute,
		VerifyGap: 50 * time.Millisecond, SnapshotMaxAge: time.Hour,
	}
	api.begin(spec)
	require.NoError(t, runners.Start(t.Context(), job(spec)))
	created := api.await(t, runners, spec.Attempt)
	log, err := os.ReadFile(filepath.Join(work, spec.Attempt, "runner.log"))
	require.NoError(t, err)
	require.Equal(t, "succeeded", created.Outcome, created.Message+string(log))
	require.Equal(t, "https://api.shop.labs.example.com:6443", created.Outputs.APIURL)
	require.NotEmpty(t, world.Left(t, "shop"))
	require.Equal(t, world.AWS.Account(), api.demand.Account)
	require.NotEmpty(t, api.demand.Quotas)
	ours := []string{"shop"}
	if credentials == "Manual" {
		ours = append(ours, api.record.Identity.CCOName)
		require.NotEmpty(t, world.Left(t, api.record.Identity.CCOName))
	}
	require.Regexp(t, `^sha256:[0-9a-f]{64}$`, api.record.Identity.ReleaseDigest)
	require.Equal(t, world.AWS.Account(), api.record.Identity.Account)

	spec.Attempt, spec.Number, spec.Kind = fmt.Sprintf("att_%d_destroy", os.Getpid()), 2, contract.KindDestroy
	spec.Account, spec.Identities, spec.Snapshots = api.record.Identity.Account, []contract.Identity{api.record.Identity}, api.record.Snapshots
	api.begin(spec)
	require.NoError(t, runners.Start(t.Context(), job(spec)))
	destroyed := api.await(t, runners, spec.Attempt)
	require.Equal(t, "succeeded", destroyed.Outcome, destroyed.Message)
	require.Empty(t, world.Left(t, ours...))
	passes := 0
	for _, fact := range api.facts {
		if fact.Pass != nil {
			passes++
			require.True(t, fact.Pass.Clean)
			require.Contains(t, fact.Pass.Identities, api.record.Identity.InfraID)
		}
	}
	require.Equal(t, 2, passes)
	require.NoError(t, runners.Forget(t.Context(), spec.Attempt))
}

// assumedRole lets keys do nothing but assume a role, and returns that role.
func assumedRole(t *testing.T, world *installertest.World, keys string) *contract.CloudRole {
	t.Helper()
	t.Setenv("AWS_ENDPOINT_URL_STS", os.Getenv("AWS_ENDPOINT_URL")) // the SDK knows no other one before it has the role's credentials
	role := contract.CloudRole{ARN: "arn:aws:iam::" + world.AWS.Account() + ":role/team", ExternalID: "the-id"}
	user := aws.Caller{AccessKey: "AKIAONLYASSUMES", SecretKey: "only-assumes", ARN: "arn:aws:iam::" + world.AWS.Account() + ":user/ocpctl",
		Policy: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"` + role.ARN + `"}]}`}
	world.AWS.AddCaller(user)
	world.AWS.AddRole(aws.Role{Name: "team", Policy: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`,
		Trust: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + user.ARN + `"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:ExternalId":"the-id"}}}]}`})
	require.NoError(t, os.WriteFile(keys, fmt.Appendf(nil, `{"aws_access_key_id":%q,"aws_secret_access_key":%q}`, user.AccessKey, user.SecretKey), 0o600))
	return &role
}

func job(spec contract.Spec) dispatch.Job {
	return dispatch.Job{Attempt: spec.Attempt, Cluster: spec.Cluster, Number: spec.Number, Kind: spec.Kind, Token: "first"}
}

func TestExitCodesSayWhetherTheServerHasTheResult(t *testing.T) {
	s3test.Setenv(t)
	binary, dir := build(t), t.TempDir()
	token := filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(token, []byte("first"), 0o600))
	closed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) }))
	defer closed.Close()
	flags := func(tokenFile string) []string {
		return []string{"--server", closed.URL, "--attempt", "att_1", "--token-file", tokenFile, "--work-dir", dir, "--installers", dir}
	}
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"no flags":               {nil, exitUsage},
		"an unknown flag":        {append(flags(token), "--nope"), exitUsage},
		"no such token file":     {flags(token + ".missing"), exitUsage},
		"an attempt and a scan":  {append(flags(token), "--scan", "scn_1"), exitUsage},
		"a flag without effect":  {[]string{"--server", closed.URL, "--scan", "scn_1", "--token-file", token, "--work-dir", dir}, exitUsage},
		"no server":              {[]string{"--scan", "scn_1", "--token-file", token}, exitUsage},
		"the scan is another":    {[]string{"--server", closed.URL, "--scan", "scn_1", "--token-file", token}, exitFenced},
		"the attempt is another": {flags(token), exitFenced},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(context.Background(), binary, c.args...)
			out, _ := cmd.CombinedOutput()
			require.Equal(t, c.code, cmd.ProcessState.ExitCode(), string(out))
		})
	}
}

func TestCredentialsOfIBMCloudInTheEnvironmentAreMasked(t *testing.T) {
	redact := runnerinstaller.NewRedactor()
	maskIBM([]string{"IBMCLOUD_APIKEY=CANARY-of-the-sdk", "BLUEMIX_API_KEY=CANARY-of-the-old-name", "IBMCLOUD_LIMITS=vpc=50"}, redact)
	require.Equal(t, "keys [redacted] and [redacted], vpc=50", redact.Text("keys CANARY-of-the-sdk and CANARY-of-the-old-name, vpc=50"))
}
