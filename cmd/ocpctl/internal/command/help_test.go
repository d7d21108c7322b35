package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/command"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/standtest"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	cluster    = "clu_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT"
	kubeconfig = `apiVersion: v1
kind: Config
clusters:
- {name: smoke, cluster: {server: "https://api.team-a-smoke-01.labs.example.com:6443"}}
users:
- {name: admin, user: {token: not-a-token}}
contexts:
- {name: admin, context: {cluster: smoke, user: admin}}
current-context: admin
`
)

// service is a person at a machine, and a server.
type service struct {
	*testing.T
	*standtest.Server
	world    command.World
	env      map[string]string
	in       string
	out, err safe
	opened   []string
	ran      []*exec.Cmd
}

// safe is a buffer that a test may read while it is written to.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *safe) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b.Reset()
}

func newService(t *testing.T) *service {
	d := &service{T: t, Server: standtest.New(t)}
	d.env = map[string]string{"HOME": t.TempDir(), "OCPCTL_SERVER": d.URL, "OCPCTL_TOKEN": standtest.Token, "XDG_RUNTIME_DIR": t.TempDir()}
	d.world = command.World{
		Env: func(name string) string { return d.env[name] }, Environ: []string{"PATH=/bin"}, Width: func() int { return 120 },
		Now:   func() time.Time { return time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC) },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Browse: func(_ context.Context, address string) error {
			d.opened = append(d.opened, address)
			return nil
		},
		Run: func(cmd *exec.Cmd) error {
			d.ran = append(d.ran, cmd)
			return nil
		},
		UUID:    func() string { return "6f1e6f0e-3b1c-4c55-9d53-0d2c8c4f2f11" },
		Program: func() (string, error) { return "/usr/local/bin/ocpctl", nil },
		Version: "v1.2.3", Commit: "0123abc", Built: "2025-02-28T10:00:00Z",
	}
	d.streams()
	return d
}

// streams are the answers that are no JSON.
func (d *service) streams() {
	d.Handle("getKubeconfig", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		w.Header().Set("Ocpctl-Access-Expires", "2025-03-01T20:00:00Z")
		fmt.Fprint(w, kubeconfig)
	})
	d.Handle("getLogs", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("follow") == "true" {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, ": hello\n\nevent: log\ndata: \"level=info msg=\\\"Creating infrastructure resources...\\\"\"\n\n"+
				"event: log\ndata: \"level=info msg=\\\"Install complete!\\\"\"\n\nevent: end\ndata: {\"jobId\":\"job_1\",\"status\":\"SUCCEEDED\"}\n\n")
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "level=info msg=Creating infrastructure resources...\nlevel=info msg=Install complete!\n")
	})
	d.Handle("watchClusters", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		var one bytes.Buffer
		require.NoError(d, compact(&one, d.Body("getCluster")))
		fmt.Fprintf(w, "event: cluster\ndata: %s\n\n", one.String())
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	d.Handle("exportAudit", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		fmt.Fprint(w, trail)
	})
	for _, file := range []string{"reportChargeback", "reportFocus"} {
		d.Handle(file, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/csv; charset=utf-8")
			fmt.Fprint(w, "from,to\n")
		})
	}
}

// run types a command and waits for its end.
func (d *service) run(args ...string) exit.Code {
	return d.runIn(context.Background(), args...)
}

func (d *service) runIn(ctx context.Context, args ...string) exit.Code {
	d.out.reset()
	d.err.reset()
	w := d.world
	w.In, w.Out, w.Err = strings.NewReader(d.in), &d.out, &d.err
	return command.Run(ctx, w, args)
}

// said is everything that a run wrote, without what differs from machine to machine.
func (d *service) plain(text string) string {
	text = strings.ReplaceAll(text, d.URL, "https://ocpctl.example.com")
	text = strings.ReplaceAll(text, runtime.Version(), "go1.x")
	text = strings.ReplaceAll(text, runtime.GOOS+"/"+runtime.GOARCH, "linux/amd64")
	return strings.ReplaceAll(text, d.env["HOME"], "/home/maya")
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test -update writes it")
	require.Equal(t, string(want), text)
}

// change moves the answer of an operation on.
func (d *service) change(operation string, changes map[string]any) {
	var all map[string]any
	require.NoError(d, json.Unmarshal(d.Body(operation), &all))
	maps.Copy(all, changes)
	d.Answer(operation, all)
}
