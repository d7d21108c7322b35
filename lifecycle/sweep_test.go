package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var sweepLimits = SweepLimits{
	MinAge: 30 * time.Minute, MinSights: 2, EndMargin: 10 * time.Minute, WakeMargin: 5 * time.Minute, StillFor: 3 * time.Hour,
}

// sound is a ready cluster in good order at epoch.
func sound(id string) KnownCluster {
	c := kindWorld().row
	c.ID, c.Status, c.Phase, c.WakeAt = id, Ready, PhaseReady, epoch.Add(time.Minute)
	return KnownCluster{Cluster: c, Name: "pr41-shop", Identities: []string{"infra-" + id}, MovedAt: epoch.Add(-time.Hour)}
}

func released(id string) KnownCluster {
	c := sound(id)
	c.Status, c.Phase, c.Desired, c.WakeAt, c.ReleasedAt = Destroyed, Released, Absent, time.Time{}, epoch.Add(-24*time.Hour)
	return c
}

func TestASweepFindsWhatNoLivingClusterAnswersFor(t *testing.T) {
	k := Known{Now: epoch, Installation: "here", Clusters: []KnownCluster{sound("a"), released("z")}}
	seen := func(change func(*Group)) Group {
		g := Group{Installation: "here", Cluster: "a", Identity: "infra-a", Resources: []string{"vpc-1"}, FirstSeen: epoch.Add(-time.Hour), Sights: 2}
		change(&g)
		return g
	}
	for name, c := range map[string]struct {
		group Group
		why   string // empty: no finding
		of    string
	}{
		"a recorded name of a living cluster":  {seen(func(*Group) {}), "", ""},
		"a recorded name without a tag":        {seen(func(g *Group) { g.Installation, g.Cluster = "", "" }), "", ""},
		"a tag without a name":                 {seen(func(g *Group) { g.Identity = "" }), "", ""},
		"another control plane's":              {seen(func(g *Group) { g.Installation, g.Cluster, g.Identity = "there", "q", "infra-q" }), "", ""},
		"an unknown name seen once":            {seen(func(g *Group) { g.Cluster, g.Identity, g.Sights = "q", "infra-q", 1 }), "", ""},
		"an unknown name not yet old enough":   {seen(func(g *Group) { g.Cluster, g.Identity, g.FirstSeen = "q", "infra-q", epoch }), "", ""},
		"an unknown name":                      {seen(func(g *Group) { g.Cluster, g.Identity = "q", "infra-q" }), "it belongs to no known cluster", ""},
		"nothing to tell an owner by":          {seen(func(g *Group) { g.Cluster, g.Identity = "", "" }), "it belongs to no known cluster", ""},
		"a name its living cluster never knew": {seen(func(g *Group) { g.Identity = "infra-q" }), "tagged with a live cluster that never recorded this name, so its teardown would not find it", "a"},
		"a released cluster's": {seen(func(g *Group) { g.Cluster, g.Identity, g.FirstSeen = "z", "infra-z", epoch.Add(-48*time.Hour) }),
			"its cluster was destroyed and the final count was zero, but it still exists", "z"},
		"a released cluster's, come later":         {seen(func(g *Group) { g.Cluster, g.Identity = "z", "infra-z" }), "it appeared after its cluster was destroyed", "z"},
		"a released cluster's tag on another name": {seen(func(g *Group) { g.Cluster, g.Identity = "z", "infra-q" }), "it appeared after its cluster was destroyed", "z"},
	} {
		t.Run(name, func(t *testing.T) {
			found := Sweep(Seen{At: epoch, Groups: []Group{c.group}}, k, sweepLimits)
			if c.why == "" {
				require.Empty(t, found)
				return
			}
			require.Equal(t, []Finding{{Orphan, c.of, c.group.Identity, c.group.FirstSeen, c.why, []string{"vpc-1"}}}, found)
		})
	}
}

func TestASweepFindsClustersThatAreNotGoingOn(t *testing.T) {
	with := func(change func(*KnownCluster)) KnownCluster {
		c := sound("a")
		change(&c)
		return c
	}
	ended := func(c *KnownCluster) { c.Ends.PRClosed = epoch.Add(-sweepLimits.EndMargin) }
	for name, c := range map[string]struct {
		cluster KnownCluster
		kinds   []FindingKind
	}{
		"all is well":                          {with(func(*KnownCluster) {}), nil},
		"released clusters are left alone":     {released("z"), nil},
		"past its end and ready":               {with(ended), []FindingKind{Overdue}},
		"past its end within the margin":       {with(func(c *KnownCluster) { c.Ends.PRClosed = epoch.Add(1 - sweepLimits.EndMargin) }), nil},
		"past its end and being torn down":     {with(func(c *KnownCluster) { ended(c); c.Desired, c.Status, c.Phase = Absent, Destroying, Verifying }), nil},
		"past its end, blocked, still desired": {with(func(c *KnownCluster) { ended(c); c.Status, c.Phase = Failed, DestroyBlocked }), []FindingKind{Blocked, Overdue}},
		"nobody looked in time":                {with(func(c *KnownCluster) { c.WakeAt = epoch.Add(-sweepLimits.WakeMargin) }), []FindingKind{Stuck}},
		"it cannot be woken": {with(func(c *KnownCluster) {
			c.Phase, c.Power, c.SleepFailures, c.Why = Waking, Changing, sleepTries, "it wakes up; it is tried again: a machine did not start"
		}), []FindingKind{Stuck}},
		"it was not woken at once": {with(func(c *KnownCluster) { c.Phase, c.Power, c.SleepFailures = Waking, Changing, 1 }), nil},
		"no wake-up time at all":   {with(func(c *KnownCluster) { c.WakeAt = time.Time{} }), []FindingKind{Stuck}},
		"an install that stands still": {with(func(c *KnownCluster) {
			c.Status, c.Phase, c.MovedAt = Creating, Installing, epoch.Add(-sweepLimits.StillFor)
		}), []FindingKind{Stuck}},
		"a ready cluster may stand still": {with(func(c *KnownCluster) { c.MovedAt = epoch.Add(-240 * time.Hour) }), nil},
		"an abandoned one":                {with(func(c *KnownCluster) { c.Desired, c.Status, c.Phase = Absent, Failed, Abandoned }), []FindingKind{Blocked}},
	} {
		t.Run(name, func(t *testing.T) {
			var kinds []FindingKind
			for _, f := range Sweep(Seen{At: epoch}, Known{Now: epoch, Installation: "here", Clusters: []KnownCluster{c.cluster}}, sweepLimits) {
				require.NotEmpty(t, f.Why)
				require.Equal(t, c.cluster.ID, f.Cluster)
				kinds = append(kinds, f.Kind)
			}
			require.Equal(t, c.kinds, kinds)
		})
	}
}

func TestABlockedFindingCarriesWhatIsLeft(t *testing.T) {
	c := sound("a")
	c.Desired, c.Status, c.Phase, c.Why, c.Blockers = Absent, Failed, DestroyBlocked, "3 teardowns left something behind", []string{"vpc-1"}
	require.Equal(t,
		[]Finding{{Blocked, "a", "", c.MovedAt, "3 teardowns left something behind", []string{"vpc-1"}}},
		Sweep(Seen{At: epoch}, Known{Now: epoch, Clusters: []KnownCluster{c}}, sweepLimits))
}
