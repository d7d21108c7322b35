package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestTheTeamThatUsedLessLatelyComesFirst(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	clock, limits := storetest.NewClock(), storetest.Limits
	limits.UsageHalfLife = week
	s := storetest.OpenAt(t, pgtest.New(t), db.Options{Limits: limits, Lease: 15 * time.Minute, Now: clock.Now})
	of := func(team, name string) store.Judgement {
		a := storetest.Sized(name)
		a.Row.Team = team
		return a
	}
	kept := func() int64 {
		require.NoError(t, s.KeepRecentUsage(t.Context()))
		return int64(storetest.Count(t, s, `SELECT coalesce(sum(amount), 0)::bigint FROM usage_recent WHERE team = 'much'`))
	}
	used := storetest.Accept(t, s, of("much", "used"))
	open := storetest.Claims(t, s, used.ID, lifecycle.Create)
	storetest.Ready(t, s, used, open, "demo-abcde")
	clock.Pass(3 * time.Hour)
	const spent = 3 * 70 * int64(time.Hour/time.Millisecond)
	require.Equal(t, spent, kept())
	require.Equal(t, spent, kept(), "nothing was used since")
	_, err := s.Destroy(t.Context(), used.ID, clusters.Origin{Actor: "github:maya"})
	require.NoError(t, err)
	storetest.Step(t, s, used.ID)
	open, err = s.Attempts.OpenAttempt(t.Context(), used.ID)
	require.NoError(t, err)
	storetest.Zero(t, s, clock, open)
	require.Equal(t, lifecycle.Released, storetest.Settled(t, s, used.ID).Phase)

	holder := storetest.Accept(t, s, of("other", "holder"))
	everywhere := lifecycle.Limit{Quota: "all", Scope: lifecycle.ScopeEverywhere, What: lifecycle.CountLive, Most: 1}
	waits := func(team string) clusters.Row {
		clock.Pass(time.Minute)
		a := of(team, "of-"+team)
		a.Turn = &store.TurnAsk{Limits: []lifecycle.Limit{everywhere}}
		return storetest.Accept(t, s, a)
	}
	much, little := waits("much"), waits("little")
	require.Empty(t, served(t, s))
	shown := func(id string) lifecycle.Turn {
		_, f, err := s.Load(t.Context(), id)
		require.NoError(t, err)
		return lifecycle.Turn{Position: f.Turn.Position, For: f.Turn.For}
	}
	require.Equal(t, lifecycle.Turn{Position: 1, For: everywhere.Text()}, shown(little.ID), "it came later")
	require.Equal(t, lifecycle.Turn{Position: 2, For: everywhere.Text() + "; among equals, teams that used less lately come before team much"}, shown(much.ID))
	goes(t, s, holder.ID)
	require.Equal(t, []string{little.ID}, served(t, s))

	before := kept()
	clock.Pass(week)
	require.Less(t, kept(), before*6/10, "a half-life later it is about the half: December began, and nothing was used in it")
	clock.Pass(10 * week)
	require.Zero(t, kept())
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM usage_recent WHERE team = 'much'`), "less than a cent is nothing")
}
