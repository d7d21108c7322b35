package devstack_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// seeds is how many random lives are lived: 20, with -short 5, or what SEEDS says.
func seeds(t *testing.T) int {
	raw := os.Getenv("SEEDS")
	switch {
	case raw == "" && testing.Short():
		return 5
	case raw == "":
		return 20
	}
	n, err := strconv.Atoi(raw)
	require.NoError(t, err, "SEEDS")
	return n
}

// phases are where something is struck.
var phases = []lifecycle.Phase{
	lifecycle.Preflight, lifecycle.Claiming, lifecycle.Rendering, lifecycle.Recording, lifecycle.Installing, lifecycle.Configuring,
	lifecycle.Restoring, lifecycle.DestroyingRuns, lifecycle.Verifying,
}

// struck counts what was really struck in all lives of a run.
var struck sync.Map

// plan is what goes wrong in one life. The first faults go through all phases in turn, so that twenty seeds visit each.
type plan struct {
	KillServerAt  []lifecycle.Phase
	KillRunnerAt  []lifecycle.Phase
	BetweenCommit bool // the server dies after a decision's commit and before its effect
	Twice, Late   bool // the label's delivery comes twice; an older event comes after it
	CutS3At       lifecycle.Phase
	Lie           string
	End           string
}

func draw(seed int) plan {
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	pick := func(p float64) []lifecycle.Phase {
		if rng.Float64() < p {
			return []lifecycle.Phase{phases[rng.IntN(len(phases))]}
		}
		return nil
	}
	p := plan{
		BetweenCommit: rng.Float64() < 0.3, Twice: rng.Float64() < 0.5, Late: rng.Float64() < 0.5,
		Lie: []string{"", "", "leaves", "refuses", "account", "leak"}[rng.IntN(6)],
		End: []string{"close", "close", "close mid-install", "ttl", "command"}[rng.IntN(5)],
	}
	if seed%2 == 0 {
		p.KillServerAt, p.KillRunnerAt = []lifecycle.Phase{phases[seed/2%len(phases)]}, pick(0.3)
	} else {
		p.KillRunnerAt, p.KillServerAt = []lifecycle.Phase{phases[seed/2%len(phases)]}, pick(0.3)
	}
	if rng.Float64() < 0.3 {
		p.CutS3At = phases[rng.IntN(len(phases))]
	}
	if phases[seed/2%len(phases)] == lifecycle.Configuring {
		p.End = "close" // an end in the middle of the install would come first
	}
	return p
}

func TestFaultsAtAnyMomentLeaveNothing(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() { everythingWasStruck(t) }) // after the lives, which run in parallel
	for seed := range seeds(t) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			p := draw(seed)
			t.Logf("plan %+v", p)
			struck.Store(fmt.Sprintf("life %d", seed), true)
			hour := time.Hour
			if p.End == "ttl" {
				hour = 400 * time.Millisecond // a TTL of 24 h ends after ten seconds
			}
			newLife(t, hour).live(p)
		})
	}
}

// everythingWasStruck keeps the lives honest: a fault that never came proves nothing. It asks only full runs.
func everythingWasStruck(t *testing.T) {
	lived := 0
	struck.Range(func(key, _ any) bool {
		if strings.HasPrefix(key.(string), "life ") {
			lived++
		}
		return true
	})
	if lived < 2*len(phases) {
		t.Logf("%d lives: too few to strike at every phase", lived)
		return
	}
	for _, phase := range phases {
		for _, who := range []string{"server", "runner"} {
			key := who + " killed at " + string(phase)
			_, ok := struck.Load(key)
			assert.True(t, ok, "never struck: %s", key)
		}
	}
}

// live is one life: a label, faults, an end, and at the end nothing.
func (l *life) live(p plan) {
	const number = 41
	if p.BetweenCommit {
		l.pauseEffects(true)
	}
	l.begin(number, p)
	if p.BetweenCommit {
		l.runUntil("a launch committed and not carried out", 20*time.Second, func() bool {
			return l.count("SELECT count(*) FROM river_job WHERE kind = 'launch' AND state = 'available'") > 0
		})
		require.NoError(l.t, l.KillServer())
		l.pauseEffects(false)
		require.NoError(l.t, l.StartServer(l.ctx))
	}
	f := &faults{l: l, plan: p}
	if p.End == "close mid-install" {
		l.runUntil("the install runs or the cluster is past it", time.Minute, f.andMeanwhile(func() bool {
			_, ok := l.reached(lifecycle.Installing)
			return ok
		}))
	} else {
		l.runUntil("the cluster is ready, or gave up", time.Minute, f.andMeanwhile(func() bool {
			rows := l.clusters()
			return len(rows) > 0 && (rows[0].Status == "READY" || rows[0].Status == "DESTROYED" || rows[0].Status == "FAILED" || rows[0].Desired == "absent")
		}))
	}
	rests := l.lie(p.Lie)
	l.end(number, p.End)
	l.runUntil("the desired state changed", 30*time.Second, f.andMeanwhile(func() bool {
		rows := l.clusters()
		return len(rows) > 0 && rows[0].Desired == "absent"
	}))
	l.truth(p.Lie, rests, f)
	l.runUntil("every cluster released", 2*time.Minute, f.andMeanwhile(l.every(lifecycle.Released)))
	f.repair()
	l.runUntil("the words caught up", 30*time.Second, func() bool {
		return l.count("SELECT count(*) FROM subscribers s JOIN clusters c ON c.id = s.cluster_id WHERE s.shown_version < c.row_version") == 0
	})
	l.assertNothingLeft()
	l.assertSettled()
	require.Equal(l.t, len(l.clusters()), l.commentsOfClusters(number), "one comment for each cluster, whatever died in between")
}

// faults strike when an attempt reaches their phase, each once.
type faults struct {
	l     *life
	plan  plan
	done  map[string]bool
	mend  time.Time
	dirty bool
}

// andMeanwhile strikes what is due before it asks the condition.
func (f *faults) andMeanwhile(cond func() bool) func() bool {
	return func() bool {
		f.strike()
		return cond()
	}
}

func (f *faults) once(key string, strike func()) {
	if f.done == nil {
		f.done = map[string]bool{}
	}
	if !f.done[key] {
		f.done[key] = true
		struck.Store(key, true)
		f.l.t.Log("fault:", key)
		strike()
	}
}

func (f *faults) strike() {
	for _, phase := range f.plan.KillServerAt {
		if _, ok := f.l.reached(phase); ok {
			f.once("server killed at "+string(phase), func() {
				require.NoError(f.l.t, f.l.KillServer())
				require.NoError(f.l.t, f.l.StartServer(f.l.ctx))
			})
		}
	}
	for _, phase := range f.plan.KillRunnerAt {
		if at, ok := f.l.reached(phase); ok {
			f.once("runner killed at "+string(phase), func() { f.l.killRunner(at.Attempt) })
		}
	}
	if f.plan.CutS3At != "" {
		if _, ok := f.l.reached(f.plan.CutS3At); ok {
			f.once("S3 cut off at "+string(f.plan.CutS3At), func() { f.l.S3Cut.Off(); f.mend, f.dirty = time.Now().Add(time.Second), true })
		}
	}
	if f.dirty && time.Now().After(f.mend) {
		f.repair()
	}
}

func (f *faults) repair() {
	f.l.S3Cut.On()
	f.dirty = false
}

// lie makes the cloud lie about the coming teardown and returns what the lie rests on.
func (l *life) lie(kind string) string {
	l.t.Helper()
	switch kind {
	case "leaves":
		l.writeFaults(map[string]any{"destroy": map[string]any{"leave": []string{"address"}, "times": 1, "exit": 0}})
	case "refuses":
		l.AWS.Refuse("DescribeVpcs", 2, "UnauthorizedOperation")
	case "account":
		if l.clusters()[0].Status != "READY" {
			return "" // credentials do not change under a running install
		}
		require.NoError(l.t, l.AWS.SetAccount("999999999999"))
		return devstack.Account
	case "leak":
		if l.clusters()[0].Status != "READY" {
			return "" // a teardown may have begun, and counted already
		}
		return l.plantLeak()
	}
	return ""
}

// truth ends the lie, after what it must lead to was seen.
func (l *life) truth(kind, rests string, f *faults) {
	l.t.Helper()
	if rests == "" {
		return
	}
	switch kind {
	case "account":
		l.runUntil("a teardown that met another account", time.Minute, f.andMeanwhile(func() bool {
			return l.count("SELECT count(*) FROM attempts WHERE kind = 'destroy' AND reason = 'WrongAccount'") > 0
		}))
		require.Zero(l.t, l.count("SELECT count(*) FROM clusters WHERE phase = 'released'"))
		require.NoError(l.t, l.AWS.SetAccount(rests))
	case "leak":
		l.runUntil("destroy_blocked, naming the leak", 90*time.Second, f.andMeanwhile(func() bool {
			return l.count("SELECT count(*) FROM clusters WHERE phase = 'destroy_blocked' AND why::text LIKE '%' || $1 || '%'", rests) > 0
		}))
		l.freeLeak(rests)
	}
}

func (l *life) writeFaults(faults any) {
	raw, err := json.Marshal(faults)
	require.NoError(l.t, err)
	require.NoError(l.t, os.WriteFile(filepath.Join(l.Dir, "faults.json"), raw, 0o600))
}

// pauseEffects holds back the queue of effects, so that a decision is committed and its effect is not carried out.
func (l *life) pauseEffects(on bool) {
	_, err := l.pool.Exec(l.ctx, `INSERT INTO river_queue (name, created_at, metadata, paused_at, updated_at)
		VALUES ('effects', now(), '{}', CASE WHEN $1 THEN now() END, now())
		ON CONFLICT (name) DO UPDATE SET paused_at = EXCLUDED.paused_at, updated_at = now()`, on)
	require.NoError(l.t, err)
	if on { // the running client learns of a pause from a notification, so it is restarted to see it for sure
		require.NoError(l.t, l.StopServer())
		require.NoError(l.t, l.StartServer(l.ctx))
	}
}
