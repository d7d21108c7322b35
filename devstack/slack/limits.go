package slack

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// burst is how many messages a channel takes at once. Slack says that short bursts are fine, and no number.
const burst = 4

// limiters are the token buckets of methods and channels, by name.
type limiters map[string]*rate.Limiter

// limited says for how many seconds a call must wait; 0: it need not. Under the lock.
func (s *Server) limited(method string, tier int, a args) int {
	if !s.cfg.Limits {
		return 0
	}
	name, per, most := method, rate.Limit(float64(tier)/60), tier
	if method == "chat.postMessage" { // one message a second and channel
		name, per, most = method+" "+a["channel"], 1, burst
	}
	if most == 0 {
		return 0
	}
	l := s.limiters[name]
	if l == nil {
		l = rate.NewLimiter(per, most)
		s.limiters[name] = l
	}
	now := s.cfg.Now()
	turn := l.ReserveN(now, 1)
	wait := turn.DelayFrom(now)
	if wait <= 0 {
		return 0
	}
	turn.CancelAt(now)
	return int(math.Ceil(float64(wait) / float64(time.Second)))
}
