package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestARequestChoosesToSleepOutsideWorkingHoursAndAPersonKeepsItAwake(t *testing.T) {
	h := fixtureWith(t, servicetest.Catalogue(t, map[string]string{
		"teams/platform.yaml": "name: platform\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\nworkHours: {timeZone: UTC, hours: [\"Mon-Sun 07:00-19:00\"]}\n",
	}), nil)
	yes := true
	ask := func(name string, offHours *bool) (made v1.Accepted) {
		h.does(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), v1.CreateRequest{Name: name, Profile: "aws-standard", Team: "platform", OffhoursOptIn: offHours},
			http.StatusAccepted, &made, idempotencyKey, name)
		return made
	}
	rests, stays := ask("rests", &yes), ask("stays", nil)
	row, err := h.store.Cluster(t.Context(), rests.ClusterID)
	require.NoError(t, err)
	require.True(t, row.OffHours)

	var c v1.Change
	h.does(http.MethodPost, "/api/v1/clusters/"+row.ID+"/hold", h.as(oidc.Requester), v1.Hold{Tonight: true}, http.StatusOK, &c)
	require.Contains(t, c.Message, "rests stays awake until 07:00 UTC on ")
	row, err = h.store.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, 7, row.AwakeUntil.UTC().Hour())
	require.Zero(t, row.Ends.Hold, "its end stays where it is")

	p := h.refused(http.MethodPost, "/api/v1/clusters/"+stays.ClusterID+"/hold", h.as(oidc.Requester), v1.Hold{Tonight: true}, http.StatusConflict)
	require.Contains(t, p.Detail, "stays does not sleep outside working hours")
	p = h.refused(http.MethodPost, "/api/v1/clusters/"+row.ID+"/hold", h.as(oidc.Requester), v1.Hold{Tonight: true, Hours: 4, Reason: "both"}, http.StatusUnprocessableEntity)
	require.Equal(t, "tonight", p.Errors[0].Field)
	require.Equal(t, lifecycle.Present, row.Desired)
}

func TestAClusterTellsWhenItFallsAsleepNext(t *testing.T) {
	closes := time.Date(2026, 11, 26, 19, 0, 0, 0, time.UTC)
	var row clusters.Row
	row.Status, row.Desired, row.SleepMode, row.OffHours, row.RestAt = lifecycle.Ready, lifecycle.Present, lifecycle.SleepWorkers, true, closes
	require.Equal(t, closes, sleepOf(row).SleepsAt)
	row.AwakeUntil = closes.Add(12 * time.Hour)
	require.Equal(t, []any{closes.Add(12 * time.Hour), time.Time{}}, []any{sleepOf(row).AwakeUntil, sleepOf(row).SleepsAt}, "somebody keeps it awake")
}
