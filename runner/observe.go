package runner

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
)

// runObserve finds out when people last sent requests to the cluster's API. It only reads, and asks once: the server decides whether to try again.
func (a *attempt) runObserve(ctx context.Context) (last time.Time, err error) {
	for _, p := range []phase{
		{"restoring", 2, "fetching the kubeconfig", func(ctx context.Context) error { return a.fetchKubeconfig(ctx, a.spec.KubeconfigRef) }},
		{"observing", 50, "reading the API server's counts of requests", func(ctx context.Context) (err error) {
			last, err = a.lastRequests(ctx)
			return err
		}},
	} {
		if err := a.beginPhase(ctx, p); err != nil {
			return time.Time{}, err
		}
	}
	return last, nil
}

func (a *attempt) lastRequests(ctx context.Context) (time.Time, error) {
	counts := requestCounts{now: time.Now()}
	err := a.listenToCluster(ctx, counts.takeLine, "get", "apirequestcounts.apiserver.openshift.io", "-o", "go-template="+countsTemplate)
	if err == nil && !counts.isKnown() {
		err = errNoCounts
	}
	switch {
	case ctx.Err() != nil:
		return time.Time{}, context.Cause(ctx)
	case err != nil:
		return time.Time{}, failure{
			Reason: "RequestsUnknown", Whose: contract.WhoseCloud, Retryable: !errors.Is(err, errRefusedByOC),
			Message: fmt.Sprintf("the cluster's API could not be asked who uses it: %v", err),
			Next:    "check that the cluster's API answers: oc get apirequestcounts",
		}
	}
	return counts.last, nil
}

var errNoCounts = errors.New("what it answered holds no counts of requests")

// countsTemplate prints a line "<hour> <user>" for each count of APIRequestCounts (apiserver.openshift.io/v1): the requests for one resource each,
// by hour, node and user. The whole objects also have each user's agents and verbs: those of hundreds of resources are too large to be kept.
//
// last24h has an entry for each hour of the day in UTC. That of the present hour is updated while it lasts, and status.currentHour is a copy of
// it, so only these are read. A node lists only the users with the most requests for that resource in that hour, ten unless the object's spec
// says otherwise.
const countsTemplate = `{{range .items}}{{range $hour, $entry := .status.last24h}}{{range $entry.byNode}}{{range .byUser}}` +
	`{{if .requestCount}}{{$hour}} {{.username}}{{"\n"}}{{end}}{{end}}{{end}}{{end}}{{end}}`

// requestCounts are the lines of countsTemplate as read so far.
type requestCounts struct {
	now  time.Time
	some bool      // there are counts, of whomever
	odd  bool      // one is of no hour of a day
	last time.Time // the beginning of the newest hour in which a person sent requests; zero: in none of the last 24
}

// isKnown reports that the counts say when people sent requests.
func (c *requestCounts) isKnown() bool { return c.some && !c.odd }

// takeLine reads a line. The hours have no date: one is of today up to the present hour, and of yesterday after it. Other lines are oc's warnings.
func (c *requestCounts) takeLine(line string) {
	number, user, _ := strings.Cut(line, " ")
	hour, err := strconv.Atoi(number)
	if err != nil {
		return
	}
	c.some, c.odd = true, c.odd || hour < 0 || hour > 23
	present := c.now.UTC().Truncate(time.Hour)
	at := present.Add(-time.Duration((present.Hour()-hour+24)%24) * time.Hour)
	if at.After(c.last) && isPerson(user) {
		c.last = at
	}
}

// isPerson reports a user of the cluster that stands for a person: one that logged in, or whose access ocpctl made. Everything that belongs to
// the cluster, the service accounts in it and the installer's certificate, which ocpctl itself uses, begin with "system:".
func isPerson(user string) bool {
	return user != "" && !strings.HasPrefix(user, "system:") || strings.HasPrefix(user, names.AccessUser(""))
}

// formatLastUse says when people last sent requests, for the attempt's message.
func formatLastUse(last time.Time) string {
	if last.IsZero() {
		return "its API server lists no person's request of the last 24 hours"
	}
	return "its API server lists people's requests in the hour from " + last.UTC().Format("15:04 MST on 2 January")
}
