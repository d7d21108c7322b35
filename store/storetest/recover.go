package storetest

import (
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// Found is a cluster that the database does not know, with one create.
func Found(clock *Clock, name string) store.RecoveredCluster {
	row := Granted(name).Row
	row.ID, row.AcceptedAt, row.MaxTries = "clu_"+name, clock.Now().Add(-time.Hour), 1
	row.TTL, row.Ends.TTL, row.Ends.Max = 2*time.Hour, clock.Now().Add(time.Hour), clock.Now().Add(24*time.Hour)
	row.Status, row.Phase, row.Why.Words = lifecycle.Creating, lifecycle.Configuring, "recovered"
	return store.RecoveredCluster{ID: row.ID, New: &row, Why: "found", Found: []string{"bucket"}, Wait: 16 * time.Minute, Attempts: []store.RecoveredAttempt{{
		ID: "att_" + name, Number: 1, Kind: lifecycle.Create, OpenedAt: row.AcceptedAt, Identity: Identity(name + "-abcde"), Artifacts: Bundles(name + "-abcde"),
	}}}
}

func Outputs() *clusters.Outputs {
	return &clusters.Outputs{APIURL: "https://api.x", ConsoleURL: "https://c.x", KubeconfigRef: "s3://b/k", KubeadminRef: "s3:b", MetadataRef: "s3://b/m"}
}
