package runner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// counted is an object of an API server, with the users of each hour of the day.
func counted(byHour map[int][]string) string {
	var day []string
	for hour := range 24 {
		var users []string
		for _, user := range byHour[hour] {
			users = append(users, fmt.Sprintf(`{"username": %q, "userAgent": "oc", "requestCount": 1, "byVerb": [{"verb": "get", "requestCount": 1}]}`, user))
		}
		day = append(day, fmt.Sprintf(`{"requestCount": 1, "byNode": [{"nodeName": "10.0.0.2", "byUser": []}, {"nodeName": "10.0.0.1", "byUser": [%s]}]}`, strings.Join(users, ",")))
	}
	return fmt.Sprintf(`{"status": {"last24h": [%s]}}`, strings.Join(day, ","))
}

func TestAnHourUpToThePresentOneIsOfTodayAndALaterOneOfYesterday(t *testing.T) {
	now := time.Date(2030, 3, 5, 11, 42, 0, 0, time.FixedZone("CET", 3600)) // 10:42 in UTC
	at := func(day, hour int) time.Time { return time.Date(2030, 3, day, hour, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		byHour map[int][]string
		want   time.Time
	}{
		"the present hour":    {map[int][]string{10: {"maya"}}, at(5, 10)},
		"this morning":        {map[int][]string{0: {"maya"}, 9: {"maya"}}, at(5, 9)},
		"yesterday evening":   {map[int][]string{23: {"maya"}, 12: {"maya"}}, at(4, 23)},
		"the oldest hour":     {map[int][]string{11: {"maya"}}, at(4, 11)},
		"nobody":              {nil, time.Time{}},
		"the cluster's parts": {map[int][]string{10: {"system:node:a", "system:serviceaccount:openshift-ingress:router", "system:admin", "system:anonymous", ""}}, time.Time{}},
		"an access":           {map[int][]string{8: {"system:serviceaccount:ocpctl-access:saml-rob-a0"}, 7: {"maya"}}, at(5, 8)},
		"the first admin":     {map[int][]string{8: {"kube:admin"}}, at(5, 8)},
		"a program's account": {map[int][]string{8: {"system:serviceaccount:shop:builder"}}, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			last, err := lastByPeople([]byte(`{"items": [`+counted(map[int][]string{10: {"system:admin"}})+","+counted(c.byHour)+`]}`), now)
			require.NoError(t, err)
			require.Equal(t, c.want, last)
		})
	}
	_, err := lastByPeople([]byte(`{"items": [{"metadata": {"name": "pods.v1"}}]}`), now)
	require.NoError(t, err, "a resource that nobody asked for yet has no status")
	for name, bad := range map[string]string{"no JSON": "[", "no objects": `{"items": []}`} {
		_, err := lastByPeople([]byte(bad), now)
		require.ErrorIs(t, err, errNoCounts, name)
	}
}
