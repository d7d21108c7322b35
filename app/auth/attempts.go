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

// Whoever is not signed in yet can make us ask STS, so attempts are bounded. Only those that fail are charged: to the address
// they come from, and to that address together with the access key. A key alone is never charged, because access key ids are no
// secret: whoever knows one could lock its owner out from anywhere. For the same reason an address that failed too often still
// gets in with a key that signed in before.
const (
	failuresOfKey         = 5 // with one access key from one address, at once
	failuresOfKeyRate     = 0.2
	failuresOfAddress     = 20
	failuresOfAddressRate = 1.0

	asksAtOnce        = 64 // questions to STS
	asksOfAddress     = 8
	mostAttempts      = 10_000 // addresses, and pairs of an address and a key, that are remembered
	mostConfirmedKeys = 10_000
	confirmedFor      = 12 * time.Hour
)

// attempts decides who may have STS asked. Safe for concurrent use.
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

// result is what an attempt came to.
type result int

const (
	succeeded result = iota
	failed
	unanswered // neither: nothing is known of the key
)

// begin waits for a turn to ask. Call the returned function once, with what the attempt came to. The error says that there were
// too many failures, or that the turn did not come in time.
func (a *attempts) begin(ctx context.Context, address, key string) (end func(result), err error) {
	if err := a.refused(address, key); err != nil {
		return nil, err
	}
	free, err := a.asking.Take(ctx, address)
	if err != nil {
		return nil, &Error{Unavailable, "Too many simultaneous sign-ins from your address. Try again in a few seconds.", err}
	}
	if err := a.refused(address, key); err != nil { // others failed meanwhile
		free()
		return nil, err
	}
	return func(came result) {
		switch came {
		case succeeded:
			a.confirmed.add(key)
		case failed:
			a.ofKey.Charge(pair(address, key), 1)
			a.ofAddress.Charge(address, 1)
		}
		free()
	}, nil
}

func pair(address, key string) string { return address + " " + key }

func (a *attempts) refused(address, key string) error {
	if wait := a.ofKey.Wait(pair(address, key)); wait > 0 {
		return tooOften(wait, "Too many sign-ins with this access key failed from your address.")
	}
	if wait := a.ofAddress.Wait(address); wait > 0 && !a.confirmed.has(key) {
		return tooOften(wait, "Too many sign-ins failed from your address.")
	}
	return nil
}

func tooOften(wait time.Duration, what string) *Error {
	seconds := math.Ceil(wait.Seconds())
	return &Error{TooOften, fmt.Sprintf("%s Check your credentials with aws sts get-caller-identity, and try again in %.0f s.", what, seconds), Later(wait)}
}

// confirmed remembers the access keys that signed in lately. Only a key that STS confirmed and that may sign in gets here, so
// nobody can push the others out.
type confirmed struct {
	now    func() time.Time
	guard  sync.Mutex
	known  map[string]*list.Element
	recent *list.List // of confirmedKey, the one that signed in last in front
}

type confirmedKey struct {
	key   string
	until time.Time
}

func (c *confirmed) add(key string) {
	c.guard.Lock()
	defer c.guard.Unlock()
	if known, ok := c.known[key]; ok {
		c.recent.Remove(known)
	} else if c.recent.Len() >= mostConfirmedKeys {
		delete(c.known, c.recent.Remove(c.recent.Back()).(confirmedKey).key)
	}
	c.known[key] = c.recent.PushFront(confirmedKey{key, c.now().Add(confirmedFor)})
}

func (c *confirmed) has(key string) bool {
	c.guard.Lock()
	defer c.guard.Unlock()
	known, ok := c.known[key]
	return ok && c.now().Before(known.Value.(confirmedKey).until)
}
