package devstack_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
)

// What the reports say that clusters cost is what their cloud's own meter counts for what they were made of, within 1 %: awake, scaled, asleep in
// both ways, and after the teardown, on both clouds. Hours pass at each rest, so installs and teardowns take no part of it that could be seen.
func TestTheReportAgreesWithTheCloudsMeters(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	robot := l.byAWS()
	ids := map[string]string{}
	for name, profile := range map[string]string{"stops": "aws-minimal-test", "scales": "aws-standard", "rests": "aws-standard", "ibm": "ibm-minimal-test"} {
		ids[name] = robot.create(v1.CreateRequest{Name: name, Profile: profile, Team: "platform", TTLHours: 24}, name).ClusterID
	}
	at := func(name, verb string, body any) {
		ask[v1.Accepted](robot, http.MethodPost, "/api/v1/clusters/"+ids[name]+"/"+verb, body, http.StatusAccepted)
	}
	until := func(phase string, names ...string) {
		for _, name := range names {
			robot.until(ids[name], phase, func(c v1.ClusterDetail) bool { return c.Phase == phase })
		}
	}
	until("ready", "stops", "scales", "rests", "ibm")
	l.hours(7)
	at("scales", "scale-workers", v1.Scale{Replicas: 1})
	at("stops", "sleep", v1.SleepRequest{})
	at("ibm", "sleep", v1.SleepRequest{})
	until("scaled_down", "scales")
	until("asleep", "stops", "ibm")
	l.hours(9)
	at("scales", "sleep", v1.SleepRequest{})
	at("stops", "wake", nil)
	at("ibm", "wake", nil)
	until("asleep", "scales")
	until("ready", "stops", "ibm")
	l.hours(11)
	l.meterAgrees(ids)
	at("scales", "wake", nil)
	at("rests", "destroy", nil)
	until("scaled_down", "scales")
	until("released", "rests")
	l.hours(5)
	at("stops", "destroy", nil)
	at("scales", "destroy", nil)
	at("ibm", "destroy", nil)
	until("released", "stops", "scales", "ibm")
	l.hours(3)
	l.assertNothingLeft()
	l.meterAgrees(ids)
}

// hours lets hours pass: for the clouds' meters, and for what was recorded until now.
func (l *life) hours(n int) {
	l.t.Helper()
	l.Elapse(time.Duration(n) * time.Hour)
	_, err := l.pool.Exec(l.ctx, `UPDATE usage_samples SET sample_time = sample_time - make_interval(hours => $1)`, n)
	require.NoError(l.t, err)
}

// meterAgrees compares each cluster's cost in the report with its cloud's meter.
func (l *life) meterAgrees(ids map[string]string) {
	l.t.Helper()
	clouds, err := l.Metered()
	require.NoError(l.t, err)
	metered := map[string]float64{}
	for _, byID := range clouds {
		require.Less(l.t, byID[""], 1.0, "everything is some cluster's, but for bootstrap machines on IBM Cloud, which are gone before tags are attached")
		maps.Copy(metered, byID)
	}
	report := ask[v1.UsageReport](l.as("admin"), http.MethodGet, "/api/v1/reports/usage?by=cluster&from="+time.Now().AddDate(0, 0, -30).UTC().Format(time.RFC3339), nil, http.StatusOK)
	require.Len(l.t, report.Items, len(ids))
	sum := 0.0
	for _, line := range report.Items {
		for name, id := range ids {
			if id != line.Key {
				continue
			}
			used := metered[strings.ToLower(id)]
			l.t.Logf("%s: reported %d cents, saved %d; metered %.1f: %+.2f %%", name, line.Cents, line.SavedCents, used, 100*(float64(line.Cents)/used-1))
			require.InEpsilon(l.t, used, line.Cents, 0.01, name)
			sum += used
		}
	}
	require.InEpsilon(l.t, sum, report.Total.Cents, 0.01)
}
