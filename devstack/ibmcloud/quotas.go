package ibmcloud

import (
	"net/http"
	"strings"
)

// RealLimits are IBM's defaults for VPC, for Config.Limits (cloud.ibm.com/docs/vpc?topic=vpc-quotas). No API reports them. They hold for
// a region; those of floating-ips for a zone, and those of subnets and security-groups for a VPC.
func RealLimits() map[string]int {
	return map[string]int{
		"vpcs": 10, "vcpu": 200, "floating-ips": 40, "load-balancers": 50, "volumes": 300, "subnets": 100, "security-groups": 100, "keys": 200,
	}
}

// room refuses what would exceed a quota.
func (c *call) room(name string, used, more int) error {
	if limit := c.server.Limit(name); used+more > limit {
		c.server.Exceed()
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
