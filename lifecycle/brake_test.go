package lifecycle

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// freeze is store/brakes.Freeze and Thaw: whoever waits is reconciled, and what lives there may be drained.
func (w *world) freeze() {
	w.reconcileAsked = true
	if w.brake != nil || w.fair {
		w.brake = nil
		if w.row.Ends.Drain.After(w.now) && w.row.Desired == Present {
			w.touch(func(c *Cluster) { c.Ends.Drain, c.Ends.DrainWhy = time.Time{}, Reason{} })
		}
		return
	}
	if lives := w.row.Status == Ready || w.row.Status == Creating; lives && w.row.Desired == Present && w.chance(2) {
		w.touch(func(c *Cluster) {
			c.Ends.Drain, c.Ends.DrainWhy = w.now.Add(time.Duration(w.pick(4))*time.Hour), Reason{Code: ReasonDrain, By: "Ada", Name: "brk_1"}
		})
	}
	w.brake = &Brake{ID: "brk_1", Kind: Freeze, By: "Ada", Words: "an outage", Since: w.now, Until: w.now.Add(time.Duration(1+w.pick(5)) * time.Hour)}
}

// Rule 14: while a brake holds no create begins, and nothing else is different.
func brakesStopOnlyCreates(w *world, c Cluster, f Facts, d Decision) string {
	if f.Brake == nil || !f.Brake.Holds(f.Now) {
		return ""
	}
	free := f
	free.Brake = nil
	without := w.decide(c, free, limits)
	creates := without.Open == Create || without.Wait != nil && without.Wait.Kind == Create
	switch {
	case d.Open == Create:
		return "a create begins although a brake holds"
	case creates && (d.Next.Why.Brake != *f.Brake || d.Next.Status != Pending):
		return "a create waits and nothing shows that a brake holds"
	case creates && f.Now.Before(f.Brake.Until) && d.Next.WakeAt.After(f.Brake.Until):
		return "it sleeps past the end of the freeze"
	case !creates && len(f.Beside) == 0 && !reflect.DeepEqual(d, without):
		return "a brake changes something besides creates"
	}
	return ""
}

var brakeMutants = []mutant{
	{11, false, "a drain ends nothing", func(c Cluster, f Facts, l Limits) Decision {
		ends := c.Ends
		c.Ends.Drain = time.Time{}
		d := Decide(c, f, l)
		d.Next.Ends.Drain = ends.Drain
		return d
	}},
	{11, false, "a hold keeps it past its drain", func(c Cluster, f Facts, l Limits) Decision {
		ends := c.Ends
		if c.Ends.Hold.After(c.Ends.Drain) {
			c.Ends.Drain = time.Time{}
		}
		d := Decide(c, f, l)
		d.Next.Ends.Drain = ends.Drain
		return d
	}},
	{14, false, "a freeze stops nothing", func(c Cluster, f Facts, l Limits) Decision {
		f.Brake = nil
		return Decide(c, f, l)
	}},
	{14, false, "a freeze stops first tries alone", func(c Cluster, f Facts, l Limits) Decision {
		if c.Tries > 0 {
			f.Brake = nil
		}
		return Decide(c, f, l)
	}},
	{14, false, "a freeze delays teardowns", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if f.Brake != nil && d.Open == Destroy {
			d.Open, d.OpenJob, d.Effects, d.Jobs = "", "", nil, nil
		}
		return d
	}},
	{14, false, "a frozen cluster sleeps past the end of the freeze", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if !d.Next.Why.Brake.IsZero() {
			d.Next.WakeAt = f.Now.Add(l.RetryMax)
		}
		return d
	}},
	{14, false, "a frozen cluster does not say so", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		d.Next.Why.Brake = Brake{}
		return d
	}},
}

func TestABrakeHoldsWhereItIsAskedFor(t *testing.T) {
	since := epoch
	freeze := func(id string, where Place, hours int) Brake {
		return Brake{ID: id, Kind: Freeze, Where: where, By: "Ada", Words: "the API is down", Since: since, Until: since.Add(time.Duration(hours) * time.Hour)}
	}
	brakes := []Brake{
		freeze("brk_1", Place{Platform: "aws"}, 1), freeze("brk_2", Place{Platform: "aws", Region: "us-east-1"}, 3),
		freeze("brk_3", Place{Team: "shop"}, 2), freeze("brk_4", Place{Profile: "gpu"}, 2),
	}
	for what, one := range map[string]struct {
		at    Place
		after time.Duration
		want  string
	}{
		"the one that holds longest": {Place{Platform: "aws", Region: "us-east-1", Team: "shop"}, 0, "brk_2"},
		"another region":             {Place{Platform: "aws", Region: "eu-west-1"}, 0, "brk_1"},
		"its time is over":           {Place{Platform: "aws", Region: "eu-west-1"}, time.Hour, ""},
		"of two, always the same":    {Place{Platform: "ibmcloud", Team: "shop", Profile: "gpu"}, 0, "brk_4"},
		"nothing there":              {Place{Platform: "ibmcloud", Account: "1", Region: "us-east-1", Profile: "small", Team: "platform"}, 0, ""},
	} {
		found := BrakeAt(brakes, one.at, since.Add(one.after))
		if one.want == "" {
			require.Nil(t, found, what)
			continue
		}
		require.NotNil(t, found, what)
		require.Equal(t, one.want, found.ID, what)
	}
	require.Equal(t, "Ada froze new clusters on aws in the region us-east-1 from 08:00 UTC on 1 January until 11:00 UTC on 1 January: the API is down", brakes[1].String())
	require.Equal(t, "Ada froze new clusters from 08:00 UTC on 1 January until 09:00 UTC on 1 January", Brake{Kind: Freeze, By: "Ada", Since: since, Until: since.Add(time.Hour)}.String())
}

func TestAFrozenClusterBeginsWhenTheFreezeEnds(t *testing.T) {
	c := Cluster{ID: "clu_1", Status: Pending, Phase: Queued, Desired: Present, MaxTries: 2, Ends: Ends{TTL: epoch.Add(8 * time.Hour), Max: epoch.Add(9 * time.Hour)}}
	brake := &Brake{ID: "brk_1", Kind: Freeze, By: "Ada", Since: epoch, Until: epoch.Add(time.Hour)}
	d := Decide(c, Facts{Now: epoch, Brake: brake}, limits)
	require.Equal(t, Pending, d.Next.Status)
	require.Empty(t, d.Open)
	require.Equal(t, brake.Until, d.Next.WakeAt)
	d = Decide(d.Next, Facts{Now: brake.Until, Brake: brake}, limits)
	require.Equal(t, Create, d.Open)
	require.Equal(t, 1, d.Next.Tries)
	require.True(t, d.Next.Why.Brake.IsZero())
}

func TestABreakerHoldsUntilItCloses(t *testing.T) {
	c := Cluster{ID: "clu_1", Status: Pending, Phase: Queued, Desired: Present, MaxTries: 2, Ends: Ends{TTL: epoch.Add(8 * time.Hour), Max: epoch.Add(9 * time.Hour)}}
	brake := &Brake{ID: "brk_1", Kind: Breaker, Where: Place{Platform: "aws", Version: "4.20.1"}, Code: "BootstrapTimeout", Failures: 3, Since: epoch, Until: epoch.Add(10 * time.Minute)}
	d := Decide(c, Facts{Now: epoch, Brake: brake}, limits)
	require.Equal(t, brake.Until, d.Next.WakeAt)
	require.Equal(t, "new clusters of the version 4.20.1 on aws have had to wait since 08:00 UTC on 1 January, because 3 creates in a row failed with BootstrapTimeout; one is tried from 08:10 UTC on 1 January", d.Next.Why.String())
	now := brake.Until.Add(time.Hour) // another cluster is tried
	d = Decide(d.Next, Facts{Now: now, Brake: brake}, limits)
	require.Empty(t, d.Open)
	require.Equal(t, now.Add(limits.LookAgain), d.Next.WakeAt)
	require.Equal(t, Create, Decide(d.Next, Facts{Now: now}, limits).Open)
}

func TestAForecastKnowsWhatABrakeKeeps(t *testing.T) {
	until := epoch.Add(time.Hour)
	freeze := &Brake{Kind: Freeze, Until: until}
	require.Equal(t, until, Forecast{StartsAt: epoch}.Braked(freeze).StartsAt)
	require.Equal(t, until.Add(1), Forecast{StartsAt: until.Add(1)}.Braked(freeze).StartsAt, "the queue is longer than the freeze")
	require.Zero(t, Forecast{}.Braked(freeze).StartsAt, "what is not known stays so")
	require.Zero(t, Forecast{StartsAt: epoch}.Braked(&Brake{Kind: Breaker, Until: until}).StartsAt, "nobody knows when it closes")
	require.Equal(t, epoch, Forecast{StartsAt: epoch}.Braked(nil).StartsAt)
}
