package attack

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// aftermathAttacks check what all attacks together left behind.
func aftermathAttacks() []attack {
	return []attack{
		{name: "aftermath/server", who: "everybody", tried: "bring the server down, or make it answer with its own faults", short: true, play: serverLives},
		{name: "aftermath/trail", who: "everybody", tried: "leave the audit trail broken", short: true, play: trailIsWhole},
		{name: "aftermath/victim", who: "everybody", tried: "harm a cluster of the victim's team, late", short: true, play: victimIsUnharmed},
	}
}

// serverLives checks that the process that was started is the one that answers, and that its log has no panic.
func serverLives(ctx context.Context, t *target) (result, error) {
	got, err := t.nobody().ask(ctx, http.MethodGet, "/readyz", nil)
	throughIf(err != nil || got.status != http.StatusOK, "the server does not answer: %d %v", got.status, err)
	log := must.Get(os.ReadFile(filepath.Join(t.Dir, "log", "server.log")))
	for _, text := range []string{"panic", "goroutine 1 [", "fatal error"} {
		if i := bytes.Index(log, []byte(text)); i >= 0 {
			return through("its log says %.200q", log[max(0, i-80):])
		}
	}
	return held("process %d answers, and its log of %d KiB has no panic", t.ServerPID(), len(log)>>10)
}

func trailIsWhole(ctx context.Context, t *target) (result, error) {
	c := must.Get(t.as(oidc.Admin))
	var proof v1.AuditProof
	must.Do(c.expect(ctx, http.StatusOK, &proof, http.MethodGet, "/api/v1/audit/verify", nil))
	throughIf(!proof.Whole, "%s", proof.Message)
	return held("%s", proof.Message)
}

func victimIsUnharmed(ctx context.Context, t *target) (result, error) {
	t.counted.Lock()
	defer t.counted.Unlock()
	for _, v := range t.victims {
		harm := must.Get(t.harm(ctx, v))
		throughIf(harm != "", "%s: %s", v.Name, harm)
	}
	return held("%d clusters of the victim's team are READY, with all that was counted of them", len(t.victims))
}
