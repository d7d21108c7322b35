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

// What is written on GitHub for one person who may do nothing there. An installation may write 500 times an hour, so a few who
// only type must not leave the others without an answer: a comment of five commands takes eight writes.
const (
	strangerBurst = 24
	strangerEvery = 3 * time.Minute
	strangersKept = 4096
)

// strangers counts what people without permission were answered, in this process. It is forgotten when that ends: they begin
// anew then, and nothing that anybody may do depends on it.
type strangers struct {
	now  func() time.Time
	mu   sync.Mutex
	seen map[string]*rate.Limiter
}

func newStrangers(now func() time.Time) *strangers {
	return &strangers{now: now, seen: map[string]*rate.Limiter{}}
}

// spent says whether somebody was answered as much as they are.
func (s *strangers) spent(who string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.seen[who]
	return ok && known.TokensAt(s.now()) < 1
}

// count adds so many writes; the last of what there is room for may take more than that.
func (s *strangers) count(who string, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	known, ok := s.seen[who]
	if !ok {
		s.makeRoom(now)
		known = rate.NewLimiter(rate.Every(strangerEvery), strangerBurst)
		s.seen[who] = known
	}
	known.ReserveN(now, min(writes, strangerBurst))
}

// makeRoom forgets those who have all of it again, and everybody where that is nobody.
func (s *strangers) makeRoom(now time.Time) {
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

// account is whom writes are counted for.
func (e CommentEvent) account() string {
	return strconv.FormatInt(e.Installation, 10) + " " + actor{e.Author, e.AuthorID}.number() + " " + e.Author
}

// unanswered says that somebody who may do nothing here was answered enough for now. Who may by now is not meant.
func (d *Service) unanswered(ctx context.Context, e CommentEvent) (note string, err error) {
	if !d.strangers.spent(e.account()) {
		return "", nil
	}
	permission, err := d.github.Permission(ctx, e.Installation, e.Repo, e.Author)
	if err != nil {
		return "", fmt.Errorf("ask permission of %s on %s: %w", e.Author, e.Repo, err)
	}
	if may(policy.Request{Door: policy.DoorComment, Permission: permission}) {
		return "", nil
	}
	return fmt.Sprintf("not answered: %s has %s permission and was answered often enough for now", e.Author, permission), nil
}

// answering counts so many writes for whoever may do nothing.
func (d *Service) answering(e CommentEvent, r policy.Request, writes int) {
	if !may(r) {
		d.strangers.count(e.account(), writes)
	}
}

// overlooked says that what was done, a label set or a file pushed, was done by somebody who may do nothing here and was told so
// enough for now: it stays as it is, a label until the sweep takes it off. Else it counts what telling them takes.
func (d *Service) overlooked(e PullRequestEvent, r policy.Request) bool {
	who := CommentEvent{Installation: e.PR.Installation, Author: e.Actor, AuthorID: e.ActorID}
	if may(r) {
		return false
	}
	if d.strangers.spent(who.account()) {
		return true
	}
	d.answering(who, r, 2)
	return false
}

func notTold(e PullRequestEvent, what string) string {
	return fmt.Sprintf("%s by %s is ignored: they have no permission here and were told so often enough", what, e.Actor)
}

func may(r policy.Request) bool { return policy.Authorize(r, policy.ActCreate, nil).Allowed }
