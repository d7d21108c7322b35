package ibmcloud

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// generous is by how much the stand-in multiplies IBM's default where nobody set a limit: a demo and most tests run more clusters at
// once than a new account could.
const generous = 200

// RealLimits are IBM's defaults for VPC, for Config.Limits (cloud.ibm.com/docs/vpc?topic=vpc-quotas). No API reports them. They hold for
// a region; those of floating-ips for a zone, and those of subnets and security-groups for a VPC.
func RealLimits() map[string]int {
	return map[string]int{
		"vpcs": 10, "vcpu": 200, "floating-ips": 40, "load-balancers": 50, "volumes": 300, "subnets": 100, "security-groups": 100, "keys": 200,
	}
}

// SetLimit sets what the create calls enforce; a negative value restores the configured one. Existing resources above it stay.
func (s *Server) SetLimit(name string, value int) error {
	if _, ok := RealLimits()[name]; !ok {
		return fmt.Errorf("set a limit: %q is no quota of this stand-in, which knows %v", name, slices.Sorted(maps.Keys(RealLimits())))
	}
	return s.change(func(w *world) {
		if value < 0 {
			delete(w.Limits, name)
			return
		}
		w.Limits[name] = value
	})
}

// Exceeded returns how many calls were refused because of a limit.
func (s *Server) Exceeded() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// limit returns a quota's current limit: as set, as configured, or generous.
func (c *call) limit(name string) int {
	if v, ok := c.Limits[name]; ok {
		return v
	}
	if v, ok := c.server.cfg.Limits[name]; ok {
		return v
	}
	return generous * RealLimits()[name]
}

// room refuses what would exceed a quota.
func (c *call) room(name string, used, more int) error {
	if limit := c.limit(name); used+more > limit {
		c.server.over++
		return refuse(http.StatusBadRequest, "over_quota", "Creating a new %s will put the user over quota. Allocated: %d, Requested: %d, Quota: %d",
			strings.ReplaceAll(strings.TrimSuffix(name, "s"), "-", " "), used, more, limit)
	}
	return nil
}

// within counts the caller's VPC resources of a type in the call's region.
func (c *call) within(typ string, match func(*Resource) bool) int {
	return len(c.all(func(r *Resource) bool {
		return r.Service == "is" && r.Type == typ && r.Account == c.who.account && r.Region == c.region && match(r)
	}))
}

func anything(*Resource) bool { return true }
