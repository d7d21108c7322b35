package profiles_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/profiles"
)

func TestAZoneWithoutCapacityIsReplacedByASpareOne(t *testing.T) {
	one, three := []string{"a"}, []string{"a", "b", "c"}
	for _, c := range []struct{ zones, spare, short, want []string }{
		{one, []string{"b", "c"}, nil, one},
		{one, []string{"b", "c"}, []string{"a"}, []string{"b"}},
		{one, []string{"b", "c"}, []string{"a", "b"}, []string{"c"}},
		{one, []string{"b", "c"}, []string{"a", "b", "c"}, one},
		{one, nil, []string{"a"}, one},
		{three, nil, []string{"b"}, []string{"a", "c"}},
		{three, []string{"d"}, []string{"b"}, []string{"a", "c", "d"}},
		{three, nil, []string{"elsewhere"}, three},
	} {
		require.Equal(t, c.want, profiles.ZonesWithout(c.zones, c.spare, c.short), "%+v", c)
	}
}

func TestZonesWithoutCapacityAreUsedOnlyIfNoOtherIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := []string{"a", "b", "c", "d", "e"}
		own := rapid.IntRange(1, 4).Draw(t, "own")
		short := rapid.SliceOfDistinct(rapid.SampledFrom(all), rapid.ID).Draw(t, "short")
		got := profiles.ZonesWithout(all[:own], all[own:], short)
		require.NotEmpty(t, got)
		require.LessOrEqual(t, len(got), own)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(got))), len(got))
		if len(short) < len(all) {
			require.False(t, slices.ContainsFunc(got, func(zone string) bool { return slices.Contains(short, zone) }))
		} else {
			require.Equal(t, all[:own], got)
		}
	})
}

func TestMovedZonesChangeNothingElseOfAnInstallConfig(t *testing.T) {
	var want, got map[string]any
	const config = "# frozen\nmetadata: {name: shop}\ncontrolPlane:\n  platform: {aws: {type: m6i.xlarge, zones: [%s]}}\ncompute:\n- name: worker\n" +
		"  platform: {aws: {zones: [%s]}}\nplatform:\n  aws: {region: us-east-1, defaultMachinePlatform: {zones: [%s]}}\n"
	fill := func(zones string) string {
		return strings.ReplaceAll(config, "%s", zones)
	}
	moved := profiles.MoveZones(fill("us-east-1a"), []string{"us-east-1b", "us-east-1c"})
	require.NoError(t, yaml.Unmarshal([]byte(fill("us-east-1b, us-east-1c")), &want))
	require.NoError(t, yaml.Unmarshal([]byte(moved), &got))
	require.Equal(t, want, got)
	require.Contains(t, moved, "# frozen")
}
