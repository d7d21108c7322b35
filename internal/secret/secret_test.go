package secret

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASecretShowsItselfNowhere(t *testing.T) {
	type holder struct {
		Token Text
		Inner []Text
		ByKey map[string]Text
	}
	held := holder{Token: New("CANARY"), Inner: []Text{New("CANARY")}, ByKey: map[string]Text{"key": New("CANARY")}}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("held", "token", held.Token, "held", held)
	slog.New(slog.NewTextHandler(&log, nil)).Info("held", "token", held.Token)
	raw, err := json.Marshal(held)
	require.NoError(t, err)
	shown := fmt.Sprintf("%v %+v %#v %s %q %d %x", held, held, held, held.Token, held.Token, held.Token, held.Token)
	for name, text := range map[string]string{"printed": shown, "logged": log.String(), "as JSON": string(raw)} {
		require.NotContains(t, text, "CANARY", name)
		require.NotContains(t, text, fmt.Sprintf("%x", "CANARY"), name)
	}
	require.Contains(t, string(raw), `"Token":"***"`)
	require.Equal(t, "CANARY", held.Token.Reveal())
	require.False(t, held.Token.Empty())
	require.True(t, Text{}.Empty())
}
