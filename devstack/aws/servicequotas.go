package aws

import (
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

var quotaCalls = map[string]handler{
	"GetServiceQuota": getQuota((*call).limit), "ListServiceQuotas": listQuotas((*call).limit),
	"GetAWSDefaultServiceQuota": getQuota(byDefault), "ListAWSDefaultServiceQuotas": listQuotas(byDefault),
}

// byDefault returns AWS's default, whatever the limit in this account is.
func byDefault(_ *call, q quota) int { return q.value }

type quotaInput struct {
	ServiceCode, QuotaCode, NextToken string
	MaxResults                        int
}

// quotasOf returns a service's quotas in the caller's region; those of global services exist only in us-east-1.
func (c *call) quotasOf(service string) []quota {
	return slices.DeleteFunc(quotas(), func(q quota) bool {
		return q.service != service || (global(service) && c.region != "us-east-1")
	})
}

func global(service string) bool {
	return service == "iam" || service == "route53" || service == "sts" || service == "organizations" || service == "cloudfront"
}

func getQuota(value func(*call, quota) int) handler {
	return func(c *call) ([]node, error) {
		var in quotaInput
		must.Do(c.decode(&in))
		for _, q := range c.quotasOf(in.ServiceCode) {
			if q.code == in.QuotaCode {
				c.json = map[string]any{"Quota": c.quotaJSON(q, value(c, q))}
				return nil, nil
			}
		}
		return nil, fault("NoSuchResourceException", "The request failed because the specified quota %s of %s does not exist.", in.QuotaCode, in.ServiceCode)
	}
}

func listQuotas(value func(*call, quota) int) handler {
	return func(c *call) ([]node, error) {
		var in quotaInput
		must.Do(c.decode(&in))
		found := c.quotasOf(in.ServiceCode)
		must.EndIf(len(found) == 0,
			fault("NoSuchResourceException", "The request failed because the specified service %s does not exist.", in.ServiceCode))
		found, next, err := after(found, in.NextToken, c.limited(in.MaxResults, 100), func(q quota) string { return q.code })
		if err != nil {
			return nil, fault("InvalidPaginationTokenException", "Invalid token was provided.")
		}
		list := pick.Map(found, func(q quota) any { return c.quotaJSON(q, value(c, q)) })
		out := map[string]any{"Quotas": list}
		if next != "" {
			out["NextToken"] = next
		}
		c.json = out
		return nil, nil
	}
}

func (c *call) quotaJSON(q quota, value int) map[string]any {
	account := c.Account + ":"
	if global(q.service) {
		account = ":" + c.Account + ":"
	} else {
		account = c.region + ":" + account
	}
	return map[string]any{
		"ServiceCode": q.service, "ServiceName": q.service, "QuotaCode": q.code, "QuotaName": q.name, "Value": float64(value), "Unit": "None",
		"Adjustable": true, "GlobalQuota": global(q.service), "QuotaArn": fmt.Sprintf("arn:aws:servicequotas:%s%s/%s", account, q.service, q.code),
	}
}
