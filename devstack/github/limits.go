package github

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/pick"
)

// Limits are GitHub's limits for an installation. https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
type Limits struct {
	Hour             time.Duration // length of an hour of the limits: shorter if clusters live faster than real ones; 0: an hour
	PerHour          int           // calls, and separately points of GraphQL
	Strict           bool          // enforce the secondary limits below
	ContentPerMinute int           // calls that create content
	ContentPerHour   int
	PointsPerMinute  int // a read costs one, a write five
}

// DocumentedLimits are the limits in GitHub's documentation; the secondary ones are enforced only with Strict.
func DocumentedLimits() Limits {
	return Limits{PerHour: 5000, ContentPerMinute: 80, ContentPerHour: 500, PointsPerMinute: 900}
}

func (l Limits) hour() time.Duration { return cmp.Or(l.Hour, time.Hour) }

// SetLimits sets the limits from now on. Earlier use still counts.
func (s *Server) SetLimits(l Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter.limits = l
}

// Spend uses up the primary limits until only so many calls are left of each. They reset after the given time, within a second. undo
// makes the earlier use count again, together with the use since then.
func (s *Server) Spend(left int, reset time.Duration) (undo func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, since := s.meter.hours, s.now()
	s.meter.hours = map[string]*hour{}
	start := s.now().Add(reset - s.meter.limits.hour()).Truncate(time.Second)
	for _, resource := range []string{"core", "graphql"} {
		s.meter.hours[resource] = &hour{start: start, used: max(0, s.meter.limits.PerHour-left)}
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.meter.hours = before
		for _, c := range slices.Backward(s.meter.calls) {
			if c.At.Before(since) {
				break
			}
			s.meter.use(resourceOf(c.Path), 1, c.At)
		}
	}
}

// Left returns what is left of the primary limit for REST calls.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meter.limits.PerHour - s.meter.use("core", 0, s.now()).used
}

func resourceOf(path string) string {
	if path == "/graphql" {
		return "graphql"
	}
	return "core"
}

// Call is an API call by the App, as itself or in its installation.
type Call struct {
	At      time.Time
	Method  string
	Route   string // the pattern it matched, e.g. "POST /repos/{owner}/{repo}/check-runs"
	Path    string
	Status  int  // 0: not answered yet
	Content bool // it creates content as the installation
}

// Calls returns the calls since the start, oldest first; the newest 50,000 are kept.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return pick.Map(s.meter.calls, func(c *Call) Call { return *c })
}

// CallsByRoute counts the calls since the start.
func (s *Server) CallsByRoute() map[string]int {
	out := map[string]int{}
	for _, c := range s.Calls() {
		out[c.Route]++
	}
	return out
}

// MostContent returns the largest number of content writes within any period of this length.
func (s *Server) MostContent(within time.Duration) int {
	var at []time.Time
	for _, c := range s.Calls() {
		if c.Content {
			at = append(at, c.At)
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	most, first := 0, 0
	for i, t := range at {
		for t.Sub(at[first]) >= within {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// meter counts calls. Guarded by Server.mu.
type meter struct {
	limits Limits
	calls  []*Call
	hours  map[string]*hour // by resource
}

// hour is the use of a primary limit.
type hour struct {
	start time.Time
	used  int
}

const keptCalls = 50_000

func newMeter() meter { return meter{limits: DocumentedLimits(), hours: map[string]*hour{}} }

// use takes n from a resource's hour and returns its state.
func (m *meter) use(resource string, n int, now time.Time) *hour {
	h := m.hours[resource]
	if h == nil || now.Sub(h.start) >= m.limits.hour() {
		h = &hour{start: now.Truncate(time.Second)}
		m.hours[resource] = h
	}
	h.used += n
	return h
}

// tooMuch returns the seconds to wait if a call as the installation exceeds a secondary limit; zero: it does not.
func (m *meter) tooMuch(now time.Time, content bool) int {
	if !m.limits.Strict {
		return 0
	}
	var minute, hour, points int
	for _, c := range slices.Backward(m.calls) {
		age := now.Sub(c.At)
		if age >= m.limits.hour() {
			break
		}
		if c.Content {
			hour++
		}
		if age < time.Minute {
			points++
			if c.Content {
				minute++
				points += 4
			}
		}
	}
	switch {
	case content && hour >= m.limits.ContentPerHour:
		return 300
	case content && minute >= m.limits.ContentPerMinute, points >= m.limits.PointsPerMinute:
		return 60
	}
	return 0
}

func (m *meter) note(c *Call) {
	m.calls = append(m.calls, c)
	if over := len(m.calls) - keptCalls; over > 0 {
		m.calls = slices.Delete(m.calls, 0, over+keptCalls/10)
	}
}

// metered counts the App's calls, reports the limit in every response, and refuses calls above it.
func (s *Server) metered(mux *http.ServeMux, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" || r.URL.Path == ratePath {
			next.ServeHTTP(w, r)
			return
		}
		c, _ := s.caller(r)
		resource := resourceOf(r.URL.Path)
		call := &Call{At: s.now(), Method: r.Method, Route: routeOf(mux, r), Path: r.URL.Path, Content: c.app && r.Method != http.MethodGet && resource == "core"}
		s.mu.Lock()
		limits, wait := s.meter.limits, s.meter.tooMuch(call.At, call.Content)
		h := *s.meter.use(resource, 1, call.At)
		s.meter.note(call) // before the response is sent, so that whoever has it, and concurrent callers, find it counted
		s.mu.Unlock()
		setLimit(w.Header(), resource, limits, h)
		out := &statusKeeper{ResponseWriter: w, status: http.StatusOK}
		defer func() { // in any case: a cut connection was a call too
			s.mu.Lock()
			defer s.mu.Unlock()
			if out.status == http.StatusNotModified {
				s.meter.use(resource, -1, call.At) // a 304 costs nothing
			}
			call.Status = out.status
		}()
		switch {
		case c.app && h.used > limits.PerHour && resource == "graphql":
			answer(out, http.StatusOK, object{"errors": []gqlError{{
				Type: "RATE_LIMITED", Message: "API rate limit exceeded for installation ID " + itoa(c.grant.Installation) + ".",
			}}})
		case c.app && h.used > limits.PerHour:
			limited(out, http.StatusForbidden, "API rate limit exceeded for installation ID "+itoa(c.grant.Installation)+".",
				"https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api")
		case c.app && wait > 0:
			out.Header().Set("Retry-After", strconv.Itoa(wait))
			limited(out, http.StatusForbidden, secondary, "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits")
		default:
			next.ServeHTTP(out, r)
		}
	})
}

// ratePath is the one call that costs nothing. https://docs.github.com/rest/rate-limit/rate-limit
const ratePath = "/rate_limit"

const secondary = "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. " +
	"Please retry your request again later."

// routeOf returns the pattern that a request matches. Two with a shared pattern are distinguished.
func routeOf(mux *http.ServeMux, r *http.Request) string {
	_, pattern := mux.Handler(r)
	if shared, ok := strings.CutSuffix(pattern, "/{a}/{b}"); ok {
		parts := strings.Split(r.URL.Path, "/")
		if a := parts[len(parts)-2]; a == "comments" {
			return shared + "/comments/{id}"
		}
		return shared + "/{number}/" + parts[len(parts)-1]
	}
	return pattern
}

func limited(w http.ResponseWriter, status int, message, docsURL string) {
	answer(w, status, object{"message": message, "documentation_url": docsURL, "status": strconv.Itoa(status)})
}

func setLimit(head http.Header, resource string, limits Limits, h hour) {
	for name, n := range map[string]int{"Limit": limits.PerHour, "Remaining": max(0, limits.PerHour-h.used), "Used": min(h.used, limits.PerHour)} {
		head.Set("X-RateLimit-"+name, strconv.Itoa(n))
	}
	head.Set("X-RateLimit-Reset", itoa(h.start.Add(limits.hour()).Unix()))
	head.Set("X-RateLimit-Resource", resource)
}

// statusKeeper remembers a call's status.
type statusKeeper struct {
	http.ResponseWriter
	status int
}

func (k *statusKeeper) WriteHeader(status int) {
	k.status = status
	k.ResponseWriter.WriteHeader(status)
}

// NotYet makes the first n calls that name a new pull request, comment, check run or deployment return 404: not all of GitHub's
// servers know a new object at once. Zero ends it.
func (s *Server) NotYet(n int) {
	s.setFaults(func(f *faults) { f.late, f.unseen = n, map[string]int{} })
}

// fresh records that something new is not visible yet. Called with s.mu held.
func (s *Server) fresh(repo, id int64) {
	if s.faults.late > 0 {
		s.faults.unseen[itoa(repo)+"/"+itoa(id)] = s.faults.late
	}
}

// notYet reports whether a call names something that is not visible yet.
func (s *Server) notYet(r *http.Request, repo int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for part := range strings.SplitSeq(r.URL.Path, "/") {
		if n, err := strconv.ParseInt(part, 10, 64); err == nil && s.lateIn(repo, n) {
			return true
		}
	}
	return false
}

// lateIn reports whether something new is not visible yet, and counts the call. Called with s.mu held.
func (s *Server) lateIn(repo, id int64) bool {
	key := itoa(repo) + "/" + itoa(id)
	left, late := s.faults.unseen[key]
	if left > 1 {
		s.faults.unseen[key] = left - 1
	} else {
		delete(s.faults.unseen, key)
	}
	return late
}
