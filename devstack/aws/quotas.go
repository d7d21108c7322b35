package aws

import (
	"slices"
	"strconv"
)

// quota is one limit of Service Quotas, and the create call's error above it.
type quota struct {
	service, code, name string
	value               int    // a new account's value
	refusal, text       string // text is formatted with the limit
	used                func(c *call, place string) int
	unit                int // how many counted units make one unit of the limit
}

// quotas are the limits that are reported and enforced (docs.aws.amazon.com/general/latest/gr/aws-service-information.html). AWS does
// not publish a new account's vCPU limit, which changes with its age; 256 is common.
func quotas() []quota {
	return []quota{
		{"vpc", "L-F678F1CE", "VPCs per Region", 5, "VpcLimitExceeded", "The maximum number of VPCs has been reached (%d).", living("ec2", "vpc"), 1},
		{"vpc", "L-A4707A72", "Internet gateways per Region", 5, "InternetGatewayLimitExceeded", "The maximum number of internet gateways has been reached (%d).", living("ec2", "internet-gateway"), 1},
		{"vpc", "L-FE5A380F", "NAT gateways per Availability Zone", 5, "NatGatewayLimitExceeded", "Performing this operation would exceed the limit of %d NAT gateways", natsIn, 1},
		{"vpc", "L-1B52E74A", "Gateway VPC endpoints per Region", 20, "VpcEndpointLimitExceeded", "The maximum number of VPC endpoints has been reached (%d).", kindOf("ec2", "vpc-endpoint", "vpc-endpoint-type", "Gateway"), 1},
		{"vpc", "L-E79EC296", "VPC security groups per Region", 2500, "SecurityGroupLimitExceeded", "The maximum number of security groups has been reached (%d).", living("ec2", "security-group"), 1},
		{"ec2", "L-0263D0A3", "EC2-VPC Elastic IPs", 5, "AddressLimitExceeded", "The maximum number of addresses has been reached (%d).", living("ec2", "elastic-ip"), 1},
		{"ec2", "L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", 256, "VcpuLimitExceeded",
			"You have requested more vCPU capacity than your current vCPU limit of %d allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.", runningVCPUs(""), 1},
		{"ec2", "L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", 256, "MaxSpotInstanceCountExceeded", "Max spot instance count exceeded (%d vCPUs)", runningVCPUs("spot"), 1},
		{"ebs", "L-7A658B76", "Storage for General Purpose SSD (gp3) volumes, in TiB", 50, "VolumeLimitExceeded", "You have exceeded your maximum gp3 storage limit of %d TiB in this region.", gp3, 1024},
		{"elasticloadbalancing", "L-69A177A2", "Network Load Balancers per Region", 50, "TooManyLoadBalancers", "Exceeded quota of account: at most %d network load balancers", kindOf("elasticloadbalancing", "loadbalancer", "type", "network"), 1},
		{"elasticloadbalancing", "L-E9E9831D", "Classic Load Balancers per Region", 20, "TooManyLoadBalancers", "Exceeded quota of account: at most %d classic load balancers", living("elasticloadbalancing", "classic"), 1},
		{"route53", "L-4EA4796A", "Hosted zones", 500, "TooManyHostedZones", "Limits Exceeded: MAX_HOSTED_ZONES_BY_OWNER - Cannot create more than %d hosted zones.", living("route53", "hostedzone"), 1},
		{"iam", "L-FE177D64", "Roles per account", 1000, "LimitExceeded", "Cannot exceed quota for RolesPerAccount: %d", living("iam", "role"), 1},
		{"iam", "L-858F3967", "OpenId connect providers per account", 100, "LimitExceeded", "Cannot exceed quota for OpenIDConnectProvidersPerAccount: %d", living("iam", "oidc-provider"), 1},
	}
}

func quotaOf(code string) (quota, bool) {
	all := quotas()
	i := slices.IndexFunc(all, func(q quota) bool { return q.code == code })
	if i < 0 {
		return quota{}, false
	}
	return all[i], true
}

// RealLimits are AWS's defaults for a new account, by quota code, for Config.Limits.
func RealLimits() map[string]int {
	out := map[string]int{}
	for _, q := range quotas() {
		out[q.code] = q.value
	}
	return out
}

func (c *call) limit(q quota) int {
	if own, set := c.server.world.Limits[c.Account+"/"+q.code]; set {
		return own
	}
	return c.server.Limit(q.code)
}

// checkQuota refuses what would exceed a quota. The place is the availability zone, for a quota per zone.
func (c *call) checkQuota(code, place string, more int) error {
	q, ok := quotaOf(code)
	if limit := c.limit(q); ok && q.used(c, place)+more > limit*q.unit {
		c.server.Exceed()
		return fault(q.refusal, q.text, limit)
	}
	return nil
}

// count returns how many living resources of a type the caller has in its region.
func (c *call) count(service, typ string, match func(*Resource) bool) int {
	n := 0
	for _, r := range c.Resources {
		if r.Service == service && r.Type == typ && r.Account == c.Account && (r.Region == c.region || r.Region == "") && match(r) {
			n++
		}
	}
	return n
}

func living(service, typ string) func(*call, string) int {
	return func(c *call, _ string) int { return c.count(service, typ, func(*Resource) bool { return true }) }
}

func kindOf(service, typ, attr, value string) func(*call, string) int {
	return func(c *call, _ string) int {
		return c.count(service, typ, func(r *Resource) bool { return r.Attrs[attr] == value })
	}
}

// natsIn counts a zone's NAT gateways, including those being deleted.
func natsIn(c *call, zone string) int {
	return c.count("ec2", "natgateway", func(r *Resource) bool { return r.Attrs["availability-zone"] == zone })
}

// runningVCPUs counts only pending and running instances of a lifecycle, like the real quota.
func runningVCPUs(lifecycle string) func(*call, string) int {
	return func(c *call, _ string) int {
		sum := 0
		c.count("ec2", "instance", func(r *Resource) bool {
			if r.Attrs["instance-lifecycle"] == lifecycle && (r.State == "pending" || r.State == "running") {
				sum += vcpus(r.Attrs["instance-type"])
			}
			return false
		})
		return sum
	}
}

// gp3 returns the storage of all gp3 volumes in GiB.
func gp3(c *call, _ string) int {
	gib := 0
	c.count("ec2", "volume", func(r *Resource) bool {
		size, _ := strconv.Atoi(r.Attrs["size"]) // always written by us
		if r.Attrs["type"] == "gp3" {
			gib += size
		}
		return false
	})
	return gib
}
