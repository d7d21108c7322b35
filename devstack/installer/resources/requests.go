package resources

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Requests are what one user sent to a cluster's API in the newest hour in which they sent anything.
type Requests struct {
	User  string
	Hour  time.Time
	Count int
}

// RequestsTag is the prefix of the network's tags that count requests, one tag for each user.
const RequestsTag = "ocpctl-standin/requests/"

// Requests returns what each user sent. The stand-in remembers the newest hour of each.
func (l *Living) Requests() (all []Requests) {
	for key, value := range l.Notes[l.Network] {
		var r Requests
		var hour int64
		if n, _ := fmt.Sscan(value, &r.User, &hour, &r.Count); strings.HasPrefix(key, RequestsTag) && n == 3 {
			r.Hour = time.Unix(hour, 0).UTC()
			all = append(all, r)
		}
	}
	return all
}

// CountRequest counts a request of a user.
func (l *Living) CountRequest(ctx context.Context, user string, now time.Time) error {
	count, hour := 1, now.UTC().Truncate(time.Hour)
	for _, r := range l.Requests() {
		if r.User == user && r.Hour.Equal(hour) {
			count += r.Count
		}
	}
	return l.remember(ctx, l.Network, RequestsTag+short(user), fmt.Sprintf("%s %d %d", user, hour.Unix(), count))
}
