package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/attack/matrix"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// target is the demo under attack, as one side's attacks see it.
type target struct {
	*shared
	prey *prey // the side's newest victim
}

// shared is what all sides' attacks have in common.
type shared struct {
	*devstack.Stack
	pool  *pgxpool.Pool // only to read what an attack did
	relay *relay        // between runners and the Status API
	end   context.CancelFunc

	saying sync.Mutex
	out    io.Writer

	names   atomic.Int64
	holding sync.Mutex // held by the attack that makes GitHub hold webhooks
	counted sync.Mutex
	victims map[string]prey // not harmed by an attack so far, by name
}

// beside returns the same demo for another side, with victims of its own.
func (t *target) beside() *target { return &target{shared: t.shared} }

// start starts a demo whose time is as fast as possible.
func start(ctx context.Context, c Config) (t *target, err error) {
	h, err := devstack.Start(ctx, devstack.Config{
		Dir: c.Dir, Bin: c.Bin, Fast: true, Hour: time.Hour,
		Grace: 500 * time.Millisecond, Pace: time.Nanosecond, VerifyGap: time.Nanosecond,
		Lease: 20 * time.Second, RetryBase: 200 * time.Millisecond, LookAgain: time.Second, Heartbeat: 2 * time.Second,
		Callers: outsidersOfAWS,
	})
	if err != nil {
		return nil, fmt.Errorf("start the demo: %w", err)
	}
	ctx, end := context.WithCancel(ctx)
	t = &target{shared: &shared{Stack: h, out: c.Out, end: end, victims: map[string]prey{}}}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.stop())
		}
	}()
	if t.pool, err = pgxpool.New(ctx, h.DatabaseURL()); err != nil {
		return nil, err
	}
	if t.relay, err = startRelay(ctx, h.PrivateURL(), t.clusterOf); err != nil {
		return nil, err
	}
	h.Status.Lead(t.relay.addr)
	return t, t.catalogueWith(ctx, map[string]string{"identities/matrix.yaml": matrix.Identities})
}

// catalogueWith writes files to the demo's catalogue and makes the server load them at once.
func (t *target) catalogueWith(ctx context.Context, files map[string]string) (err error) {
	defer must.Catch(&err)
	for name, content := range files {
		must.Do(os.WriteFile(filepath.Join(t.Dir, "catalogue", name), []byte(content), 0o600))
	}
	admin := must.Get(t.as(oidc.Admin))
	var state v1.CatalogueState
	must.Do(admin.expect(ctx, http.StatusOK, &state, http.MethodPost, "/api/v1/catalogue/reload", nil))
	must.FailIf(state.Problem != "", "the catalogue of the attacks: %s", state.Problem)
	return nil
}

// say prints a line while attacks are played.
func (t *target) say(format string, args ...any) {
	t.saying.Lock()
	defer t.saying.Unlock()
	fmt.Fprintf(t.out, format+"\n", args...)
}

func (t *target) stop() error {
	t.end()
	if t.relay != nil {
		t.relay.close()
	}
	err := t.Stack.Stop()
	if t.pool != nil {
		t.pool.Close()
	}
	return err
}

// The people of the attacks. Two teams share one installation: payments is the victim's team.
var (
	attacker = oidc.Claims{Subject: "mallory", Name: "Mallory", Groups: []string{"platform"}, Role: "requester"}
	victim   = oidc.Claims{Subject: "rob", Name: "Rob", Groups: []string{"payments"}, Role: "requester"}
)

// clusterOf returns the name of an attempt's cluster.
func (t *target) clusterOf(ctx context.Context, attempt string) (name string, err error) {
	err = t.pool.QueryRow(ctx, "SELECT c.name FROM attempts a JOIN clusters c ON c.id = a.cluster_id WHERE a.id = $1", attempt).Scan(&name)
	return name, err
}

// glance is how often a condition is checked.
const glance = 20 * time.Millisecond

// await waits until a condition holds; what names it in the error when ctx ends.
func await(ctx context.Context, what string, holds func(context.Context) (bool, error)) error {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		ok, err := holds(ctx)
		if ok && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("waited for %s: %w", what, ctx.Err()), err)
		case <-tick.C:
		}
	}
}
