package chatops

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// week is one in which everything happened.
func week() Week {
	return Week{
		From: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC),
		Cents: 18_450, CentsBefore: 12_000, SavedCents: 2_310, Spenders: []Spender{{"platform", 15_000}, {"pay`ments", 3_400}, {"a", 30}, {"b", 20}},
		Accepted: 12, Ready: 10, Destroyed: 9, Median: 41*time.Minute + 40*time.Second,
		Live: 4, HourlyCents: 430, Longest: []LongRunning{{"shop", "maya", "platform", 9*24*time.Hour + time.Hour, 120}, {"vault", "rob", "payments", 30 * time.Hour, 70}},
		FailedAttempts: 5, Failures: []WeekFailure{{"VPCLimitExceeded", 4}, {"lost", 1}}, EndedUnused: 1, SleptIdle: 3, SleptOffHours: 12, Teardowns: 9, Unaided: 8, Blocked: 1, Leaks: 2, LeakCents: 350,
	}
}

func TestAWeekIsTold(t *testing.T) {
	w := week()
	require.Equal(t, "Week of 16 to 22 November 2026", w.Title())
	require.Equal(t, "/reports?from=2026-11-16&to=2026-11-23", w.Page())
	require.Equal(t, strings.TrimSpace(`
**Spent:** $184.50 by list prices, $64.50 more than in the week before. The most: `+"`platform` $150.00, `pay'ments` $34.00, `a` $0.30"+`.
**Saved by sleeping:** $23.10.
**Clusters:** 12 requested, 10 became ready, half of them within 42 min, and 9 are gone.
**Unused clusters:** 1 cluster ended because nobody used it; clusters fell asleep 3 times because nobody used them, and 12 times outside working hours.
**Failed attempts:** 5. The most frequent: `+"`VPCLimitExceeded` 4, `lost` 1"+`.
**Teardowns:** 8 of 9 ended without help.
**Leaks:** 2 groups of resources that belong to no cluster, which cost at least $3.50.
**Now:** 4 clusters, for $4.30 per hour. These have been there the longest.
- `+"`shop` of `maya`, team `platform`"+`: for 9 d 1 h, $28.80 per day
- `+"`vault` of `rob`, team `payments`"+`: for 30 h, $16.80 per day
**What to do:**
- Help 1 blocked teardown: the findings name what is in the way.
- Look at 2 groups of resources that belong to no cluster: they cost money until somebody removes them.
- Look into `+"`VPCLimitExceeded`"+`: 4 attempts failed because of it. The runbook for failed creates says who can help.`), w.Text())

	w = Week{Team: "platform", From: time.Date(2026, 10, 26, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)}
	require.Equal(t, "Week of 26 October to 1 November 2026, team platform", (Week{Team: "platform", From: w.From, To: w.To}).Title())
	require.Equal(t, "/reports?from=2026-10-26&team=platform&to=2026-11-02", w.Page())
	require.Equal(t, strings.TrimSpace(`
**Spent:** $0.00 by list prices, as much as in the week before.
**Clusters:** 0 requested, 0 became ready, and 0 are gone.
**Failed attempts:** none.
**Now:** there is no cluster.
**What to do:**
- Nothing.`), w.Text())
}

func TestAWeekAsksForAtMostThreeThingsTheMostUrgentFirst(t *testing.T) {
	calm := week()
	calm.Blocked, calm.Leaks = 0, 0
	require.Equal(t, []string{
		"Look into `VPCLimitExceeded`: 4 attempts failed because of it. The runbook for failed creates says who can help.",
		"Ask `maya` whether `shop` is still needed: it has been there for 9 d 1 h.",
		"Find out why spending rose by $64.50; `platform` spent the most.",
	}, calm.tasks())
	calm.Failures[0].Attempts, calm.Longest[0].Age, calm.CentsBefore = 2, 3*24*time.Hour-time.Second, 17_451
	require.Equal(t, []string{"Nothing."}, calm.tasks(), "little of each")
	calm.CentsBefore = 16_000
	require.Equal(t, []string{"Nothing."}, calm.tasks(), "less than a quarter more")
	require.Len(t, week().tasks(), 3)
}
