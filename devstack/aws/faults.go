package aws

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/faults"
	"github.com/ocpctl/ocpctl/devstack/standin"
)

// The values for Refuse besides AWS's codes.
const (
	Denied           = faults.Denied      // no policy allows it: UnauthorizedOperation, AccessDenied or AccessDeniedException
	DeniedBySCP      = "DeniedBySCP"      // the same, with an explicit deny in a service control policy
	DeniedByBoundary = "DeniedByBoundary" // … in a permissions boundary
	Expired          = "ExpiredToken"     // the credentials have expired: ExpiredToken, ExpiredTokenException or RequestExpired

	NoCapacity = "InsufficientInstanceCapacity" // of StartInstances: there is none for the instance's type in its zone
)

// Count is the number of calls of one name, by result.
type Count = faults.Count

// name is the call's, with its service.
func (c *call) name() string { return c.service + ":" + c.action }

// faultFor counts the call, consumes one throttling or refusal if one is set for it, and returns its delay.
func (s *Server) faultFor(c *call) (*Fault, time.Duration) {
	names := []string{c.name(), c.action, "*"}
	if !global(c.service) {
		names = append(names, c.region+"/*", c.region+"/"+c.name())
	}
	if c.service == "ec2" {
		for _, id := range c.params.list("InstanceId") {
			names = append(names, c.name()+"/"+id)
		}
	}
	e := s.Hit(!reads(c.action), names...)
	switch {
	case e.Throttled:
		return c.throttled(), e.Delay
	case e.Code != "":
		return c.refused(e.Code), e.Delay
	}
	return nil, e.Delay
}

// throttled returns each service's error for too many requests. The SDK retries all of them.
func (c *call) throttled() *Fault {
	switch c.service {
	case "ec2":
		return fault("RequestLimitExceeded", "Request limit exceeded.")
	case "tagging":
		return fault("ThrottledException", "Rate exceeded")
	case "servicequotas":
		return fault("TooManyRequestsException", "Rate exceeded")
	case "s3":
		return fault("SlowDown", "Please reduce your request rate.")
	}
	return fault("Throttling", "Rate exceeded")
}

// refused returns the service's error for a code.
func (c *call) refused(code string) *Fault {
	user := fmt.Sprintf("User: %s is not authorized to perform: %s:%s", c.who.arn, c.service, c.action)
	switch code {
	case Denied:
		return c.denied(user + " because no identity-based policy allows the action")
	case DeniedBySCP:
		return c.denied(user + " with an explicit deny in a service control policy")
	case DeniedByBoundary:
		return c.denied(user + " with an explicit deny in a permissions boundary")
	case Expired:
		return c.expired()
	case NoCapacity:
		return fault(NoCapacity, "Insufficient capacity.")
	case "Blocked":
		return fault(code, "This account is currently blocked and not recognized as a valid account. Please contact aws-verification@amazon.com if you have questions.")
	case "PendingVerification":
		return fault(code, "Your request for accessing resources in this region is being validated, and you will not be able to launch additional resources in this region until the validation is complete.")
	}
	return fault(code, "You are not authorized to perform this operation. %s", user)
}

func (c *call) denied(text string) *Fault {
	switch {
	case c.service == "ec2":
		return fault("UnauthorizedOperation", "You are not authorized to perform this operation. %s", text)
	case speaksJSON[c.service]:
		return fault("AccessDeniedException", "%s", text)
	}
	return fault("AccessDenied", "%s", text)
}

func (c *call) expired() *Fault {
	const text = "The security token included in the request is expired"
	switch {
	case c.service == "ec2":
		return fault("RequestExpired", "Request has expired.")
	case speaksJSON[c.service]:
		return fault("ExpiredTokenException", text)
	}
	return fault("ExpiredToken", text)
}

// Faults returns the set faults for the demo's page: call → code, or the delay.
func (s *Server) Faults() map[string]string {
	out := s.Describe()
	s.mu.Lock()
	defer s.mu.Unlock()
	for region, disabled := range s.world.disabled {
		if disabled {
			out[region] = "disabled"
		}
	}
	s.DescribeInto(out)
	return out
}

// Lag is how far reads are behind writes.
type Lag = standin.Lag

// view returns the world as a call sees it: an older copy for reads that lag, otherwise the world itself.
func (w *world) view(c *call) *world {
	late, iam := w.Lag.Create, c.service == "iam"
	if iam {
		late = w.Lag.IAM
	}
	if late == 0 || !lags(c) {
		return w
	}
	now, seen := w.Now(), *w
	seen.Resources = slices.DeleteFunc(slices.Clone(w.Resources), func(r *Resource) bool { return !r.Stands && now.Sub(r.Created) < late })
	for _, r := range w.Dead {
		if iam && r.Service == "iam" && now.Sub(r.Gone) < late && now.Sub(r.Created) >= late {
			ghost := *r
			ghost.Gone = time.Time{}
			seen.Resources = append(seen.Resources, &ghost)
		}
	}
	return &seen
}

// lags reports whether a read may be late: lists and describe calls everywhere, and every read of IAM. Other reads by name (a zone, a
// quota, the caller itself) are consistent.
func lags(c *call) bool {
	return reads(c.action) && (c.service == "iam" || c.action == "GetResources" || !strings.HasPrefix(c.action, "Get"))
}
