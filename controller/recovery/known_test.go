package recovery_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/controller/recovery"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// A hold of a person that is over or too short, an attempt that an earlier recovery added, and an install that this one completes, change nothing:
// each was possibly extended after the backup.
func TestEveryReadyClusterThatEndsSoonIsHeldOnce(t *testing.T) {
	cfg, _ := world(t)
	sql := func(sql string, args ...any) {
		t.Helper()
		_, err := cfg.Store.Pool().Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	ids := map[string]string{}
	for _, name := range []string{"plain", "over", "short", "again", "broken", "grows"} {
		row, open := storetest.Claimed(t, cfg.Store, name)
		if ids[name] = row.ID; name != "grows" {
			storetest.Ready(t, cfg.Store, row, open, name+"-abcde")
			continue
		}
		_, err := cfg.Store.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("grows-abcde"), storetest.Bundles("grows-abcde"))
		require.NoError(t, err)
		putCreate(t, cfg, contract.AttemptRecord{Attempt: open.Attempt, Number: 1, Kind: "create", Cluster: row.ID, Identity: &contract.Identity{InfraID: "grows-abcde", ClusterUUID: "5f0c1b1e-0000-4000-8000-000000000001"}})
	}
	putCreate(t, cfg, contract.AttemptRecord{
		Attempt: "att_1", Number: 1, Kind: "create", Cluster: "clu_1", Installation: "test", Name: "shop", BaseDomain: "labs.example.com", Platform: "aws", Region: "eu-west-1", Version: "4.20.3",
		Identity: &contract.Identity{InfraID: "shop-abcde", ClusterUUID: "5f0c1b1e-0000-4000-8000-000000000001"},
	})
	sql(`UPDATE clusters SET end_ttl = now() + interval '10 minutes'`)
	sql(`UPDATE clusters SET end_hold = now() - interval '1 hour', hold_source = 'web', hold_why = 'a demo' WHERE id = $1`, ids["over"])
	sql(`UPDATE clusters SET end_hold = now() + interval '20 minutes', hold_source = 'web', hold_why = 'a demo' WHERE id = $1`, ids["short"])
	_, err := cfg.Store.Recover(t.Context(), store.RecoveredCluster{ID: ids["again"], Why: "found", Attempts: []store.RecoveredAttempt{{Number: 2, Kind: lifecycle.Observe, OpenedAt: time.Now()}}})
	require.NoError(t, err)
	sql(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the disk is full'; END $$`)
	sql(`CREATE TRIGGER refuse BEFORE UPDATE OF end_hold ON clusters FOR EACH ROW WHEN (new.name = 'broken') EXECUTE FUNCTION refuse()`)
	held := func() (names []string) {
		for name, id := range ids {
			row, err := cfg.Store.Cluster(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, lifecycle.Ready, row.Status, name)
			if time.Until(row.DestroyAt) > 50*time.Minute {
				names = append(names, name)
			}
		}
		return names
	}

	_, err = recovery.Run(t.Context(), cfg)
	require.ErrorContains(t, err, "the disk is full")
	require.ElementsMatch(t, []string{"plain", "over", "short", "again", "grows"}, held(), "one that cannot be held keeps no other from it")
	sql(`DROP TRIGGER refuse ON clusters`)
	lines, err := recovery.Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Len(t, lines, 1, "the adopted one's end is a recovery's: %+v", lines)
	require.Len(t, held(), len(ids))
	lines, err = recovery.Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Empty(t, lines)

	sql(`UPDATE clusters SET end_hold = now() - interval '1 second', hold_source = 'recovery', hold_why = 'it was restored' WHERE id = $1`, ids["plain"])
	cfg.Keep = 24 * time.Hour
	lines, err = recovery.Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Len(t, lines, 1, "the hold of an earlier recovery is over")
	row, err := cfg.Store.Cluster(t.Context(), ids["plain"])
	require.NoError(t, err)
	require.Equal(t, row.Ends.Max, row.Ends.Hold)
}

// putCreate stores what a create leaves that succeeded.
func putCreate(t *testing.T, cfg recovery.Config, record contract.AttemptRecord) {
	t.Helper()
	raw, err := json.Marshal(record)
	require.NoError(t, err)
	at := time.Now()
	for key, data := range map[string][]byte{
		artifacts.AttemptKey(record.Cluster, "create", record.Number, at): raw, artifacts.MetadataKey(record.Cluster, record.Number, at): []byte(`{"apiURL": "https://lb-1.hub.example.com:6443"}`),
		artifacts.CredentialKey(record.Cluster, record.Number, at, artifacts.Kubeconfig): []byte("x"),
	} {
		_, err := cfg.Bucket.PutOnce(t.Context(), key, data)
		require.NoError(t, err)
	}
}

// Both were claimed for the same pull request, as only a wrong record can tell: it keeps one, and the other belongs to its claimant alone.
func TestAClusterThatWasClaimedAfterTheBackupIsItsPullRequests(t *testing.T) {
	cfg, _ := world(t)
	for _, name := range []string{"first", "second"} {
		g := storetest.Granted(name)
		g.Row.Pool, g.Row.Pooled, g.Row.PoolDigest, g.Row.Source = "ready", true, "d1", "pool"
		row := storetest.Accept(t, cfg.Store, g)
		storetest.Step(t, cfg.Store, row.ID)
		open, err := cfg.Store.Attempts.OpenAttempt(t.Context(), row.ID)
		require.NoError(t, err)
		_, err = cfg.Store.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
		require.NoError(t, err)
		storetest.Ready(t, cfg.Store, row, open, name+"-abcde")
		raw, err := json.Marshal(contract.AttemptRecord{
			Attempt: "att_" + name, Number: 2, Kind: "prepare", Cluster: row.ID, Installation: "test", Name: name, Platform: "aws", Tags: map[string]string{tagkey.Owner: "maya"},
			Accepted: &contract.Accepted{RequestedBy: "github:maya", Source: "pr_label", Generation: 3, PullRequest: &contract.PullRequest{Installation: 5001, Repo: "acme/shop", Number: 7, Head: "abc"}},
		})
		require.NoError(t, err)
		_, err = cfg.Bucket.PutOnce(t.Context(), artifacts.AttemptKey(row.ID, "prepare", 2, time.Now()), raw)
		require.NoError(t, err)
	}
	lines, err := recovery.Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Len(t, lines, 2)
	lines, err = recovery.Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Empty(t, lines, "their ends are a recovery's")
	require.Equal(t, 2, storetest.Count(t, cfg.Store, `SELECT count(*) FROM clusters WHERE NOT pooled AND generation = 3 AND owner = 'maya'`))
	require.Equal(t, 1, storetest.Count(t, cfg.Store, `SELECT count(*) FROM clusters WHERE (installation, repo, pr_number, pr_head) = (5001, 'acme/shop', 7, 'abc')`))
}
