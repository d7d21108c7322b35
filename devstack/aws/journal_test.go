package aws_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/meter"
)

func TestALineCutOffByAKillIsForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	cfg := aws.Config{StatePath: path, AccessKey: key, SecretKey: secret}
	c := start(t, cfg)
	kept, cut := c.vpc(t), c.vpc(t)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, short := range []int{1, 10, 100} {
		half := filepath.Join(t.TempDir(), fmt.Sprint(short))
		require.NoError(t, os.WriteFile(half, raw[:len(raw)-short-1], 0o600))
		again := start(t, aws.Config{StatePath: half})
		require.NotEmpty(t, again.Resources(kept))
		third := again.vpc(t)
		sameAgain(t, again.Server, aws.Config{StatePath: half, AccessKey: key, SecretKey: secret, Settle: 5 * time.Millisecond})
		require.NotEmpty(t, again.Resources(third), "what follows is kept again")
	}
	require.NotEmpty(t, c.Resources(cut))
}

func TestAMangledStateIsNotTakenForAnEmptyOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(path, []byte("{\"account\":\"1\"}\n{\"put\":7}\n"), 0o600))
	_, err := aws.Start(t.Context(), aws.Config{StatePath: path, AccessKey: key, SecretKey: secret})
	require.ErrorContains(t, err, path)
}

func TestALongRunStaysSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	c := start(t, aws.Config{StatePath: path})
	before := len(c.All())
	for i := range 3000 {
		r, err := c.Plant(aws.Resource{Service: "ec2", Type: "volume", Tags: map[string]string{owned: "owned", "Name": fmt.Sprint(i)}})
		require.NoError(t, err)
		require.NoError(t, c.Free(r.ID))
	}
	require.Empty(t, c.Resources(""))
	require.LessOrEqual(t, len(c.All()), before+2000, "the oldest tombstones are forgotten")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(4<<20))
}

func TestTheMeterCountsForAsLongAsThingsExistAndMachinesRunAlsoAfterARestart(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	cfg := aws.Config{StatePath: filepath.Join(t.TempDir(), "state.json"), AccessKey: key, SecretKey: secret, Now: func() time.Time { return now }}
	s, err := aws.Start(t.Context(), cfg)
	require.NoError(t, err)
	plant := func(typ string, state string, attrs map[string]string) aws.Resource {
		r, err := s.Plant(aws.Resource{Service: "ec2", Type: typ, State: state, Attrs: attrs, Tags: map[string]string{"ClusterId": "clu_1"}})
		require.NoError(t, err)
		return r
	}
	disk := plant("volume", "in-use", map[string]string{"type": "gp3", "size": "120"})
	plant("instance", "running", map[string]string{"instance-type": "m6i.xlarge"})
	plant("instance", "stopped", map[string]string{"instance-type": "m6i.xlarge"})
	plant("subnet", "available", nil)
	now = now.Add(2 * time.Hour)
	require.NoError(t, s.Free(disk.ID))
	s.Elapse(3 * time.Hour)
	want := []meter.Used{
		{Cluster: "clu_1", Kind: "instance", Detail: "m6i.xlarge", Region: "us-east-1", For: 5 * time.Hour},
		{Cluster: "clu_1", Kind: "volume", Detail: "gp3 120", Region: "us-east-1", For: 2 * time.Hour},
	}
	require.Equal(t, want, s.Meter())
	require.NoError(t, s.Stop())

	s, err = aws.Start(t.Context(), cfg)
	require.NoError(t, err)
	want[0].For = 2 * time.Hour // a process that ends forgets what was elapsed for things that are still there
	require.Equal(t, want, s.Meter())
	require.NoError(t, s.Stop())
}

func TestTombstonesLastAsLongAsConfigured(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	c := start(t, aws.Config{Tombstone: time.Second, Now: func() time.Time { return now }})
	r, err := c.Plant(aws.Resource{Service: "ec2", Type: "volume", Tags: map[string]string{owned: "owned"}})
	require.NoError(t, err)
	require.NoError(t, c.Free(r.ID))
	found, _ := c.arns(t, 50)
	require.Len(t, found, 1)
	now = now.Add(2 * time.Second)
	found, _ = c.arns(t, 50)
	require.Empty(t, found)
}
