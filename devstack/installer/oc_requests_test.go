package installer_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A cluster counts the requests of whoever has a token by hour, as the API server does, beside those of its own parts.
func TestAClusterCountsTheRequestsOfItsUsersByHour(t *testing.T) {
	l := live(t, 0)
	l.account("viewer", "view")
	const viewer = "system:serviceaccount:people:viewer"
	type log struct {
		RequestCount int
		ByNode       []struct {
			RequestCount int
			ByUser       []struct {
				Username, UserAgent string
				RequestCount        int
				ByVerb              []struct {
					Verb         string
					RequestCount int
				}
			}
		}
	}
	counts := func() (byHour map[int]int, current, day log) {
		var list struct {
			Items []struct {
				Kind   string
				Status struct {
					CurrentHour log
					Last24h     []log
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(l.get("apirequestcounts.apiserver.openshift.io")), &list))
		require.Len(t, list.Items, 1)
		require.Equal(t, "APIRequestCount", list.Items[0].Kind)
		require.Len(t, list.Items[0].Status.Last24h, 24)
		byHour = map[int]int{}
		for hour, entry := range list.Items[0].Status.Last24h {
			for _, node := range entry.ByNode {
				for _, user := range node.ByUser {
					if user.Username == viewer {
						byHour[hour] = user.RequestCount
					}
				}
			}
		}
		status := list.Items[0].Status
		return byHour, status.CurrentHour, status.Last24h[time.Now().UTC().Hour()]
	}
	none, _, _ := counts()
	require.Empty(t, none)
	_, _, kubeconfig := l.token("viewer")
	before := time.Now().UTC().Hour()
	for range 2 {
		code, said := l.as(kubeconfig, "get", "configmaps", "-n", "people", "-o", "json")
		require.Zero(t, code, said)
	}
	seen, current, day := counts()
	if time.Now().UTC().Hour() != before {
		t.Log("the hour changed meanwhile: two entries")
		require.NotEmpty(t, seen)
		return
	}
	require.Equal(t, map[int]int{before: 2}, seen)
	require.Equal(t, day, current, "the present hour is there twice")
	require.Equal(t, current.RequestCount, current.ByNode[0].RequestCount)
	code, said := l.as(kubeconfig, "get", "apirequestcounts", "-o", "json")
	require.Contains(t, []any{1}, code, "a viewer does not see who uses the cluster")
	require.Contains(t, said, "is forbidden")
}
