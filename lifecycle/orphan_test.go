package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func judged(class OrphanClass) Judged {
	j := Judged{Group: Group{Sights: 1, Fresh: true}, Class: class, Why: "because"}
	if class == ClassLive || class == ClassCounted {
		c := sound("a")
		j.Of, j.Why = &c, ""
	}
	return j
}

func TestAnOrphanIsToldOnceItWasSeenTwiceAndLongEnough(t *testing.T) {
	o := KnownOrphan{}.Next(judged(ClassReleased), epoch, findingLimits)
	require.Equal(t, KnownOrphan{Class: ClassReleased, Since: epoch, Sights: 1, State: OrphanSeen, StateAt: epoch, StateWhy: o.StateWhy}, o)
	require.Contains(t, o.StateWhy, "2 scans")

	soon := o.Next(judged(ClassReleased), epoch.Add(findingLimits.MinAge-1), findingLimits)
	require.Equal(t, OrphanSeen, soon.State)
	require.Equal(t, OrphanReported, o.Next(judged(ClassReleased), epoch.Add(findingLimits.MinAge), findingLimits).State)

	unasked := judged(ClassReleased)
	unasked.Fresh = false // its region did not answer
	again := o.Next(unasked, epoch.Add(time.Hour), findingLimits)
	require.Equal(t, OrphanSeen, again.State, "what was not looked for was not seen")
	require.Equal(t, OrphanReported, again.Next(judged(ClassReleased), epoch.Add(2*time.Hour), findingLimits).State)

	missed := judged(ClassReleased)
	missed.Sights, missed.Fresh = 0, false
	again = o.Next(missed, epoch.Add(time.Hour), findingLimits)
	require.Equal(t, OrphanSeen, again.Next(judged(ClassReleased), epoch.Add(2*time.Hour), findingLimits).State, "the sights begin anew")
}

func TestTheStateOfAnOrphan(t *testing.T) {
	old := func(state OrphanState, by string) KnownOrphan {
		return KnownOrphan{Class: ClassReleased, Since: epoch.Add(-24 * time.Hour), Sights: 5, State: state, StateAt: epoch.Add(-time.Hour), StateWhy: "so", DecidedBy: by}
	}
	exempt := judged(ClassReleased)
	exempt.Exempt = "a test account"
	for name, c := range map[string]struct {
		before KnownOrphan
		judged Judged
		state  OrphanState
		by     string
	}{
		"reported stays":                           {old(OrphanReported, ""), judged(ClassReleased), OrphanReported, ""},
		"of a person it is only told":              {old(OrphanSeen, ""), judged(ClassOwned), OrphanKept, ""},
		"of a person it is told late, too":         {KnownOrphan{}, judged(ClassOwned), OrphanSeen, ""},
		"of another installation it is kept":       {KnownOrphan{}, judged(ClassForeign), OrphanKept, ""},
		"an approval for what is foreign is void":  {old(OrphanApproved, "saml:ada"), judged(ClassForeign), OrphanKept, ""},
		"a removal of what is foreign is void":     {old(OrphanRemoving, "saml:ada"), judged(ClassForeign), OrphanKept, ""},
		"an approval stays":                        {old(OrphanApproved, "saml:ada"), judged(ClassReleased), OrphanApproved, "saml:ada"},
		"an approval is for one class":             {old(OrphanApproved, "saml:ada"), judged(ClassUnrecorded), OrphanReported, ""},
		"a removal goes on":                        {old(OrphanRemoving, ""), judged(ClassReleased), OrphanRemoving, ""},
		"a removal goes on while its cluster does": {old(OrphanRemoving, ""), judged(ClassLive), OrphanRemoving, ""},
		"it belongs to a living cluster":           {old(OrphanReported, ""), judged(ClassLive), OrphanGone, ""},
		"its final count found nothing":            {old(OrphanReported, ""), judged(ClassCounted), OrphanGone, ""},
		"its removal's count found nothing":        {old(OrphanRemoving, ""), judged(ClassCounted), OrphanGone, ""},
		"the configuration exempts it":             {old(OrphanReported, ""), exempt, OrphanExempt, ""},
		"the configuration exempts it no more":     {old(OrphanExempt, ""), judged(ClassReleased), OrphanReported, ""},
		"a person exempts it":                      {old(OrphanExempt, "saml:ada"), judged(ClassReleased), OrphanExempt, "saml:ada"},
		"it comes back":                            {old(OrphanGone, ""), judged(ClassReleased), OrphanSeen, ""},
	} {
		t.Run(name, func(t *testing.T) {
			after := c.before.Next(c.judged, epoch, findingLimits)
			require.Equal(t, c.state, after.State)
			require.Equal(t, c.by, after.DecidedBy)
			require.NotEmpty(t, after.StateWhy)
			if after.State == c.before.State {
				require.Equal(t, c.before.StateAt, after.StateAt)
			} else {
				require.Equal(t, epoch, after.StateAt)
			}
		})
	}
}
