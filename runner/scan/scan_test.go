package scan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/scan"
	"github.com/ocpctl/ocpctl/runner/status"
)

// account is a cloud that shows what a test says. It is the Inventory too.
type account struct {
	mu       sync.Mutex
	id       string
	idErr    error
	regions  []string
	regsErr  error
	pages    map[string][][]contract.SeenResource // by part
	errs     map[string]error                     // by part, after its pages
	listed   []string
	calls    map[string]int
	onPage   func(part string, n int)
	waitFor  map[string]chan struct{} // before the part ends
	openedAs cloud.Keys
}

func (a *account) Account(context.Context) (string, error)   { return a.id, a.idErr }
func (a *account) Regions(context.Context) ([]string, error) { return a.regions, a.regsErr }
func (a *account) Slowed() int                               { return 7 }

func (a *account) Parts(regions []string) []string {
	parts := []string{"global/iam"}
	for _, r := range regions {
		parts = append(parts, r+"/ec2")
	}
	return parts
}

func (a *account) List(ctx context.Context, part string, emit func([]contract.SeenResource) error) error {
	a.mu.Lock()
	a.listed = append(a.listed, part)
	a.mu.Unlock()
	for n, page := range a.pages[part] {
		a.mu.Lock()
		a.calls[part]++
		a.mu.Unlock()
		if a.onPage != nil {
			a.onPage(part, n)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := emit(page); err != nil {
			return err
		}
	}
	if wait := a.waitFor[part]; wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return a.errs[part]
}

func (a *account) Calls() map[string]int { return map[string]int{"ec2": 3, "iam": 1} }

func (a *account) CallsOf(part string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.calls[part]
}

// server is the Status API of one scan.
type server struct {
	*testing.T
	url   string
	cloud *account
	meter meter
	log   strings.Builder

	mu      sync.Mutex
	spec    contract.ScanSpec
	pod     string
	lease   time.Duration
	stop    string
	reply   func(what string, n int) int // a status code instead of an answer; 0: an answer
	heard   map[string]int
	tokens  []string
	reports []contract.ScanReport
	result  *contract.ScanResult
}

func start(t *testing.T) *server {
	s := &server{T: t, lease: time.Minute, heard: map[string]int{}, spec: contract.ScanSpec{
		Scan: "scn_1", Installation: "test", Platform: "aws", Account: "123456789012", HomeRegion: "us-east-1", Heartbeat: time.Minute,
	}, cloud: &account{
		id: "123456789012", regions: []string{"eu-west-1", "us-east-1"}, calls: map[string]int{}, errs: map[string]error{},
		pages: map[string][][]contract.SeenResource{"us-east-1/ec2": {{thing(1), thing(2)}, {thing(3)}}},
	}}
	http := httptest.NewServer(s)
	t.Cleanup(http.Close)
	s.url = http.URL
	return s
}

func thing(n int) contract.SeenResource {
	return contract.SeenResource{ID: fmt.Sprintf("arn:aws:ec2:us-east-1:123456789012:vpc/vpc-%d", n), Type: "vpc", Region: "us-east-1"}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if filepath.Dir(r.URL.Path) != "/api/v1/status/scans/scn_1" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	what := filepath.Base(r.URL.Path)
	s.heard[what]++
	s.tokens = append(s.tokens, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if s.reply != nil {
		if code := s.reply(what, s.heard[what]); code != 0 {
			w.WriteHeader(code)
			return
		}
	}
	decoder, answer := json.NewDecoder(r.Body), contract.Answer{Token: fmt.Sprintf("token-%d", len(s.tokens)), Lease: s.lease, Stop: s.stop}
	var out any = answer
	switch what {
	case "claim":
		var c contract.Claim
		_ = decoder.Decode(&c)
		if s.pod != "" && s.pod != c.Pod {
			w.WriteHeader(http.StatusConflict)
			return
		}
		s.pod, out = c.Pod, contract.ClaimedScan{Spec: s.spec, Answer: answer}
	case "report":
		var report contract.ScanReport
		_ = decoder.Decode(&report)
		if !slices.ContainsFunc(s.reports, func(r contract.ScanReport) bool { return r.Seq == report.Seq }) {
			s.reports = append(s.reports, report)
		}
	case "result":
		s.result = &contract.ScanResult{}
		_ = decoder.Decode(s.result)
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (s *server) run(ctx context.Context) error {
	return scan.Run(ctx, scan.Config{
		Server: s.url + "/", Scan: "scn_1", Token: secret.New("first"), Pod: "pod-1", Log: slog.New(slog.NewJSONHandler(&s.log, nil)),
		Redact: installer.NewRedactor(), HTTP: http.DefaultClient,
		Clouds: map[string]scan.Open{"aws": func(_ context.Context, _ contract.ScanSpec, keys cloud.Keys) (scan.Inventory, error) {
			s.cloud.openedAs = keys
			return s.cloud, nil
		}},
		Meters: map[string]scan.OpenMeter{"aws": func(_ context.Context, region string, _ cloud.Keys) (scan.Meter, error) {
			if region == "none" {
				return nil, errors.New("no such region")
			}
			return &s.meter, nil
		}},
		Timings: scan.Timings{RetryMin: time.Millisecond, RetryMax: 2 * time.Millisecond, ClaimPatience: 50 * time.Millisecond, Farewell: 20 * time.Millisecond},
	})
}

type meter struct {
	measured []cloud.Plan
	asked    []cloud.Target
	problems map[string][]cloud.Problem // by region and base domain
	unread   string                     // why no limit can be read
}

func (m *meter) Preflight(_ context.Context, t cloud.Target, zones, types []string) ([]cloud.Problem, error) {
	m.asked = append(m.asked, t)
	return m.problems[t.Region+" "+t.BaseDomain], nil
}

func (m *meter) Quotas(_ context.Context, t cloud.Target, plan cloud.Plan) ([]contract.Quota, error) {
	m.measured = append(m.measured, plan)
	switch q := (contract.Quota{Service: "vpc", Code: "L-F678F1CE", Need: 1}); m.unread {
	case "denied":
		q.Unknown, q.Denied = "allow the runner servicequotas:GetServiceQuota", true
		return []contract.Quota{q}, nil
	case "throttled":
		q.Unknown = "TooManyRequestsException"
		return []contract.Quota{q}, nil
	}
	if t.Region == "eu-west-1" {
		return nil, errors.New("Service Quotas was not answered")
	}
	return []contract.Quota{{Service: "vpc", Code: "L-F678F1CE", Limit: 5, Used: 1, Need: 1}}, nil
}

func TestAScanMeasuresTheRoomForEachPlan(t *testing.T) {
	s := start(t)
	config := "controlPlane: {replicas: 3}\ncompute: [{replicas: 0}]\n"
	for _, region := range []string{"eu-west-1", "us-east-1", "none"} {
		s.spec.Plans = append(s.spec.Plans, contract.ScanPlan{Profile: "small", Region: region, Zones: []string{region + "a"}, InstallConfig: config})
	}
	require.NoError(t, s.run(t.Context()))
	var rooms []contract.ScanRoom
	for _, r := range s.reports {
		if r.Room != nil {
			rooms = append(rooms, *r.Room)
		}
	}
	require.Equal(t, []contract.ScanRoom{{Profile: "small", Region: "us-east-1", Quotas: []contract.Quota{{Service: "vpc", Code: "L-F678F1CE", Limit: 5, Used: 1, Need: 1}}}}, rooms)
	require.Equal(t, cloud.Plan{Zones: []string{"us-east-1a"}, Machines: []cloud.Machines{{Type: "m6i.xlarge", Lasting: 3, Transient: 1}}}, s.meter.measured[1])
	require.Equal(t, "succeeded", s.result.Outcome, "what cannot be measured is in the log")
	require.Contains(t, s.log.String(), "Service Quotas was not answered")
}

func TestAServerThatKnowsNoRoomDoesNotMakeAScanFail(t *testing.T) {
	s := start(t)
	s.spec.Plans = []contract.ScanPlan{{Profile: "small", Region: "us-east-1", Zones: []string{"us-east-1a"}}}
	s.reply = func(what string, n int) int {
		if what == "report" && n > 3 { // the parts are reported by then
			return http.StatusBadRequest
		}
		return 0
	}
	require.NoError(t, s.run(t.Context()))
	require.Equal(t, "succeeded", s.result.Outcome)
	require.Contains(t, s.log.String(), "limits not reported")
}

// parts returns what was reported of each part: how many resources, and whether it is complete.
func (s *server) parts() map[string]string {
	out, count := map[string]string{}, map[string]int{}
	for i, r := range s.reports {
		require.Equal(s, i+1, r.Seq, "numbers rise by one")
		if r.Part == nil {
			continue
		}
		count[r.Part.Name] += len(r.Part.Resources)
		switch {
		case r.Part.Last && r.Part.Err != "":
			out[r.Part.Name] = fmt.Sprintf("%d, incomplete: %s", count[r.Part.Name], r.Part.Err)
		case r.Part.Last:
			out[r.Part.Name] = fmt.Sprintf("%d, complete", count[r.Part.Name])
		}
	}
	return out
}

func TestAScanReportsEveryPartAndWhatItCost(t *testing.T) {
	s := start(t)
	require.NoError(t, s.run(t.Context()))
	require.Equal(t, map[string]string{"global/iam": "0, complete", "eu-west-1/ec2": "0, complete", "us-east-1/ec2": "3, complete"}, s.parts())
	require.Equal(t, &contract.ScanResult{Outcome: "succeeded", Regions: []string{"eu-west-1", "us-east-1"}, Calls: map[string]int{"ec2": 3, "iam": 1}, Slowed: 7}, s.result)
	for _, r := range s.reports {
		if r.Part.Name == "us-east-1/ec2" {
			require.Equal(t, 2, r.Part.Calls)
		}
	}
	require.Equal(t, "first", s.tokens[0])
	require.NotContains(t, s.tokens[1:], "first", "every answer renews the token")
}

func TestARegionThatDeniesIsReportedAndTheScanSucceeds(t *testing.T) {
	s := start(t)
	s.cloud.errs["eu-west-1/ec2"] = errors.New("EC2 DescribeVpcs was refused with UnauthorizedOperation")
	s.cloud.pages["eu-west-1/ec2"] = [][]contract.SeenResource{{thing(9)}}
	require.NoError(t, s.run(t.Context()))
	require.Equal(t, "1, incomplete: EC2 DescribeVpcs was refused with UnauthorizedOperation", s.parts()["eu-west-1/ec2"])
	require.Equal(t, "3, complete", s.parts()["us-east-1/ec2"])
	require.Equal(t, "succeeded", s.result.Outcome)
	require.Equal(t, "PartsIncomplete", s.result.Reason)
	require.Contains(t, s.result.Message, "1 of 3 parts of the account were not answered completely (eu-west-1/ec2: EC2 DescribeVpcs was refused")
	require.Contains(t, s.result.Next, "scan-read.json")
}

func TestAScanThatIsToldNothingFails(t *testing.T) {
	s := start(t)
	for _, part := range []string{"global/iam", "eu-west-1/ec2", "us-east-1/ec2"} {
		s.cloud.errs[part] = errors.New("denied")
	}
	require.NoError(t, s.run(t.Context()))
	require.Equal(t, "failed", s.result.Outcome)
	require.Equal(t, "PartsIncomplete", s.result.Reason)
}

func TestAnotherRunnerGoesOnWhereOneWasLost(t *testing.T) {
	s := start(t)
	s.spec.Done = []string{"global/iam", "us-east-1/ec2"}
	require.NoError(t, s.run(t.Context()))
	require.Equal(t, []string{"eu-west-1/ec2"}, s.cloud.listed)
	require.Equal(t, "succeeded", s.result.Outcome)
	require.Len(t, s.result.Regions, 2)
}

func TestOnlyTheGivenRegionsAreLookedThrough(t *testing.T) {
	s := start(t)
	s.spec.Regions, s.cloud.regsErr = []string{"us-east-1"}, errors.New("not asked for")
	require.NoError(t, s.run(t.Context()))
	require.ElementsMatch(t, []string{"global/iam", "us-east-1/ec2"}, s.cloud.listed)
}

func TestWhatEndsAScanBeforeAnythingIsListed(t *testing.T) {
	for name, c := range map[string]struct {
		arrange       func(*server)
		reason, wants string
	}{
		"another account":      {func(s *server) { s.cloud.id = "999999999999" }, "WrongAccount", "belong to account 999999999999, but account 123456789012"},
		"refused credentials":  {func(s *server) { s.cloud.idErr = fmt.Errorf("%w: SignatureDoesNotMatch", cloud.ErrCredentials) }, "CredentialsRefused", "does not accept"},
		"an unknown account":   {func(s *server) { s.cloud.idErr = errors.New("STS was not answered") }, "AccountUnknown", "STS was not answered"},
		"unknown regions":      {func(s *server) { s.cloud.regsErr = errors.New("DescribeRegions was refused") }, "RegionsUnknown", "DescribeRegions was refused"},
		"another cloud":        {func(s *server) { s.spec.Platform = "ibmcloud" }, "UnknownPlatform", `platform "ibmcloud"`},
		"an unknown cloud":     {func(s *server) { s.spec.Platform = "azure" }, "UnknownPlatform", `platform "azure"`},
		"a missing reference":  {func(s *server) { s.spec.CloudCredentialsRef = "file:/does/not/exist" }, "InvalidCloudCredentials", "cannot be used"},
		"an unknown reference": {func(s *server) { s.spec.CloudCredentialsRef = "vault:x" }, "InvalidCloudCredentials", "cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			c.arrange(s)
			require.NoError(t, s.run(t.Context()))
			require.Empty(t, s.cloud.listed)
			require.Equal(t, "failed", s.result.Outcome)
			require.Equal(t, c.reason, s.result.Reason)
			require.Contains(t, s.result.Message, c.wants)
			require.NotEmpty(t, s.result.Next)
			require.NotNil(t, s.result.Regions)
		})
	}
}

func TestCredentialsThatExpireEndTheScanAndLeaveItsPartsOpen(t *testing.T) {
	s := start(t)
	s.cloud.errs["us-east-1/ec2"] = fmt.Errorf("%w: RequestExpired", cloud.ErrCredentialsExpired)
	require.NoError(t, s.run(t.Context()))
	require.Equal(t, "CredentialsRefused", s.result.Reason)
	require.NotContains(t, s.parts(), "us-east-1/ec2", "it was not listed to its end, and no policy is the reason")
}

func TestLargePartsAreReportedInPieces(t *testing.T) {
	s := start(t)
	large := thing(0)
	large.Tags = map[string]string{"Description": strings.Repeat("x", 1000)}
	var page []contract.SeenResource
	for range 1500 {
		page = append(page, large)
	}
	s.cloud.pages["us-east-1/ec2"] = [][]contract.SeenResource{page}
	require.NoError(t, s.run(t.Context()))
	require.Equal(t, "1500, complete", s.parts()["us-east-1/ec2"])
	require.GreaterOrEqual(t, len(s.reports), 5)
	for _, r := range s.reports {
		raw, err := json.Marshal(r)
		require.NoError(t, err)
		require.Less(t, len(raw), 1<<20, "far below what the server takes")
	}
}

func TestAQuietPartSendsHeartbeatsUntilItEnds(t *testing.T) {
	s := start(t)
	s.spec.Heartbeat = 5 * time.Millisecond
	wait, beats := make(chan struct{}), 0
	s.cloud.waitFor = map[string]chan struct{}{"us-east-1/ec2": wait}
	s.reply = func(what string, n int) int {
		if what == "report" && n == 6 {
			close(wait)
		}
		return 0
	}
	require.NoError(t, s.run(t.Context()))
	for _, r := range s.reports {
		if r.Part == nil {
			beats++
		}
	}
	require.GreaterOrEqual(t, beats, 3)
	require.Equal(t, "3, complete", s.parts()["us-east-1/ec2"])
}

func TestAStopIsHeededAndTheScanSaysSo(t *testing.T) {
	s := start(t)
	s.cloud.waitFor = map[string]chan struct{}{"us-east-1/ec2": make(chan struct{})}
	s.reply = func(what string, n int) int {
		if what == "report" && n == 2 {
			s.stop = "an administrator stopped the scan"
		}
		return 0
	}
	require.NoError(t, s.run(t.Context()))
	require.Equal(t, "stopped", s.result.Outcome)
	require.Equal(t, "an administrator stopped the scan", s.result.Message)
	require.NotContains(t, s.parts(), "us-east-1/ec2")
}

func TestASignalStopsTheScanAndItsResultIsStillDelivered(t *testing.T) {
	s := start(t)
	ctx, signal := context.WithCancel(t.Context())
	s.cloud.onPage = func(string, int) { signal() }
	require.NoError(t, s.run(ctx))
	require.Equal(t, "stopped", s.result.Outcome)
	require.Equal(t, "Interrupted", s.result.Reason)
}

func TestAScanOfAnotherRunnerIsLeftAlone(t *testing.T) {
	s := start(t)
	s.pod = "pod-2"
	require.ErrorIs(t, s.run(t.Context()), status.ErrFenced)
	require.Empty(t, s.cloud.listed)

	s = start(t)
	s.reply = func(what string, _ int) int {
		if what == "report" {
			return http.StatusConflict
		}
		return 0
	}
	require.ErrorIs(t, s.run(t.Context()), status.ErrFenced)
	require.Nil(t, s.result)
}

func TestALeaseThatIsNotRenewedEndsTheScan(t *testing.T) {
	s := start(t)
	s.lease = 30 * time.Millisecond
	s.reply = func(what string, _ int) int {
		if what == "report" {
			return http.StatusServiceUnavailable
		}
		return 0
	}
	require.NoError(t, s.run(t.Context()))
	require.Equal(t, "LeaseOver", s.result.Reason)
	require.Equal(t, "failed", s.result.Outcome)
}

func TestAnUnansweredReportIsRepeatedUnderItsNumber(t *testing.T) {
	s := start(t)
	s.reply = func(what string, n int) int {
		if what == "report" && n%2 == 1 {
			return http.StatusBadGateway
		}
		return 0
	}
	require.NoError(t, s.run(t.Context()))
	require.Equal(t, "3, complete", s.parts()["us-east-1/ec2"])
	require.Greater(t, s.heard["report"], len(s.reports))
}

func TestAResultThatNobodyTakesIsAnErrorOfTheProgram(t *testing.T) {
	s := start(t)
	s.lease = time.Millisecond
	s.cloud.idErr = errors.New("unreachable")
	s.reply = func(what string, _ int) int {
		if what == "result" {
			return http.StatusServiceUnavailable
		}
		return 0
	}
	require.ErrorIs(t, s.run(t.Context()), status.ErrUntold)
}

func TestKeysOfAReferenceOpenTheAccountAndAreRemovedFromTexts(t *testing.T) {
	s := start(t)
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(file, []byte(`{"aws_access_key_id":"AKIADEMO0000EXAMPLE1","aws_secret_access_key":"very-secret-key"}`), 0o600))
	s.spec.CloudCredentialsRef = "file:" + file
	s.cloud.errs["us-east-1/ec2"] = errors.New("refused with very-secret-key")
	require.NoError(t, s.run(t.Context()))
	require.Equal(t, "AKIADEMO0000EXAMPLE1", s.cloud.openedAs.ID)
	raw, err := json.Marshal([]any{s.reports, s.result})
	require.NoError(t, err)
	require.NotContains(t, string(raw), "very-secret-key")
}
