package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

func Kinds(subs []outbox.Subscriber) (kinds []string) {
	for _, sub := range subs {
		kinds = append(kinds, sub.Kind)
	}
	return kinds
}

// PlacesOf are the places of a cluster by kind; checks by their head too.
func PlacesOf(t testing.TB, s *store.Store, cluster string) map[string]outbox.Subscriber {
	t.Helper()
	subs, err := s.Outbox.Subscribers(context.Background(), cluster)
	require.NoError(t, err)
	places := map[string]outbox.Subscriber{}
	for _, sub := range subs {
		key := sub.Kind
		if sub.Kind == clusters.KindCheck {
			key += " " + sub.Head
		}
		require.NotContains(t, places, key)
		places[key] = sub
	}
	return places
}

// ShowAll has every place that is asked for show its cluster's present version, as the publisher does.
func ShowAll(t testing.TB, s *store.Store, cluster string) {
	t.Helper()
	row, err := s.Cluster(context.Background(), cluster)
	require.NoError(t, err)
	for _, sub := range PlacesOf(t, s, cluster) {
		if !sub.Muted {
			require.NoError(t, s.Outbox.Shown(context.Background(), sub.ID, 7, row.Cluster.Version, "hash"))
		}
	}
}

// Behind is how many places are due, however long one waits.
func Behind(t testing.TB, s *store.Store) int {
	t.Helper()
	return Count(t, s, `SELECT count(*) FROM subscribers WHERE shown_version < wanted_version AND NOT muted`)
}
