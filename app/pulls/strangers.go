package pulls

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/ocpctl/ocpctl/policy"
)

// What is written on GitHub for one person without permission. An installation may write 500 times an hour, so a few such people
// must not use that up for the others: the replies to a comment of five commands take eight writes.
const (
	strangerBurst = 24
	strangerEvery = 3 * time.Minute
	strangersKept = 4096
)

// strangers counts the writes for people without permission, in this process. A restart forgets the counts, and no permission
// depends on them.
type strangers struct {
	now  func() time.Time
	mu   sync.Mutex
	seen map[string]*rate.Limiter
}

func newStrangers(now func() time.Time) *strangers {
	return &strangers{now: now, seen: map[string]*rate.Limiter{}}
}

// isSpent reports whether somebody's allowance is used up.
func (s *strangers) isSpent(who string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.seen[who]
	return ok && known.TokensAt(s.now()) < 1
}

// countWrites adds writes. The last allowed answer may exceed the allowance.
func (s *strangers) countWrites(who string, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	known, ok := s.seen[who]
	if !ok {
		s.forgetOld(now)
		known = rate.NewLimiter(rate.Every(strangerEvery), strangerBurst)
		s.seen[who] = known
	}
	known.ReserveN(now, min(writes, strangerBurst))
}

// forgetOld forgets those whose allowance is full again, or everybody if there are none.
func (s *strangers) forgetOld(now time.Time) {
	if len(s.seen) < strangersKept {
		return
	}
	for who, known := range s.seen {
		if known.TokensAt(now) >= strangerBurst {
			delete(s.seen, who)
		}
	}
	if len(s.seen) >= strangersKept {
		clear(s.seen)
	}
}

// accountKey is the key that writes are counted by.
func (e CommentEvent) accountKey() string {
	return strconv.FormatInt(e.Installation, 10) + " " + e.actorOf().numberText()
}

// noteIfAnsweredEnough returns a note if a person without permission was answered enough for now; empty if they have permission by now.
func (s *Service) noteIfAnsweredEnough(ctx context.Context, e CommentEvent) (note string, err error) {
	if !s.strangers.isSpent(e.accountKey()) {
		return "", nil
	}
	permission, _, err := s.askPermission(ctx, e.Installation, e.Repo, e.actorOf())
	if err != nil {
		return "", err
	}
	if mayCreate(policy.Request{Source: policy.SourceComment, Permission: permission}) {
		return "", nil
	}
	return fmt.Sprintf("not answered: %s has %s permission and was answered often enough for now", e.Author, permission), nil
}

// countAnswer counts writes for a person without permission.
func (s *Service) countAnswer(e CommentEvent, r policy.Request, writes int) {
	if !mayCreate(r) {
		s.strangers.countWrites(e.accountKey(), writes)
	}
}

// isOverlooked reports whether an action (an added label, a pushed file) is ignored because a person without permission was told
// enough for now; an ignored label stays until polling removes it. Otherwise it counts the writes of the reply.
func (s *Service) isOverlooked(e PullRequestEvent, r policy.Request) bool {
	who := CommentEvent{Installation: e.PR.Installation, Author: e.Actor, AuthorID: e.ActorID, Bot: e.Bot}
	if mayCreate(r) {
		return false
	}
	if s.strangers.isSpent(who.accountKey()) {
		return true
	}
	s.countAnswer(who, r, 2)
	return false
}

func noteWithoutReply(e PullRequestEvent, what string) string {
	return fmt.Sprintf("%s by %s is ignored: they have no permission here and were told so often enough", what, e.Actor)
}

func mayCreate(r policy.Request) bool { return policy.Authorize(r, policy.ActCreate, nil).Allowed }
