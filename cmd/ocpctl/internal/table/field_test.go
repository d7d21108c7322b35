package table

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFieldOfAnAnswerIsALineForAScript(t *testing.T) {
	const answer = `{"name": "shop", "nodes": 3, "cents": 120000000, "ready": true, "why": "one\ntwo", "run": {"id": "run_1", "slots": ["a", "b"]},
		"items": [{"name": "x", "tags": ["p"]}, {"name": "y", "tags": ["q", "r"]}], "none": []}`
	for path, want := range map[string][]string{
		"name": {"shop"}, "nodes": {"3"}, "cents": {"120000000"}, "ready": {"true"}, "why": {"one two"}, "run.id": {"run_1"}, "run.slots": {"a", "b"},
		"items.name": {"x", "y"}, "items.tags": {"p", "q", "r"}, "none": nil, "none.name": nil,
	} {
		lines, err := Lines([]byte(answer), path)
		require.NoError(t, err, path)
		require.Equal(t, want, lines, path)
	}
	for path, want := range map[string]string{
		"title":   `no field "title" of "title"; it has cents, items, name`,
		"run.uid": `no field "uid" of "run.uid"; it has id, slots`,
		"run":     `"run" is an object; give one of its fields: id, slots`,
		"name.x":  `no field "x" of "name.x"`,
	} {
		_, err := Lines([]byte(answer), path)
		require.ErrorContains(t, err, want, path)
	}
}

func TestWhichFormatsAreKnown(t *testing.T) {
	for _, one := range []Format{"", "json", "yaml", "name", "wide", "field=destroyAt"} {
		require.True(t, one.Known(), one)
	}
	for _, one := range []Format{"field", "field=", "jsonpath={.x}", "xml"} {
		require.False(t, one.Known(), one)
	}
}
