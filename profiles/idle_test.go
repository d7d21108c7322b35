package profiles

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAProfileSaysWhatIsDoneAboutIdleClusters(t *testing.T) {
	c, err := resting(t, "idle: {tellAfter: 4h, sleepAfter: 6h, endAfter: 48h}\nttlFrom: activity\n")
	require.NoError(t, err)
	p, _ := c.Get("aws-standard")
	require.Equal(t, Idle{TellAfter: 4 * time.Hour, SleepAfter: 6 * time.Hour, EndAfter: 48 * time.Hour}, p.Idle)
	require.Equal(t, TTLFromActivity, p.TTLFrom)

	c, err = resting(t, "idle: {tellAfter: 4h}\n")
	require.NoError(t, err)
	p, _ = c.Get("aws-standard")
	require.Equal(t, Idle{TellAfter: 4 * time.Hour}, p.Idle)
	require.Equal(t, TTLFromAccepted, p.TTLFrom)
}

func TestEveryMistakeAboutIdleClustersIsNamed(t *testing.T) {
	for _, c := range []struct{ more, field, accept string }{
		{"idle: {sleepAfter: 6h}\n", "idle.tellAfter", "a duration"},
		{"idle: {tellAfter: 0s}\n", "idle.tellAfter", "above 0"},
		{"idle: {tellAfter: 4h, sleepAfter: 4h}\n", "idle.sleepAfter", "at least 4h30m"},
		{"idle: {tellAfter: 4h, endAfter: 4h10m}\n", "idle.endAfter", "at least 4h30m"},
		{"idle: {tellAfter: 1h, sleepAfter: 6h, endAfter: 5h}\n", "idle.endAfter", "more than sleepAfter, 6h"},
		{"idle: {tellAfter: 1h, sleepAfter: 6h}\nsleep: {mode: never}\n", "idle.sleepAfter", "mode: stopped"},
		{"idle: {tellAfter: 1h, killAfter: 6h}\n", "idle.killAfter", "sleepAfter"},
		{"ttlFrom: use\n", "ttlFrom", "activity"},
	} {
		_, err := resting(t, c.more)
		require.ErrorContains(t, err, c.field, c.more)
		require.ErrorContains(t, err, c.accept, c.more)
	}
}
