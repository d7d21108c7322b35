package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/names"
)

// observe finds out when people last sent requests to the cluster's API. It only reads, and asks once: the server decides whether to try again.
func (a *attempt) observe(ctx context.Context) (last time.Time, err error) {
	for _, p := range []phase{
		{"restoring", 2, "fetching the kubeconfig", func(ctx context.Context) error { return a.fetchKubeconfig(ctx, a.spec.KubeconfigRef) }},
		{"observing", 50, "reading the API server's counts of requests", func(ctx context.Context) (err error) {
			last, err = a.lastRequests(ctx)
			return err
		}},
	} {
		if err := a.begin(ctx, p); err != nil {
			return time.Time{}, err
		}
	}
	return last, nil
}

func (a *attempt) lastRequests(ctx context.Context) (time.Time, error) {
	raw, err := a.ask(ctx, "get", "apirequestcounts.apiserver.openshift.io", "-o", "json")
	if err == nil {
		var last time.Time
		if last, err = lastByPeople(raw, time.Now()); err == nil {
			return last, nil
		}
	}
	if ctx.Err() != nil {
		return time.Time{}, context.Cause(ctx)
	}
	return time.Time{}, failure{
		Reason: "RequestsUnknown", Whose: contract.WhoseCloud, Retryable: !errors.Is(err, errRefusedByOC),
		Message: fmt.Sprintf("the cluster's API could not be asked who uses it: %v", err),
		Next:    "check that the cluster's API answers: oc get apirequestcounts",
	}
}

var errNoCounts = errors.New("what it answered holds no counts of requests")

// requestCounts are APIRequestCounts (apiserver.openshift.io/v1): the requests for one resource each, by hour, node and user. A node lists only
// the users with the most requests for that resource in that hour, ten unless the object's spec says otherwise.
type requestCounts struct {
	Items []struct {
		Status struct {
			// The index is the hour of the day in UTC. The entry of the present hour is updated while it lasts, and status.currentHour is a
			// copy of it, so only these are read.
			Last24h []struct {
				ByNode []struct {
					ByUser []struct {
						Username     string
						RequestCount int64
					}
				}
			}
		}
	}
}

// lastByPeople returns the beginning of the newest hour in which a person sent requests; zero: in none of the last 24. The counts hold no date: an
// entry is from today up to the present hour, and from yesterday after it.
func lastByPeople(raw []byte, now time.Time) (last time.Time, err error) {
	var counts requestCounts
	if json.Unmarshal(raw, &counts) != nil || len(counts.Items) == 0 {
		return time.Time{}, errNoCounts
	}
	present := now.UTC().Truncate(time.Hour)
	for _, resource := range counts.Items {
		if len(resource.Status.Last24h) > 24 {
			return time.Time{}, errNoCounts
		}
		for hour, entry := range resource.Status.Last24h {
			ago := (present.Hour() - hour + 24) % 24
			at := present.Add(-time.Duration(ago) * time.Hour)
			if !at.After(last) {
				continue
			}
			for _, node := range entry.ByNode {
				for _, user := range node.ByUser {
					if user.RequestCount > 0 && isPerson(user.Username) {
						last = at
					}
				}
			}
		}
	}
	return last, nil
}

// isPerson reports a user of the cluster that stands for a person: one that logged in, or whose access ocpctl made. Everything that belongs to
// the cluster, the service accounts in it and the installer's certificate, which ocpctl itself uses, begin with "system:".
func isPerson(user string) bool {
	return user != "" && !strings.HasPrefix(user, "system:") || strings.HasPrefix(user, names.AccessUser(""))
}

// usedText says when people last sent requests, for the attempt's message.
func usedText(last time.Time) string {
	if last.IsZero() {
		return "its API server lists no person's request of the last 24 hours"
	}
	return "its API server lists people's requests in the hour from " + last.UTC().Format("15:04 MST on 2 January")
}
