package session

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestATokenIsOfOneKeyAndEnds(t *testing.T) {
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	s, token, err := New("key", Session{ARN: "arn", Policy: "p", Expires: now.Add(time.Hour)})
	require.NoError(t, err)
	require.Regexp(t, `^ASIA[A-Z0-9]{16}$`, s.AccessKey)
	require.Len(t, s.SecretKey, 40)
	got, err := Open("key", s.AccessKey, token, now)
	require.NoError(t, err)
	require.Equal(t, s, got)
	require.NotContains(t, token, s.SecretKey)
	for name, open := range map[string]func() error{
		"another installation": func() error { _, err := Open("other", s.AccessKey, token, now); return err },
		"another access key":   func() error { _, err := Open("key", "ASIAOTHER", token, now); return err },
		"an hour later":        func() error { _, err := Open("key", s.AccessKey, token, now.Add(time.Hour)); return err },
		"a changed token":      func() error { _, err := Open("key", s.AccessKey, strings.ToLower(token), now); return err },
		"no token":             func() error { _, err := Open("key", s.AccessKey, "", now); return err },
	} {
		require.ErrorIs(t, open(), ErrInvalid, name)
	}
}
