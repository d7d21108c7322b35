package clusters

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Decide forgets what no column keeps.
func TestEveryFieldOfAClusterHasAColumn(t *testing.T) {
	var c lifecycle.Cluster
	kept := map[any]string{}
	for _, col := range columns {
		at := col.field(&c)
		require.Empty(t, kept[at], "two columns keep the field of %s", col.name)
		kept[at] = col.name
	}
	var walk func(name string, v reflect.Value)
	walk = func(name string, v reflect.Value) {
		values := []reflect.Type{reflect.TypeFor[time.Time](), reflect.TypeFor[lifecycle.Reason](), reflect.TypeFor[lifecycle.MoveReason]()}
		if v.Kind() == reflect.Struct && !slices.Contains(values, v.Type()) {
			for i := range v.NumField() {
				walk(name+"."+v.Type().Field(i).Name, v.Field(i))
			}
			return
		}
		require.NotEmpty(t, kept[v.Addr().Interface()], "%s has no column", name)
	}
	walk("Cluster", reflect.ValueOf(&c).Elem())
}

func TestStatesAreComparedAsTheDatabaseKeepsThem(t *testing.T) {
	at := time.Date(2030, 1, 1, 8, 0, 0, 123_456_789, time.FixedZone("CET", 3600))
	one := lifecycle.Cluster{RetryAt: at, WakeAt: at, Blockers: nil}
	require.True(t, SameState(one, lifecycle.Cluster{Version: 7, RetryAt: at.UTC().Truncate(time.Microsecond), Blockers: []lifecycle.Blocker{}}))
	require.False(t, SameState(one, lifecycle.Cluster{RetryAt: at.Add(time.Second)}))
	require.False(t, SameState(one, lifecycle.Cluster{RetryAt: at, Blockers: []lifecycle.Blocker{{Name: "a disk"}}}))
}
