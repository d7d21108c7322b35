package devstack_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/client"
	"github.com/ocpctl/ocpctl/profiles"
)

// What the reports say that clusters cost is what the cloud's own meter counts for what they were made of, within 1 %: awake, scaled, asleep in
// both ways, and after the teardown. Hours pass at each rest, so installs and teardowns take no part of it that could be seen.
func TestTheReportAgreesWithTheCloudsMeter(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	robot := l.byAWS()
	ids := map[string]string{}
	for name, profile := range map[string]string{"stops": "aws-minimal-test", "scales": "aws-standard", "rests": "aws-standard"} {
		ids[name] = robot.create(client.CreateRequest{Name: name, Profile: profile, Team: "platform", TTLHours: 24}, name).ClusterID
	}
	at := func(name, verb string, body any) {
		ask[client.Accepted](robot, http.MethodPost, "/api/v1/clusters/"+ids[name]+"/"+verb, body, http.StatusAccepted)
	}
	until := func(phase string, names ...string) {
		for _, name := range names {
			robot.until(ids[name], phase, func(c client.ClusterDetail) bool { return c.Phase == phase })
		}
	}
	until("ready", "stops", "scales", "rests")
	l.hours(7)
	at("scales", "scale-workers", client.Scale{Replicas: 1})
	at("stops", "sleep", client.SleepRequest{})
	until("scaled_down", "scales")
	until("asleep", "stops")
	l.hours(9)
	at("scales", "sleep", client.SleepRequest{})
	at("stops", "wake", nil)
	until("asleep", "scales")
	until("ready", "stops")
	l.hours(11)
	l.meterAgrees(ids)
	at("scales", "wake", nil)
	at("rests", "destroy", nil)
	until("scaled_down", "scales")
	until("released", "rests")
	l.hours(5)
	at("stops", "destroy", nil)
	at("scales", "destroy", nil)
	until("released", "stops", "scales")
	l.hours(3)
	l.assertNothingLeft()
	l.meterAgrees(ids)
}

// hours lets hours pass: for the cloud's meter, and for what was recorded until now.
func (l *life) hours(n int) {
	l.t.Helper()
	l.AWS.Elapse(time.Duration(n) * time.Hour)
	_, err := l.pool.Exec(l.ctx, `UPDATE usage_samples SET sample_time = sample_time - make_interval(hours => $1)`, n)
	require.NoError(l.t, err)
}

// meterAgrees compares each cluster's cost in the report with the cloud's meter.
func (l *life) meterAgrees(ids map[string]string) {
	l.t.Helper()
	catalogue, err := profiles.Embedded()
	require.NoError(l.t, err)
	prices, known := catalogue.PriceList("aws")
	require.True(l.t, known)
	metered := map[string]float64{}
	for _, u := range l.AWS.Meter() {
		cents, known := u.Cents(prices)
		require.True(l.t, known, "%+v", u)
		metered[u.Cluster] += cents
	}
	require.Zero(l.t, metered[""], "everything is some cluster's")
	report := ask[client.UsageReport](l.as("admin"), http.MethodGet, "/api/v1/reports/usage?by=cluster&from="+time.Now().AddDate(0, 0, -30).UTC().Format(time.RFC3339), nil, http.StatusOK)
	require.Len(l.t, report.Items, len(ids))
	sum := 0.0
	for _, line := range report.Items {
		for name, id := range ids {
			if id != line.Key {
				continue
			}
			l.t.Logf("%s: reported %d cents, saved %d; metered %.1f: %+.2f %%", name, line.Cents, line.SavedCents, metered[id], 100*(float64(line.Cents)/metered[id]-1))
			require.InEpsilon(l.t, metered[id], line.Cents, 0.01, name)
			sum += metered[id]
		}
	}
	require.InEpsilon(l.t, sum, report.Total.Cents, 0.01)
}
