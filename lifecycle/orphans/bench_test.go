package orphans

import (
	"fmt"
	"testing"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// BenchmarkJudge groups and judges 100,000 resources of 2,000 clusters, of which one in twenty is destroyed.
func BenchmarkJudge(b *testing.B) {
	const resources, clusters = 100_000, 2_000
	k := lifecycle.Known{Now: epoch, Installation: here}
	for i := range clusters {
		c := lifecycle.KnownCluster{Name: fmt.Sprintf("c%d", i), Identities: []string{fmt.Sprintf("c%d-abcde", i)}}
		c.ID, c.Phase = fmt.Sprintf("clu_%d", i), lifecycle.PhaseReady
		if i%20 == 0 {
			c.Phase, c.ReleasedAt = lifecycle.Released, epoch
		}
		k.Clusters = append(k.Clusters, c)
	}
	seen := make([]Resource, resources)
	for i := range seen {
		of := i % clusters
		r := contract.SeenResource{ID: fmt.Sprintf("arn:aws:ec2:us-east-1:123456789012:instance/i-%d", i), Type: "instance", Region: "us-east-1", Name: fmt.Sprintf("c%d-abcde-worker-%d", of, i)}
		if i%3 > 0 { // a third has no tags
			r.Tags = map[string]string{tagkey.Installation: here, tagkey.ClusterID: fmt.Sprintf("clu_%d", of), fmt.Sprintf("%sc%d-abcde", tagkey.KubernetesCluster, of): tagkey.Owned}
		}
		seen[i] = Resource{SeenResource: r, SeenAt: epoch.Add(time.Minute), Sights: 2, Fresh: true}
	}
	b.ReportAllocs()
	for b.Loop() {
		names := map[string]bool{}
		for _, name := range Candidates(seen) {
			names[name] = true
		}
		leaks := 0
		for _, j := range lifecycle.Judge(lifecycle.Seen{At: epoch.Add(time.Hour), Groups: Groups(Account{Names: names}, seen)}, k) {
			if j.Class == lifecycle.ClassReleased {
				leaks++
			}
		}
		if leaks != clusters/20 {
			b.Fatalf("%d leaks", leaks)
		}
	}
}
