package runner_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/status"
)

// hanging makes the install hang until it is asked to end, which it then does as the real one: exit code 8.
const hanging = `trap 'note asked; exit 8' TERM; note hanging; while :; do sleep 0.01; done`

func (w *world) whenHanging(do func()) {
	go func() {
		for !w.did("installer: hanging") {
			time.Sleep(2 * time.Millisecond)
		}
		do()
	}()
}

func TestAStopInTheMiddleOfAnInstallIsPolite(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", hanging)
	w.whenHanging(func() {
		w.mu.Lock()
		w.stop = "destroy was asked for"
		w.mu.Unlock()
	})
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "stopped", w.result().Outcome)
	require.Equal(t, "destroy was asked for", w.result().Message)
	requireStoppedPolitely(t, w)
}

// requireStoppedPolitely: the installer was asked once and ended by itself, and the directory was archived after.
func requireStoppedPolitely(t *testing.T, w *world) {
	t.Helper()
	events := w.happened()
	require.Equal(t, 1, strings.Count(strings.Join(events, "\n"), "installer: asked"))
	var exits, after int
	for _, r := range w.reports {
		if r.ToolExit != nil {
			exits++
			require.Equal(t, 8, r.ToolExit.Code)
		}
		if exits > 0 && len(r.Snapshots) == 2 {
			after++
		}
	}
	require.Equal(t, 1, exits)
	require.Equal(t, 1, after)
}

func TestASignalInTheMiddleOfAnInstallIsPolite(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", hanging)
	ctx, cancel := context.WithCancel(t.Context())
	w.whenHanging(cancel)
	require.NoError(t, w.run(ctx))
	require.Equal(t, "Interrupted", w.result().Reason)
	requireStoppedPolitely(t, w)
}

func TestALeaseThatRunsOutStopsTheInstallAndSpoolsTheResult(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.lease = 2 * time.Second
	w.on("create", hanging)
	w.whenHanging(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reply = func(string, int) int { return http.StatusBadGateway }
	})
	err := w.run(t.Context())
	require.ErrorIs(t, err, status.ErrUntold)
	require.True(t, w.did("installer: asked"))

	kinds := map[string]contract.Result{}
	listed, err := s3test.Shared(t).Client().ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &w.spec.Bucket, Prefix: new("spool/att_1/")})
	require.NoError(t, err)
	var exitSpooled bool
	for _, object := range listed.Contents {
		raw, err := storeOf(t, w).Read(t.Context(), "s3://"+w.spec.Bucket+"/"+*object.Key)
		require.NoError(t, err)
		if strings.HasSuffix(*object.Key, "-result.json") {
			var result contract.Result
			require.NoError(t, json.Unmarshal(raw, &result))
			kinds["result"] = result
			continue
		}
		var report contract.Report
		require.NoError(t, json.Unmarshal(raw, &report))
		exitSpooled = exitSpooled || report.ToolExit != nil
	}
	require.Equal(t, "failed", kinds["result"].Outcome, "a try is spent, as by an attempt that was lost")
	require.Equal(t, "LeaseOver", kinds["result"].Reason)
	require.True(t, kinds["result"].Retryable)
	require.Equal(t, contract.WhoseOurs, kinds["result"].Whose)
	require.NotEmpty(t, kinds["result"].Next)
	require.True(t, exitSpooled, "what was not told is kept too")
}

func TestAServerThatIsAwayForAWhileLosesNothing(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", `note hanging; while [ ! -e "$D/go" ]; do sleep 0.01; done; say "said while nobody listened"`)
	var away bool
	w.whenHanging(func() {
		w.mu.Lock()
		away = true
		w.reply = func(string, int) int {
			if away {
				return http.StatusBadGateway
			}
			return 0
		}
		w.mu.Unlock()
		require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600))
		time.Sleep(100 * time.Millisecond)
		w.mu.Lock()
		away = false
		w.mu.Unlock()
	})
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	require.Equal(t, 1, strings.Count(w.logText(), "said while nobody listened"))
}

func TestAFencedRunnerStopsAndTellsNobody(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.on("create", hanging)
	w.whenHanging(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reply = func(string, int) int { return http.StatusConflict }
	})
	require.ErrorIs(t, w.run(t.Context()), status.ErrFenced)
	require.True(t, w.did("installer: asked"))
	require.Empty(t, w.results)
	require.Zero(t, w.calls["result"])
}
