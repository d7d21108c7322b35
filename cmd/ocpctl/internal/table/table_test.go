package table_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

func TestColumnsLineUpWhateverTheirColourAndTheirLetters(t *testing.T) {
	for _, colour := range []bool{false, true} {
		var out bytes.Buffer
		s := &table.Screen{Out: &out, Color: colour}
		c := s.Columns("NAME", "STATUS", "+ID")
		c.Row("größer", table.Cell{Text: "READY", Paint: table.Good}, "x")
		c.Row("b", "", "y")
		c.Write("none")
		c.Row("late", "DESTROYING", "z")
		c.WriteRows()
		want := "NAME    STATUS\ngrößer  READY\nb       -\nlate    DESTROYING\n"
		if colour {
			require.Contains(t, out.String(), "\x1b[32mREADY\x1b[0m")
			require.Contains(t, out.String(), "\x1b[2m-\x1b[0m")
			continue
		}
		require.Equal(t, want, out.String())
	}
}

func TestATableWithoutRowsSaysSo(t *testing.T) {
	var out bytes.Buffer
	(&table.Screen{Out: &out}).Columns("NAME").Write("No clusters.")
	require.Equal(t, "No clusters.\n", out.String())
}

func TestYAMLSaysWhatTheJSONSays(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"true", "4.20", "null", "2025-03-01T10:00:00Z", "a: b", "- x", "0x1f", "1e3", "~", "line\nline\n", "yes", "=", "<<"}))
	value := rapid.Custom(func(t *rapid.T) any {
		return map[string]any{
			text.Draw(t, "name"): []any{text.Draw(t, "text"), rapid.Int32().Draw(t, "number"), rapid.Bool().Draw(t, "bool"), nil, map[string]any{}, []any{}},
			"f":                  0.5,
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(value.Draw(t, "value"))
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, table.Encode(&out, table.YAML, raw))
		var back any
		require.NoError(t, yaml.Unmarshal(out.Bytes(), &back), out.String())
		again, err := json.Marshal(back)
		require.NoError(t, err)
		require.JSONEq(t, string(raw), string(again))
	})
}

func TestMembersKeepTheirOrder(t *testing.T) {
	raw, err := table.With([]byte(` {"z": 1, "a": {"y": [], "b": "4.20"}} `), "key", "k")
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, table.Encode(&out, table.YAML, raw))
	require.Equal(t, "z: 1\na:\n  \"y\": []\n  b: \"4.20\"\nkey: k\n", out.String())
	out.Reset()
	require.NoError(t, table.Encode(&out, table.JSON, raw))
	require.Equal(t, "{\n  \"z\": 1,\n  \"a\": {\n    \"y\": [],\n    \"b\": \"4.20\"\n  },\n  \"key\": \"k\"\n}\n", out.String())
	_, err = table.With([]byte("[]"), "key", "k")
	require.Error(t, err)
}
