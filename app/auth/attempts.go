package auth

import (
	"container/list"
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/internal/limit"
)

// Unauthenticated callers can make the server query STS, so attempts are limited. Only failed ones are charged: to their address, and
// to that address together with the access key. A key alone is never charged, because access key ids are not secret: anybody who
// knows one could lock its owner out from anywhere. For the same reason an address with too many failures can still sign in with a
// key that signed in before.
const (
	failuresOfKey         = 5 // with one access key from one address, at once
	failuresOfKeyRate     = 0.2
	failuresOfAddress     = 20
	failuresOfAddressRate = 1.0

	asksAtOnce        = 64 // concurrent queries to STS
	asksOfAddress     = 8
	mostAttempts      = 10_000 // addresses, and pairs of address and key, that are remembered
	mostConfirmedKeys = 10_000
	confirmedFor      = 12 * time.Hour
)

// attempts decides for whom STS may be queried. Safe for concurrent use.
type attempts struct {
	ofKey, ofAddress *limit.Buckets
	asking           *limit.Slots
	confirmed        *confirmed
}

func newAttempts(now func() time.Time) *attempts {
	return &attempts{
		ofKey:     limit.NewBuckets(failuresOfKeyRate, failuresOfKey, mostAttempts, now),
		ofAddress: limit.NewBuckets(failuresOfAddressRate, failuresOfAddress, mostAttempts, now),
		asking:    limit.NewSlots(asksAtOnce, asksOfAddress),
		confirmed: &confirmed{now: now, known: map[string]*list.Element{}, recent: list.New()},
	}
}

// result is the outcome of an attempt.
type result int

const (
	succeeded result = iota
	failed
	unanswered // neither: nothing is known about the key
)

// beginAttempt waits for a free query. The caller must call the returned function once, with the outcome of the attempt. The error says that
// there were too many failures, or that no query became free in time.
func (a *attempts) beginAttempt(ctx context.Context, address, key string) (end func(result), err error) {
	if err := a.refusalFor(address, key); err != nil {
		return nil, err
	}
	free, err := a.asking.Take(ctx, address)
	if err != nil {
		return nil, &Error{Unavailable, "Too many simultaneous sign-ins from your address. Try again in a few seconds.", err}
	}
	if err := a.refusalFor(address, key); err != nil { // others may have failed meanwhile
		free()
		return nil, err
	}
	return func(came result) {
		switch came {
		case succeeded:
			a.confirmed.addKey(key)
		case failed:
			a.ofKey.Charge(attemptKey(address, key), 1)
			a.ofAddress.Charge(address, 1)
		}
		free()
	}, nil
}

func attemptKey(address, key string) string { return address + " " + key }

func (a *attempts) refusalFor(address, key string) error {
	if wait := a.ofKey.Wait(attemptKey(address, key)); wait > 0 {
		return tooOften(wait, "Too many sign-ins with this access key failed from your address.")
	}
	if wait := a.ofAddress.Wait(address); wait > 0 && !a.confirmed.hasKey(key) {
		return tooOften(wait, "Too many sign-ins failed from your address.")
	}
	return nil
}

func tooOften(wait time.Duration, what string) *Error {
	seconds := math.Ceil(wait.Seconds())
	return &Error{TooOften, fmt.Sprintf("%s Check your credentials with aws sts get-caller-identity, and try again in %.0f s.", what, seconds), Later(wait)}
}

// confirmed remembers the access keys that signed in recently. Only a key that STS confirmed and that may sign in is added, so nobody
// can push the others out.
type confirmed struct {
	now    func() time.Time
	guard  sync.Mutex
	known  map[string]*list.Element
	recent *list.List // of confirmedKey, the most recent sign-in in front
}

type confirmedKey struct {
	key   string
	until time.Time
}

func (c *confirmed) addKey(key string) {
	c.guard.Lock()
	defer c.guard.Unlock()
	if known, ok := c.known[key]; ok {
		c.recent.Remove(known)
	} else if c.recent.Len() >= mostConfirmedKeys {
		delete(c.known, c.recent.Remove(c.recent.Back()).(confirmedKey).key)
	}
	c.known[key] = c.recent.PushFront(confirmedKey{key, c.now().Add(confirmedFor)})
}

func (c *confirmed) hasKey(key string) bool {
	c.guard.Lock()
	defer c.guard.Unlock()
	known, ok := c.known[key]
	return ok && c.now().Before(known.Value.(confirmedKey).until)
}
