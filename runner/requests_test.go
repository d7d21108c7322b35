package runner

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"text/template"
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
			counts := read(t, now, `{"items": [`+counted(map[int][]string{10: {"system:admin"}})+","+counted(c.byHour)+`]}`)
			require.True(t, counts.isKnown())
			require.Equal(t, c.want, counts.last)
		})
	}
}

func TestAnAnswerWithoutCountsOrWithUnknownHoursSaysNothing(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		known  bool
	}{
		"no objects":                       {`{"items": []}`, false},
		"a resource that nobody asked for": {`{"items": [{"metadata": {"name": "pods.v1"}}]}`, false},
		"… and one that somebody did":      {`{"items": [{"metadata": {"name": "pods.v1"}}, ` + counted(map[int][]string{3: {"system:admin"}}) + `]}`, true},
		"an hour without a count":          {`{"items": [{"status": {"last24h": [{"requestCount": 0}, {"byNode": [{"byUser": [{"username": "maya"}]}]}]}}]}`, false},
		"a count of millions":              {`{"items": [{"status": {"last24h": [{"byNode": [{"byUser": [{"username": "maya", "requestCount": 2000000}]}]}]}}]}`, true},
		"an hour of another day":           {`{"items": [{"status": {"last24h": [` + strings.Repeat(`{}, `, 24) + `{"byNode": [{"byUser": [{"username": "maya", "requestCount": 1}]}]}]}}]}`, false},
	} {
		require.Equal(t, c.known, read(t, time.Now(), c.answer).isKnown(), name)
	}
	warned := requestCounts{now: time.Now()}
	warned.takeLine("Warning: 3 more of them are old")
	require.False(t, warned.isKnown())
}

// read reads an answer of the API server as oc prints it.
func read(t *testing.T, now time.Time, answer string) *requestCounts {
	var list any
	require.NoError(t, json.Unmarshal([]byte(answer), &list))
	var printed strings.Builder
	require.NoError(t, template.Must(template.New("").Parse(countsTemplate)).Execute(&printed, list))
	counts := &requestCounts{now: now}
	for line := range strings.Lines(printed.String()) {
		counts.takeLine(strings.TrimSuffix(line, "\n"))
	}
	return counts
}
