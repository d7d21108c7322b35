package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

var WillInSlack = people.Grantee{Account: "slack:T1/U2", Name: "will"}

// Will is who accepts.
func Will(why string) clusters.Origin {
	return clusters.Origin{Actor: "slack:T1/U2", Name: "will", Source: "slack", Why: why}
}

// Offers offers a cluster to will for a day.
func Offers(t testing.TB, s *store.Store, row clusters.Row, cause string) people.Handover {
	t.Helper()
	h, err := s.People.OfferHandover(t.Context(), row.ID, WillInSlack, cause, 24*time.Hour, nil, Maya("a holiday"))
	require.NoError(t, err)
	return h
}
