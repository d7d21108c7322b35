package brakes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

var admin = clusters.Origin{Actor: "saml:will", Name: "Will", Source: "api", Why: "AWS has an outage"}

func TestAFrozenClusterWaitsAndBeginsWhenItIsThawed(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	elsewhere := storetest.Granted("other")
	elsewhere.Row.Region = "eu-west-1"
	other := storetest.Accept(t, s, elsewhere)
	before, facts, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	decided := lifecycle.Decide(before, facts, storetest.Limits)
	require.Equal(t, lifecycle.Create, decided.Open)

	brake, err := s.Brakes.Freeze(t.Context(), lifecycle.Place{Platform: "aws", Region: "us-east-1"}, 4*time.Hour, nil, admin)
	require.NoError(t, err)
	require.ErrorIs(t, s.Apply(t.Context(), decided, before.Version), db.ErrStale, "it was decided before")
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM clusters WHERE pokes = 2`), "whoever waits is looked at")

	require.Empty(t, storetest.Step(t, s, row.ID).Open)
	waits := storetest.Read(t, s, row.ID)
	require.Equal(t, brake, waits.Why.Brake, "the value comes back as it was kept")
	require.Equal(t, lifecycle.AwaitingCapacity, waits.Phase)
	require.Equal(t, brake.Until, waits.WakeAt.UTC())
	require.Equal(t, "Will froze new clusters on aws in the region us-east-1 from "+brake.Since.Format("15:04 MST on 2 January")+
		" until "+brake.Until.Format("15:04 MST on 2 January")+": AWS has an outage", waits.Why.String())
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, other.ID).Open, "elsewhere clusters begin")
	_, line := storetest.Said(t, s, "frozen")
	require.Equal(t, "AWS has an outage", line["why"])

	storetest.Step(t, s, row.ID)
	require.Equal(t, waits.Version, storetest.Read(t, s, row.ID).Version, "looking again changes nothing")
	_, err = s.Brakes.Thaw(t.Context(), "frz_none", admin)
	require.ErrorIs(t, err, db.ErrNotFound)
	ended, err := s.Brakes.Thaw(t.Context(), brake.ID, admin)
	require.NoError(t, err)
	require.Equal(t, []lifecycle.Brake{brake}, ended)
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, row.ID).Open)
	require.True(t, storetest.Read(t, s, row.ID).Why.Brake.IsZero())
	_, err = s.Brakes.Thaw(t.Context(), brake.ID, admin)
	require.ErrorIs(t, err, db.ErrNotFound, "once")
}

func TestAFreezeEndsByItselfAndStopsNoTeardown(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	waiting := storetest.Accept(t, s, storetest.Granted("shop"))
	going, open := storetest.Claimed(t, s, "going")
	_, err := s.Brakes.Freeze(t.Context(), lifecycle.Place{}, time.Hour, nil, admin)
	require.NoError(t, err)
	_, err = s.Brakes.Freeze(t.Context(), lifecycle.Place{Team: "acme/platform"}, 2*time.Hour, nil, admin)
	require.NoError(t, err)
	require.Empty(t, storetest.Step(t, s, waiting.ID).Open)
	require.Equal(t, "acme/platform", storetest.Read(t, s, waiting.ID).Why.Brake.Where.Team, "the one that lasts longest")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM attempts WHERE id = $1 AND closed_at IS NULL`, open.Attempt), "what runs goes on")

	clock.Pass(time.Hour)
	list, err := s.Brakes.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	clock.Pass(time.Hour)
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, waiting.ID).Open)
	ended, err := s.Brakes.Thaw(t.Context(), "", admin)
	require.NoError(t, err)
	require.Empty(t, ended, "nothing held any more")
	require.NotEmpty(t, going.ID)
}

func TestTheTableOfFreezesGuardsItself(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	brake, err := s.Brakes.Freeze(t.Context(), lifecycle.Place{Profile: "small"}, time.Hour, nil, admin)
	require.NoError(t, err)
	storetest.Refuses(t, s, "only ends", `UPDATE freezes SET until = until + interval '1 hour' WHERE id = $1`, brake.ID)
	storetest.Refuses(t, s, "freezes_bounded", `INSERT INTO freezes (id, words, frozen_by, since, until) VALUES ('frz_1', 'x', 'y', now(), now())`)
	storetest.Refuses(t, s, "freezes_bounded", `INSERT INTO freezes (id, words, frozen_by, since, until) VALUES ('frz_1', 'x', 'y', now(), now() + interval '32 days')`)
	storetest.Refuses(t, s, "freezes_thawed", `UPDATE freezes SET thawed_at = now() + interval '1 minute' WHERE id = $1`, brake.ID)
	_, err = s.Brakes.Thaw(t.Context(), "", admin)
	require.NoError(t, err)
	storetest.Refuses(t, s, "only ends", `UPDATE freezes SET thawed_at = NULL, thawed_by = '' WHERE id = $1`, brake.ID)
}
