package lifecycle

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkDecide asks about the rows a control plane asks about most.
func BenchmarkDecide(b *testing.B) {
	ready, installing, settling := kindWorld(), kindWorld(), kindWorld()
	ready.until(func() bool { return ready.row.Phase == PhaseReady })
	installing.until(func() bool { return installing.row.Phase == Installing })
	settling.until(func() bool { return settling.row.Phase == PhaseReady })
	settling.destroy()
	settling.until(func() bool { return settling.row.Phase == Verifying && settling.open() == nil })
	for _, c := range []struct {
		name string
		w    *world
	}{{"ready, idle", ready}, {"installing, a heartbeat", installing}, {"teardown, settled and released", settling}} {
		b.Run(c.name, func(b *testing.B) {
			row, f := c.w.row, c.w.facts(true)
			b.ReportAllocs()
			for b.Loop() {
				Decide(row, f, limits)
			}
		})
	}
}

// BenchmarkLife is a whole undisturbed life, the world around it included.
func BenchmarkLife(b *testing.B) {
	for b.Loop() {
		kindWorld().live(0)
	}
}

// BenchmarkFindings is one janitor pass over many clusters, of which a few are not as they should be.
func BenchmarkFindings(b *testing.B) {
	const live, past = 10_000, 100_000
	k := Known{Now: epoch, Installation: "here"}
	s := Seen{At: epoch}
	for i := range live + past {
		c := KnownCluster{Cluster: kindWorld().row, Name: fmt.Sprintf("c-%d", i), Identities: []string{fmt.Sprintf("infra-%d", i)}, MovedAt: epoch}
		c.ID = fmt.Sprintf("clu_%d", i)
		if i >= live {
			c.Status, c.Phase, c.WakeAt, c.ReleasedAt = Destroyed, Released, time.Time{}, epoch
		}
		k.Clusters = append(k.Clusters, c)
		if i < live+10 {
			s.Groups = append(s.Groups, Group{Cluster: c.ID, Identity: c.Identities[0], Installation: "here", Resources: []string{"vpc"}, Sights: 3})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		orphans := 0
		for _, j := range Judge(s, k) {
			if j.Class != ClassLive {
				orphans++
			}
		}
		if found := Troubles(k, findingLimits); len(found) != 0 || orphans != 10 {
			b.Fatalf("%d findings, %d orphans", len(found), orphans)
		}
	}
}
