package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/devstack/oidc"
	"github.com/ocpctl/ocpctl/internal/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestARequestChoosesToSleepOutsideWorkingHoursAndAPersonKeepsItAwake(t *testing.T) {
	h := fixtureWith(t, servicetest.Catalogue(t, map[string]string{
		"teams/platform.yaml": "name: platform\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\nworkHours: {timeZone: UTC, hours: [\"Mon-Sun 07:00-19:00\"]}\n",
	}), nil)
	yes := true
	ask := func(name string, offHours *bool) (made Accepted) {
		h.does(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), CreateRequest{Name: name, Profile: "aws-standard", Team: "platform", OffhoursOptIn: offHours},
			http.StatusAccepted, &made, idempotencyKey, name)
		return made
	}
	rests, stays := ask("rests", &yes), ask("stays", nil)
	row, err := h.store.Cluster(t.Context(), rests.ClusterID)
	require.NoError(t, err)
	require.True(t, row.OffHours)

	var c Change
	h.does(http.MethodPost, "/api/v1/clusters/"+row.ID+"/hold", h.as(oidc.Requester), Hold{Tonight: true}, http.StatusOK, &c)
	require.Contains(t, c.Message, "rests stays awake until 07:00 UTC on ")
	row, err = h.store.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, 7, row.AwakeUntil.UTC().Hour())
	require.Zero(t, row.Ends.Hold, "its end stays where it is")

	p := h.refused(http.MethodPost, "/api/v1/clusters/"+stays.ClusterID+"/hold", h.as(oidc.Requester), Hold{Tonight: true}, http.StatusConflict)
	require.Contains(t, p.Detail, "stays does not sleep outside working hours")
	p = h.refused(http.MethodPost, "/api/v1/clusters/"+row.ID+"/hold", h.as(oidc.Requester), Hold{Tonight: true, Hours: 4, Reason: "both"}, http.StatusUnprocessableEntity)
	require.Equal(t, "tonight", p.Errors[0].Field)
	require.Equal(t, lifecycle.Present, row.Desired)
}
