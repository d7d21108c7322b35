package ibmcloud

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/faults"
	"github.com/ocpctl/ocpctl/devstack/standin"
)

// The values for Refuse besides IBM's own codes, which it answers with status 400.
const (
	Denied  = faults.Denied // status 403: the caller has no role that allows it
	Expired = "Expired"     // status 401: the token is not valid any more
	Broken  = "Broken"      // status 500
	Lost    = "Lost"        // the call is executed, and its answer is status 500

	NoCapacity = "NoCapacity" // of the action start of a machine: it is accepted, and the machine stays stopped and says why
)

// answer is one that a test gave.
type answer struct {
	status int
	body   string
}

// trouble is what the set faults do to one call.
type trouble struct {
	err   error
	raw   *answer
	lost  bool
	delay time.Duration
}

// troubleFor counts the call and consumes one throttling or failure if one is set for it.
func (s *Server) troubleFor(c *call) trouble {
	names := []string{c.op, strings.TrimPrefix(c.op, c.service+":"), c.service + ":*", "*"}
	if c.region != "" {
		names = append(names, c.region+"/"+c.op, c.region+"/*")
	}
	if c.op == instanceAction {
		var in struct{ Type string }
		_ = c.decode(&in) // the call itself refuses what it cannot read
		names = append(names, c.op+":"+in.Type, c.op+":"+in.Type+"/"+c.path("id"))
	}
	e := s.Hit(!c.reads(), names...)
	t := trouble{delay: e.Delay, raw: given(e.Code), lost: e.Code == Lost}
	c.full = e.Code == NoCapacity && c.op == instanceAction
	switch {
	case e.Throttled:
		t.err = refuse(http.StatusTooManyRequests, "too_many_requests", "Too many requests. Try again later.")
	case e.Code != "" && t.raw == nil && !t.lost && !c.full:
		t.err = refused(e.Code, c)
	}
	return t
}

const instanceAction = "vpc:create_instance_action"

// given reads the code that Fail sets.
func given(code string) *answer {
	status, body, both := strings.Cut(code, " ")
	n, err := strconv.Atoi(status)
	if err != nil || !both {
		return nil
	}
	return &answer{n, body}
}

// Fail answers the next calls of a name with a status and a body as given, without executing them. times -1: until lifted.
func (s *Server) Fail(call string, times, status int, body string) {
	s.Refuse(call, times, fmt.Sprintf("%d %s", status, body))
}

func refused(code string, c *call) error {
	switch code {
	case Denied:
		return c.denied()
	case Expired:
		return refuse(http.StatusUnauthorized, "invalid_token", "The provided token is expired or not valid.")
	case Broken:
		return refuse(http.StatusInternalServerError, "internal_error", "An internal error occurred. Try again later.")
	}
	return refuse(http.StatusBadRequest, code, "The request was refused: %s.", code)
}

// Faults returns the set faults for the demo's page: call → code, or the delay.
func (s *Server) Faults() map[string]string {
	out := s.Describe()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.DescribeInto(out)
	return out
}

// Lag is how far reads are behind writes.
type Lag = standin.Lag

// late reports that a resource is too new for a list that lags.
func (w *world) late(r *Resource, by time.Duration) bool {
	return !r.Stands && w.Now().Sub(r.Created) < by
}
