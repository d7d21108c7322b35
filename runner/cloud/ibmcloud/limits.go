package ibmcloud

// limits are IBM Cloud's standard limits of the VPC service for an account and region. No API tells them, nor what an account has been given
// instead (https://github.com/ibm-cloud-docs/vpc/blob/master/quotas.md, as of 2026-02-13).
var limits = map[string]limit{
	"vcpu":          {"vCPUs of instances per region", 200},
	"memory":        {"GiB of instances' memory per region", 5600},
	"vpc":           {"VPCs per region", 10},
	"load-balancer": {"application load balancers per region", 50},
	"floating-ip":   {"floating IPs per zone", 40},
	"volume":        {"block storage volumes per region", 300},
}

type limit struct {
	name  string
	value int
}
