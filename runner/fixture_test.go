package runner_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
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

	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/installer"
)

const (
	account    = "123456789012"
	pullSecret = `{"auths":{"quay.io":{"auth":"Q0FOQVJZOkNBTkFSWS1wdWxs"}}}` // CANARY:CANARY-pull
)

// world is everything around one runner: the Status API, the cloud, S3, the installer's script and a diary of what
// happened in which order.
type world struct {
	t      *testing.T
	dir    string // the script's
	server *httptest.Server
	spec   contract.Spec
	cfg    runner.Config
	log    *bytes.Buffer

	mu         sync.Mutex
	pod        string
	tokens     int
	lease      time.Duration
	stop       string                                                        // said in every answer from now on
	reply      func(what string, n int) int                                  // a status code instead of an answer; 0: answer
	hear       func(what string, n int, body []byte)                         // sees every request before it is answered
	account    string                                                        // the credentials'
	refused    error                                                         // what asking for the account ends with
	verify     func(n int, t cloud.Target) contract.Pass                     // nil: clean
	contested  func(cloud.Target) ([]cloud.Contested, error)                 // nil: nothing is
	look       func(t cloud.Target, types []string) ([]cloud.Problem, error) // preflight; nil: all well
	quotas     func(cloud.Plan) ([]contract.Quota, error)                    // nil: none, so nothing is set aside
	reserve    func(n int) contract.Reservation                              // what the n-th demand is answered; nil: it is set aside
	grant      func() contract.BucketCredentials                             // what is given for the bucket
	access     func(n int) contract.AccessWork                               // what the n-th question about access is answered; nil: nothing is to do
	machines   []cloud.Machine                                               // of the cluster
	listing    error                                                         // what listing them ends with
	found      names.Found                                                   // what only the cloud tells
	lookup     error                                                         // what asking for that ends with
	untaggable error                                                         // answer of Tag
	tagged     map[string]string                                             // what the cluster was tagged with
	groupID    string                                                        // of the resource group that preparing makes
	prepared   error                                                         // what preparing ends with
	unlimited  func(n int) error                                             // answer of the n-th LimitRoles; nil: it is done
	untagged   func(n int) error                                             // answer of the n-th TagCredentials; nil: it is done
	tagTries   int
	limits     []string                                  // what LimitRoles was told
	detached   error                                     // what detaching ends with
	power      func(m cloud.Machine, running bool) error // what starting or stopping one ends with; nil: it is done
	asksFor    int                                       // the number of the newest request for access, in every answer

	calls      map[string]int
	claims     []contract.Claim
	demands    []contract.Demand
	records    []contract.Record
	reports    []contract.Report
	results    []contract.Result
	passes     int
	keys       cloud.Keys // the cloud was opened with
	removed    []cloud.Target
	notRemoved error    // what removals end with
	published  []string // what Found was told
	seenToken  string
}

func newWorld(t *testing.T, kind string) *world {
	t.Helper()
	s3test.Setenv(t)
	w := &world{t: t, dir: t.TempDir(), lease: time.Minute, account: account, calls: map[string]int{}, log: &bytes.Buffer{}}
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.server.Close)
	pull := filepath.Join(w.dir, "pull-secret")
	require.NoError(t, os.WriteFile(pull, []byte(pullSecret), 0o600))
	w.spec = contract.Spec{
		Attempt: "att_1", Number: 3, Kind: kind, Cluster: "clu_1", Job: "job_1", Installation: "test", Name: "shop",
		BaseDomain: "labs.example.com", Platform: "aws", Region: "us-east-1", Version: "4.20.3", Account: account,
		InstallConfig: "apiVersion: v1\nbaseDomain: labs.example.com\nmetadata: {name: shop}\ncontrolPlane: {name: master, replicas: 3, platform: {aws: {type: m6i.xlarge}}}\ncompute: [{name: worker, replicas: 0, platform: {aws: {type: m6i.large}}}]\n",
		Zones:         []string{"us-east-1a"}, CredentialsMode: "Mint", PullSecretRef: "file:" + pull, SSHKey: "ssh-ed25519 AAAA", Bucket: s3test.Bucket(t),
		Heartbeat: 50 * time.Millisecond, CreateDeadline: time.Minute, DestroyDeadline: time.Minute, SnapshotMaxAge: time.Hour,
	}
	redact := installer.NewRedactor()
	redact.Add(secret.New(os.Getenv("AWS_SECRET_ACCESS_KEY")))
	installers := filepath.Join(t.TempDir(), "installers")
	for _, program := range []string{"openshift-install", "ccoctl", "oc"} {
		link(t, program, filepath.Join(installers, "4.20.3", program))
	}
	w.cfg = runner.Config{
		Server: w.server.URL, Attempt: "att_1", Token: secret.New("token-0"), Pod: "pod-1", WorkDir: t.TempDir(), Installers: installers,
		Env:    append(os.Environ(), "OCPCTL_STANDIN_DIR="+w.dir),
		Clouds: map[string]runner.Source{},
		Log:    slog.New(slog.NewJSONHandler(redact.Lines(func(line string) { w.log.WriteString(line + "\n") }), nil)), Redact: redact,
		Timings: runner.Timings{
			Call: 2 * time.Second, RetryMin: time.Millisecond, RetryMax: 10 * time.Millisecond, ClaimPatience: 5 * time.Second,
			Flush: 5 * time.Millisecond, Farewell: 200 * time.Millisecond, StopWait: 5 * time.Second, Save: 5 * time.Second,
			LastSave: 20 * time.Second, Restore: 50 * time.Millisecond, UncleanPasses: 3,
		},
	}
	w.own(cloud.Keys{ID: s3test.AccessKey, Secret: secret.New(s3test.SecretKey)})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("runner's log:\n%s", w.log.String())
		}
	})
	return w
}

// own gives the runner keys of its own for every platform.
func (w *world) own(keys cloud.Keys) {
	for _, platform := range []string{names.AWS, names.IBMCloud} {
		w.cfg.Clouds[platform] = runner.Source{Keys: keys, Open: func(_ context.Context, _ string, keys cloud.Keys) (runner.Cloud, error) {
			w.keys = keys
			return (*fakeCloud)(w), nil
		}}
	}
}

// link puts one of the scripted programs somewhere.
func link(t *testing.T, program, at string) {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("testdata", program))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(t, os.Symlink(script, at))
}

// on gives the script something to do at a command.
func (w *world) on(command, script string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, "on-"+command), []byte(script), 0o600))
}

// happened is the diary so far.
func (w *world) happened() []string {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.dir, "events"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(w.t, err)
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

func (w *world) did(prefix string) bool {
	for _, event := range w.happened() {
		if strings.HasPrefix(event, prefix) {
			return true
		}
	}
	return false
}

func (w *world) note(format string, args ...any) {
	f, err := os.OpenFile(filepath.Join(w.dir, "events"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		fmt.Fprintf(f, format+"\n", args...)
		f.Close()
	}
}

// run runs the attempt to its end.
func (w *world) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return runner.Run(ctx, w.cfg)
}

// serve is the Status API: idempotent claim by pod, everything answered with a lease and a new token.
func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	what := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	w.calls[what]++
	n, hear := w.calls[what], w.hear
	w.seenToken = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	w.mu.Unlock()
	if hear != nil {
		hear(what, n, body)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	code := 0
	if w.reply != nil {
		code = w.reply(what, n)
	}
	if code == 0 {
		code = w.take(what, body)
	}
	if code != http.StatusOK {
		rw.Header().Set("Content-Type", "application/problem+json")
		rw.WriteHeader(code)
		_ = json.NewEncoder(rw).Encode(contract.Problem{Title: http.StatusText(code), Status: code})
		return
	}
	w.tokens++
	answer := contract.Answer{Stop: w.stop, Token: fmt.Sprintf("token-%d", w.tokens), Lease: w.lease, Access: w.asksFor}
	var out any = answer
	switch what {
	case "claim":
		out = contract.Claimed{Spec: w.spec, Answer: answer}
	case "reserve":
		reservation := contract.Reservation{}
		if w.reserve != nil {
			reservation = w.reserve(n)
		}
		reservation.Answer = answer
		out = reservation
	case "access":
		work := contract.AccessWork{}
		if w.access != nil {
			work = w.access(n)
		}
		work.Answer = answer
		out = work
	case "bucket-credentials":
		out = w.grant()
	}
	_ = json.NewEncoder(rw).Encode(out)
	if what != "report" && what != "bucket-credentials" && what != "access" {
		w.note("server: %s answered", what)
	}
}

func (w *world) take(what string, body []byte) int {
	switch what {
	case "claim":
		var c contract.Claim
		_ = json.Unmarshal(body, &c)
		if w.pod != "" && w.pod != c.Pod {
			return http.StatusConflict
		}
		w.pod = c.Pod
		w.claims = append(w.claims, c)
	case "reserve":
		var c contract.Demand
		_ = json.Unmarshal(body, &c)
		w.demands = append(w.demands, c)
	case "record":
		var c contract.Record
		_ = json.Unmarshal(body, &c)
		w.records = append(w.records, c)
	case "report":
		var c contract.Report
		_ = json.Unmarshal(body, &c)
		if len(w.reports) == 0 || w.reports[len(w.reports)-1].Seq < c.Seq {
			w.reports = append(w.reports, c)
		}
	case "result":
		var c contract.Result
		_ = json.Unmarshal(body, &c)
		w.results = append(w.results, c)
	}
	return http.StatusOK
}

// logText is every line the server was told.
func (w *world) logText() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all strings.Builder
	for _, r := range w.reports {
		all.WriteString(r.Log)
	}
	return all.String()
}

func (w *world) result() contract.Result {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Len(w.t, w.results, 1)
	return w.results[0]
}

func (w *world) phases() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var seen []string
	for _, r := range w.reports {
		if r.Phase != "" && (len(seen) == 0 || seen[len(seen)-1] != r.Phase) {
			seen = append(seen, r.Phase)
		}
	}
	return seen
}

// fakeCloud is the world as a cloud.
type fakeCloud world

func (c *fakeCloud) Account(context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	(*world)(c).note("cloud: account asked")
	if c.refused != nil {
		return "", c.refused
	}
	if c.account == "" {
		return "", fmt.Errorf("the cloud is away")
	}
	return c.account, nil
}

func (c *fakeCloud) Preflight(_ context.Context, t cloud.Target, _, types []string) ([]cloud.Problem, error) {
	if c.look == nil {
		return nil, nil
	}
	return c.look(t, types)
}

func (c *fakeCloud) Quotas(_ context.Context, _ cloud.Target, plan cloud.Plan) ([]contract.Quota, error) {
	if c.quotas == nil {
		return nil, nil
	}
	return c.quotas(plan)
}

func (c *fakeCloud) Verify(_ context.Context, t cloud.Target) contract.Pass {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passes++
	(*world)(c).note("cloud: verify")
	if c.verify != nil {
		return c.verify(c.passes, t)
	}
	return cleanPass(t)
}

func cleanPass(t cloud.Target) contract.Pass {
	p := contract.Pass{Account: cmp.Or(t.Account, account), Control: "the account answers", Clean: true, Queries: []contract.Query{{Service: "ec2", Call: "DescribeVpcs"}}}
	for _, id := range t.Identities {
		for _, name := range []string{id.InfraID, id.CCOName} {
			if name != "" {
				p.Identities = append(p.Identities, name)
			}
		}
	}
	return p
}

func (c *fakeCloud) Contested(_ context.Context, t cloud.Target) ([]cloud.Contested, error) {
	if c.contested == nil {
		return nil, nil
	}
	return c.contested(t)
}

func (c *fakeCloud) Detach(context.Context, cloud.Target) ([]string, error) {
	return nil, c.detached
}

func (c *fakeCloud) Prepare(_ context.Context, _ cloud.Target, name string) (string, error) {
	(*world)(c).note("cloud: prepare %s", name)
	return c.groupID, c.prepared
}

func (c *fakeCloud) TagCredentials(_ context.Context, t cloud.Target, roles []string) error {
	(*world)(c).note("cloud: tag credentials of %s with %d roles", t.Identities[len(t.Identities)-1].CCOName, len(roles))
	c.tagTries++
	if c.untagged == nil {
		return nil
	}
	return c.untagged(c.tagTries)
}

func (c *fakeCloud) LimitRoles(_ context.Context, t cloud.Target, roles []string, boundary string) error {
	(*world)(c).note("cloud: limit roles")
	newest := t.Identities[len(t.Identities)-1]
	c.limits = append(c.limits, fmt.Sprintf("%s with %s, boundary %q", strings.Join(append(slices.Clone(roles), newest.InfraID), " "), t.Domain(), boundary))
	if c.unlimited == nil {
		return nil
	}
	return c.unlimited(len(c.limits))
}

func (c *fakeCloud) Found(_ context.Context, t cloud.Target) (names.Found, error) {
	c.published = append(c.published, t.Publish)
	return c.found, c.lookup
}

func (c *fakeCloud) Tag(_ context.Context, _ cloud.Target, tags map[string]string) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tagged = tags
	return len(tags), c.untaggable
}

func (c *fakeCloud) Remove(_ context.Context, t cloud.Target) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	(*world)(c).note("cloud: remove")
	c.removed = append(c.removed, t)
	return nil, c.notRemoved
}
