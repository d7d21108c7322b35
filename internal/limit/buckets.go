// Package limit limits what one sender can take from all others: how often it may do something (Buckets) and how much at once
// (Slots). Senders are distinguished by a key.
//
// Memory is bounded, whatever keys are sent.
package limit

import (
	"container/list"
	"sync"
	"time"
)

// Buckets holds a token bucket for each of the most recently used keys. An unknown key has a full one. Safe for concurrent use.
type Buckets struct {
	perSecond, burst float64
	most             int
	now              func() time.Time

	guard  sync.Mutex
	known  map[string]*list.Element
	recent *list.List // of *bucket, the most recently used in front
}

type bucket struct {
	key    string
	tokens float64
	at     time.Time // when the tokens were counted
}

// NewBuckets returns buckets that hold burst tokens and get perSecond new ones. It remembers at most `most` keys and drops the least
// recently used one. now may be nil.
func NewBuckets(perSecond float64, burst, most int, now func() time.Time) *Buckets {
	if now == nil {
		now = time.Now
	}
	return &Buckets{perSecond: perSecond, burst: float64(burst), most: most, now: now, known: map[string]*list.Element{}, recent: list.New()}
}

// Take takes a token and returns 0. If there is none, it takes nothing and returns how long until there is one.
func (b *Buckets) Take(key string) time.Duration {
	b.guard.Lock()
	defer b.guard.Unlock()
	its := b.bucketOf(key)
	wait := b.untilFree(its)
	if wait == 0 {
		its.tokens--
	}
	return wait
}

// Wait returns how long until a key has a token, without taking one.
func (b *Buckets) Wait(key string) time.Duration {
	b.guard.Lock()
	defer b.guard.Unlock()
	known, ok := b.known[key]
	if !ok {
		return 0
	}
	its := known.Value.(*bucket)
	b.refillBucket(its)
	return b.untilFree(its)
}

// Charge takes n tokens for something that happened, whether or not they are there. An empty bucket goes into debt once and no
// further, so that a flood never shuts its sender out for longer than it takes to earn n tokens.
func (b *Buckets) Charge(key string, n int) {
	b.guard.Lock()
	defer b.guard.Unlock()
	if its := b.bucketOf(key); its.tokens > 0 {
		its.tokens -= float64(n)
	}
}

// bucketOf returns a key's bucket, refilled, and makes it the most recently used.
func (b *Buckets) bucketOf(key string) *bucket {
	if known, ok := b.known[key]; ok {
		b.recent.MoveToFront(known)
		its := known.Value.(*bucket)
		b.refillBucket(its)
		return its
	}
	if b.recent.Len() >= b.most {
		delete(b.known, b.recent.Remove(b.recent.Back()).(*bucket).key)
	}
	its := &bucket{key: key, tokens: b.burst, at: b.now()}
	b.known[key] = b.recent.PushFront(its)
	return its
}

func (b *Buckets) refillBucket(its *bucket) {
	now := b.now()
	if passed := now.Sub(its.at); passed > 0 {
		its.tokens, its.at = min(b.burst, its.tokens+passed.Seconds()*b.perSecond), now
	}
}

func (b *Buckets) untilFree(its *bucket) time.Duration {
	if its.tokens >= 1 {
		return 0
	}
	return max(1, time.Duration((1-its.tokens)/b.perSecond*float64(time.Second)))
}
