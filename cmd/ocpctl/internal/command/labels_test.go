package command_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLabelsAreWaitedForAndToldOneByOne(t *testing.T) {
	o := newOffice(t)
	for name, c := range map[string]struct {
		note string
		code int
		says []string
	}{
		"made":    {"made: ocp/aws-minimal-test, ocp/keep; changed: ocp-ttl/4; fine: ocp-ttl/8", 0, []string{"done", "made: ocp/aws-minimal-test, ocp/keep; changed: ocp-ttl/4; fine: ocp-ttl/8"}},
		"refused": {"given up: make the labels of acme/shop: GitHub refuses; the App needs write on issues", 8, []string{"failed", "the App needs write on issues", "un the command again"}},
		"never":   {"", 124, []string{"update delayed", "un the command again"}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			o.world.Sleep = func(ctx context.Context, _ time.Duration) error {
				if asked++; asked == 3 && c.note == "" {
					return context.DeadlineExceeded
				} else if asked == 3 {
					var id string
					require.NoError(t, o.store.Pool().QueryRow(ctx, `SELECT id FROM effects WHERE done_at IS NULL ORDER BY id DESC LIMIT 1`).Scan(&id))
					require.NoError(t, o.store.Outbox.EffectDone(ctx, id, c.note, c.code == 8))
				}
				return nil
			}
			code, said := o.as("admin", "admin labels acme/shop", o.names)
			require.Equal(t, c.code, code, said)
			for _, text := range c.says {
				require.Contains(t, said, text)
			}
			require.Equal(t, 3, asked)
		})
	}
}

func TestLabelsAreGivenToProgramsAsTheServerSaysThem(t *testing.T) {
	o := newOffice(t)
	code, said := o.as("admin", "admin labels acme/shop --no-wait -o json --idempotency-key k", o.names)
	require.Zero(t, code, said)
	require.Contains(t, said, `"state": "waiting"`)
	id := strings.TrimSpace(o.out.String())
	again, _ := o.as("admin", "admin labels acme/shop --no-wait -o json --idempotency-key k", o.names)
	require.Zero(t, again)
	require.Equal(t, id, strings.TrimSpace(o.out.String()), "a key is asked for once")
}
