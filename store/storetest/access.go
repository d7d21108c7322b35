package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/attempts"
)

// Wants is will's request for a kubeconfig by a share.
func Wants(role access.Role) access.Wanted {
	return access.Wanted{Ask: access.Ask{Reader: "saml:will@acme.example", ReaderName: "Will", Role: role, Right: "principal:saml:will@acme.example", Lifetime: 8 * time.Hour}, Least: time.Hour}
}

func WantsAccess(t testing.TB, s *store.Store, cluster string, w access.Wanted) access.Row {
	t.Helper()
	a, err := s.Access.Ask(t.Context(), cluster, w, Maya(""))
	require.NoError(t, err)
	return a
}

func AccessOf(t testing.TB, s *store.Store, cluster, id string) access.Row {
	t.Helper()
	a, err := s.Access.One(t.Context(), cluster, id)
	require.NoError(t, err)
	return a
}

// Claims opens an attempt and claims it.
func Claims(t testing.TB, s *store.Store, cluster string, kind lifecycle.Kind) attempts.LaunchSpec {
	t.Helper()
	require.Equal(t, kind, Step(t, s, cluster).Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), cluster)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod")
	require.NoError(t, err)
	return open
}

// Told is a runner's work on access.
func Told(t testing.TB, s *store.Store, open attempts.LaunchSpec) attempts.AccessWork {
	t.Helper()
	work, lease, err := s.Attempts.AccessWork(t.Context(), open.Attempt, open.Token)
	require.NoError(t, err)
	require.Empty(t, lease.Stop)
	return work
}

func ReportsAccess(s *store.Store, t testing.TB, open attempts.LaunchSpec, seq int, states ...attempts.AccessState) error {
	t.Helper()
	_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: seq, Phase: lifecycle.Accessing, Access: states})
	return err
}

// Changes has a runner do all that is owed, and ends its attempt.
func Changes(t testing.TB, s *store.Store, c *Clock, cluster string) attempts.AccessWork {
	t.Helper()
	open := Claims(t, s, cluster, lifecycle.Access)
	work := Told(t, s, open)
	var states []attempts.AccessState
	for _, a := range work.Give {
		made := attempts.AccessState{ID: a.ID, Kind: a.Kind, OpenID: a.OpenID, ExpiresAt: c.Now().Add(a.Lifetime)}
		if !a.OpenID {
			made.Ref = "s3://bucket/" + a.ID
		}
		states = append(states, made)
	}
	for _, a := range work.Take {
		states = append(states, attempts.AccessState{ID: a.ID, Removed: true})
	}
	require.NoError(t, ReportsAccess(s, t, open, 1, states...))
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	require.Empty(t, Step(t, s, cluster).Open)
	return work
}
