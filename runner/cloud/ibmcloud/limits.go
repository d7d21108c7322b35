package ibmcloud

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// limits are IBM Cloud's standard limits of the VPC service for an account and region. No API tells them, nor what an account has been given
// instead, which limitsVariable does (https://github.com/ibm-cloud-docs/vpc/blob/master/quotas.md, as of 2026-02-13).
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

// limitsVariable says which limits an account was given instead: code=number, separated by commas, e.g. vpc=50,vcpu=1000.
const limitsVariable = "IBMCLOUD_LIMITS"

// limitsOf returns the limits of the account, with those that raised sets in the form of limitsVariable.
func limitsOf(raised string) (map[string]limit, error) {
	all := maps.Clone(limits)
	for _, each := range strings.FieldsFunc(raised, func(r rune) bool { return r == ',' || r == ' ' }) {
		code, number, _ := strings.Cut(each, "=")
		one, known := all[code]
		value, err := strconv.Atoi(number)
		if !known || err != nil || value < 0 {
			return nil, fmt.Errorf("%s contains %q; give code=number, separated by commas, with codes of %s", limitsVariable, each, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		}
		one.value = value
		all[code] = one
	}
	return all, nil
}
