package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var findingLimits = FindingLimits{
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

func TestAJudgementSaysWhoseAGroupIs(t *testing.T) {
	renamed := sound("r")
	renamed.Installation = "before"
	domain := released("d")
	domain.Domain = "pr41-shop.labs.example.com"
	k := Known{Now: epoch, Installation: "here", Clusters: []KnownCluster{sound("a"), released("z"), renamed, domain}}
	for name, c := range map[string]struct {
		group Group
		class OrphanClass
		of    string
		why   string // a part of it
	}{
		"a recorded name of a living cluster":                  {Group{Installation: "here", Cluster: "a", Identity: "infra-a"}, ClassLive, "a", ""},
		"a recorded name without a tag":                        {Group{Identity: "infra-a"}, ClassLive, "a", ""},
		"a tag without a name":                                 {Group{Installation: "here", Cluster: "a"}, ClassLive, "a", ""},
		"a living cluster of a former name":                    {Group{Installation: "before", Cluster: "r", Identity: "infra-r"}, ClassLive, "r", ""},
		"the marks of two, one of them living":                 {Group{Identity: "infra-a,infra-z"}, ClassLive, "a", ""},
		"another control plane's":                              {Group{Installation: "there", Cluster: "q", Identity: "infra-q"}, ClassForeign, "", "the installation there"},
		"another control plane's tag on a name":                {Group{Installation: "there", Identity: "infra-z"}, ClassForeign, "", "the installation there"},
		"a name its living cluster never knew":                 {Group{Installation: "here", Cluster: "a", Identity: "infra-q"}, ClassUnrecorded, "a", "never recorded this name"},
		"a living cluster's tag on a destroyed cluster's name": {Group{Installation: "here", Cluster: "a", Identity: "infra-z"}, ClassUnrecorded, "a", "never recorded"},
		"a destroyed cluster's":                                {Group{Installation: "here", Cluster: "z", Identity: "infra-z"}, ClassReleased, "z", "the cloud still lists it"},
		"a destroyed cluster's name":                           {Group{Identity: "infra-z"}, ClassReleased, "z", "the cloud still lists it"},
		"a destroyed cluster's tag":                            {Group{Installation: "here", Cluster: "z"}, ClassReleased, "z", "the cloud still lists it"},
		"a destroyed cluster's id and nothing else":            {Group{Cluster: "z"}, ClassUnrecorded, "z", "neither with this installation"},
		"a destroyed cluster's tag on another name":            {Group{Installation: "here", Cluster: "z", Identity: "infra-q"}, ClassUnrecorded, "z", "did not look for it"},
		"our tag, and no such cluster":                         {Group{Installation: "here", Cluster: "q", Identity: "infra-q"}, ClassUnknown, "", "no cluster q"},
		"our tag and nothing else":                             {Group{Installation: "here"}, ClassUnknown, "", "no known cluster's id"},
		"a person's":                                           {Group{Place: "vpc-9", Owner: "maya"}, ClassOwned, "", "maya"},
		"several people's":                                     {Group{Place: "vpc-9", Owners: true}, ClassOwned, "", "several people"},
		"the mark of a cluster of which nobody knows":          {Group{Identity: "infra-q", Marked: true}, ClassOwned, "", "infra-q"},
		"a cluster's id of which nobody knows":                 {Group{Cluster: "q"}, ClassOwned, "", "q"},
		"nothing to tell an owner by":                          {Group{Place: "vpc-9"}, ClassNobody, "", "nothing says whose"},
		"a name in DNS that a destroyed cluster had":           {Group{Place: domain.Domain, Domain: domain.Domain}, ClassNobody, "d", "something else may use"},
	} {
		t.Run(name, func(t *testing.T) {
			c.group.SetParts([]Part{{ID: "vpc-1", SeenAt: epoch}})
			judged := Judge(Seen{At: epoch, Groups: []Group{c.group}}, k)
			require.Len(t, judged, 1)
			require.Equal(t, c.class, judged[0].Class)
			require.Contains(t, judged[0].Why, c.why)
			require.Equal(t, c.class == ClassLive, judged[0].Why == "", judged[0].Why)
			if c.of == "" {
				require.Nil(t, judged[0].Of)
				return
			}
			require.Equal(t, c.of, judged[0].Of.ID)
		})
	}
}

func TestWhatWasLastSeenBeforeTheFinalCountIsNoOrphan(t *testing.T) {
	domain := released("d")
	domain.Domain = "pr41-shop.labs.example.com"
	k := Known{Now: epoch, Installation: "here", Clusters: []KnownCluster{released("z"), domain, sound("a")}}
	before := Part{ID: "vpc-1", Region: "us-east-1", SeenAt: domain.ReleasedAt, HourlyCents: new(40.0), Sights: 3}
	after := Part{ID: "nat-1", Region: "us-east-2", SeenAt: domain.ReleasedAt.Add(1), HourlyCents: new(4.5), Sights: 1, Fresh: true}
	for name, c := range map[string]struct {
		group Group
		class OrphanClass // of what was seen before alone
	}{
		"a recorded name":                     {Group{Identity: "infra-z"}, ClassCounted},
		"a tag":                               {Group{Installation: "here", Cluster: "z"}, ClassCounted},
		"a name in DNS":                       {Group{Domain: domain.Domain}, ClassCounted},
		"a name that the count did not know":  {Group{Installation: "here", Cluster: "z", Identity: "infra-q"}, ClassUnrecorded},
		"an id that the count did not search": {Group{Cluster: "z"}, ClassUnrecorded},
		"a living cluster's":                  {Group{Identity: "infra-a"}, ClassLive},
		"somebody's":                          {Group{Place: "vpc-1", Owner: "maya"}, ClassOwned},
	} {
		t.Run(name, func(t *testing.T) {
			c.group.SetParts([]Part{before})
			require.Equal(t, c.class, Judge(Seen{Groups: []Group{c.group}}, k)[0].Class)

			c.group.SetParts([]Part{before, after}) // a scan that began before the count and ended after it
			j := Judge(Seen{Groups: []Group{c.group}}, k)[0]
			if c.class != ClassCounted {
				require.Equal(t, c.class, j.Class)
				require.Equal(t, []string{"nat-1", "vpc-1"}, j.Resources)
				require.InDelta(t, 44.5, *j.HourlyCents, 0.001)
				return
			}
			require.True(t, j.Class.IsOrphan())
			require.Equal(t, []string{"nat-1"}, j.Resources)
			require.Equal(t, []string{"us-east-2"}, j.Regions)
			require.InDelta(t, 4.5, *j.HourlyCents, 0.001)
			require.Equal(t, 1, j.Sights)
			require.True(t, j.Fresh)
		})
	}
}

func TestADomainIsTheLivingClustersWhoseNameIsUsedAgain(t *testing.T) {
	old, living := released("z"), sound("a")
	old.Domain, living.Domain = "shop.labs.example.com", "shop.labs.example.com"
	for _, clusters := range [][]KnownCluster{{old, living}, {living, old}} {
		judged := Judge(Seen{Groups: []Group{{Domain: old.Domain}}}, Known{Clusters: clusters})
		require.Equal(t, ClassLive, judged[0].Class)
	}
}

func TestTroublesAreOfClustersThatAreNotGoingOn(t *testing.T) {
	with := func(change func(*KnownCluster)) KnownCluster {
		c := sound("a")
		change(&c)
		return c
	}
	ended := func(c *KnownCluster) { c.Ends.PRClosed = epoch.Add(-findingLimits.EndMargin) }
	for name, c := range map[string]struct {
		cluster KnownCluster
		kinds   []FindingKind
	}{
		"all is well":                          {with(func(*KnownCluster) {}), nil},
		"released clusters are left alone":     {released("z"), nil},
		"past its end and ready":               {with(ended), []FindingKind{Overdue}},
		"past its end within the margin":       {with(func(c *KnownCluster) { c.Ends.PRClosed = epoch.Add(1 - findingLimits.EndMargin) }), nil},
		"past its end and being torn down":     {with(func(c *KnownCluster) { ended(c); c.Desired, c.Status, c.Phase = Absent, Destroying, Verifying }), nil},
		"past its end, blocked, still desired": {with(func(c *KnownCluster) { ended(c); c.Status, c.Phase = Failed, DestroyBlocked }), []FindingKind{Blocked, Overdue}},
		"nobody looked in time":                {with(func(c *KnownCluster) { c.WakeAt = epoch.Add(-findingLimits.WakeMargin) }), []FindingKind{Stuck}},
		"it cannot be woken": {with(func(c *KnownCluster) {
			c.Phase, c.Power, c.Work, c.Why.Words = Waking, Changing, map[Kind]Work{Wake: {Failures: workTries}}, "it wakes up; it is tried again: a machine did not start"
		}), []FindingKind{Stuck}},
		"it was not woken at once": {with(func(c *KnownCluster) { c.Phase, c.Power, c.Work = Waking, Changing, map[Kind]Work{Wake: {Failures: 1}} }), nil},
		"no wake-up time at all":   {with(func(c *KnownCluster) { c.WakeAt = time.Time{} }), []FindingKind{Stuck}},
		"an install that stands still": {with(func(c *KnownCluster) {
			c.Status, c.Phase, c.MovedAt = Creating, Installing, epoch.Add(-findingLimits.StillFor)
		}), []FindingKind{Stuck}},
		"a ready cluster may stand still": {with(func(c *KnownCluster) { c.MovedAt = epoch.Add(-240 * time.Hour) }), nil},
		"an abandoned one":                {with(func(c *KnownCluster) { c.Desired, c.Status, c.Phase = Absent, Failed, Abandoned }), []FindingKind{Blocked}},
	} {
		t.Run(name, func(t *testing.T) {
			var kinds []FindingKind
			for _, f := range Troubles(Known{Now: epoch, Installation: "here", Clusters: []KnownCluster{c.cluster}}, findingLimits) {
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
	c.Desired, c.Status, c.Phase, c.Why, c.Blockers = Absent, Failed, DestroyBlocked, MoveReason{Words: "3 teardowns left something behind"}, []Blocker{{Name: "vpc-1"}}
	require.Equal(t,
		[]Finding{{Kind: Blocked, Cluster: "a", Since: c.MovedAt, Why: "3 teardowns left something behind", Evidence: []string{"vpc-1"}}},
		Troubles(Known{Now: epoch, Clusters: []KnownCluster{c}}, findingLimits))
}
