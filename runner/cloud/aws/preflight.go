package aws

import (
	"context"
	"errors"
	"fmt"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// serviceRole is created by AWS with an account's first load balancer, if the caller may create it. The installer's first network
// load balancer fails if the role neither exists nor may be created (Hive's class AWSAccessDeniedSLR).
const serviceRole = "AWSServiceRoleForElasticLoadBalancing"

// Preflight reports what would prevent an install, before anything is recorded: the account, the base domain's zone, the name, the
// zones and instance types, the account's role for load balancers. Only a proven shortfall blocks; a query that the cloud did not
// answer is a warning. The error is for a context that ended.
//
// Codes that block: CredentialsRefused, WrongAccount, ZoneMissing, NameInUse, ZoneNotOffered, InstanceTypeNotOffered. Codes that
// warn: NotAnswered, ServiceRoleMissing.
func (c *Client) Preflight(ctx context.Context, t cloud.Target, zones, instanceTypes []string) ([]cloud.Problem, error) {
	return cloud.RunChecks(ctx, callTimeout, notAnswered,
		func(ctx context.Context) ([]cloud.Problem, error) { return c.checkAccount(ctx, t.Account) },
		func(ctx context.Context) ([]cloud.Problem, error) { return c.checkDomain(ctx, t) },
		func(ctx context.Context) ([]cloud.Problem, error) { return c.checkCCONames(ctx, t) },
		func(ctx context.Context) ([]cloud.Problem, error) { return c.checkZones(ctx, t.Region, zones) },
		func(ctx context.Context) ([]cloud.Problem, error) {
			return c.checkTypes(ctx, t.Region, zones, instanceTypes)
		},
		c.checkServiceRole,
	)
}

// notAnswered is a warning, because of a missing permission or a problem in the cloud.
func notAnswered(err error) cloud.Problem {
	p := cloud.Problem{
		Code: "NotAnswered", Whose: contract.WhoseCloud, Message: "the cloud did not answer: " + err.Error(),
		Next: "you need not do anything unless an install fails because of this",
	}
	if action := missingAction(err); action != "" {
		p.Whose, p.Next = contract.WhoseOurs, "ask an administrator of the account to allow "+action+" in the policy of the runner's role"
	}
	return p
}

func (c *Client) checkAccount(ctx context.Context, want string) ([]cloud.Problem, error) {
	got, err := c.Account(ctx)
	switch {
	case errors.Is(err, cloud.ErrCredentials):
		return []cloud.Problem{{
			Code: "CredentialsRefused", Block: true, Whose: contract.WhoseOurs, Message: err.Error(),
			Next: "ask an administrator of this installation to renew them",
		}}, nil
	case err != nil:
		return nil, err
	case want != "" && got != want:
		return []cloud.Problem{{
			Code: "WrongAccount", Block: true, Whose: contract.WhoseOurs, Message: fmt.Sprintf("the runner's credentials belong to account %s, but the cluster needs account %s", got, want),
			Next: "ask an administrator of this installation to give the runner credentials for account " + want,
		}}, nil
	}
	return nil, nil
}

// checkServiceRole warns about a new account. It never blocks: the installer may be allowed to have the role created.
func (c *Client) checkServiceRole(ctx context.Context) ([]cloud.Problem, error) {
	_, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: awssdk.String(serviceRole)})
	if err == nil || !isAbsent(err) {
		return nil, err
	}
	return []cloud.Problem{{
		Code: "ServiceRoleMissing", Whose: contract.WhoseOurs, Message: "the account has no role " + serviceRole + " yet; AWS creates it with the first load balancer if the runner is allowed to create it",
		Next: "if load balancers fail with AccessDenied, ask an IAM administrator to run: aws iam create-service-linked-role --aws-service-name elasticloadbalancing.amazonaws.com",
	}}, nil
}

// checkDomain looks for the public zone, and for anything below the cluster's own name in it.
func (c *Client) checkDomain(ctx context.Context, t cloud.Target) ([]cloud.Problem, error) {
	public, err := c.publicZonesCalled(ctx, t.BaseDomain)
	if err != nil {
		return nil, err
	}
	if len(public) == 0 {
		return []cloud.Problem{{
			Code: "ZoneMissing", Block: true, Whose: contract.WhoseOurs, Message: fmt.Sprintf("there is no public hosted zone for %s in this account", t.BaseDomain),
			Next: "choose another base domain, or ask the DNS administrator to create the zone",
		}}, nil
	}
	taken, err := c.inDNS(ctx, public, t.Domain())
	return cloud.NameInUse(taken, t.Domain()+" is already in DNS", "choose another name, or ask the DNS administrator who owns these records"), err
}

// inDNS returns the names in use at and below a domain: zones with the name, and records in the public zones above it.
func (c *Client) inDNS(ctx context.Context, public []zone, domain string) ([]string, error) {
	own, err := c.zonesCalled(ctx, domain)
	if err != nil {
		return nil, err
	}
	taken := convertEach(own, func(zone) string { return domain })
	for _, z := range public {
		records, err := c.recordsIn(ctx, z.id)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if name := trimDot(r.Name); strings.HasSuffix("."+name, "."+domain) {
				taken = append(taken, name)
			}
		}
	}
	return taken, nil
}

// checkCCONames looks for what ccoctl would create under the names recorded for this attempt: it would use an existing bucket or
// provider of the name as if it were its own.
func (c *Client) checkCCONames(ctx context.Context, t cloud.Target) ([]cloud.Problem, error) {
	var problems []cloud.Problem
	for _, name := range ownerOf(t).ccoNames {
		taken, err := c.providersCalled(ctx, name)
		if err != nil {
			return problems, fmt.Errorf("look for the identity provider of %s: %w", name, err)
		}
		bucket := issuerBucket(name)
		region, err := c.bucketHome(ctx, bucket)
		if err != nil {
			return problems, fmt.Errorf("look for bucket %s: %w", bucket, err)
		}
		if region != "" {
			taken = append(taken, bucket)
		}
		problems = append(problems, cloud.NameInUse(taken, "the ccoctl name "+name+" is already in use", "try again: the next attempt uses another name")...)
	}
	return problems, nil
}
