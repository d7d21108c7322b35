package hooks

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAnAnswerIsRememberedForAMomentAndAFailureNever(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	m := newMemory[string](func() time.Time { return now })
	asked := 0
	says := func(value string, err error) string {
		got, failed := m.askOnce("5001 acme/shop will", func() (string, error) { asked++; return value, err })
		require.Equal(t, err != nil && asked > 0, failed != nil)
		return got
	}
	says("", errors.New("GitHub is down"))
	require.Equal(t, "write", says("write", nil), "what failed is asked again at once")
	require.Equal(t, "write", says("none", nil))
	require.Equal(t, 2, asked)
	now = now.Add(time.Minute)
	require.Equal(t, "none", says("none", nil), "who lost it a minute ago has lost it")
}

func TestTheMemoryIsBounded(t *testing.T) {
	now := time.Now()
	m := newMemory[bool](func() time.Time { return now })
	for i := range 3 * rememberAll {
		_, err := m.askOnce(strconv.Itoa(i), func() (bool, error) { return true, nil })
		require.NoError(t, err)
		require.LessOrEqual(t, len(m.kept), rememberAll)
	}
}
