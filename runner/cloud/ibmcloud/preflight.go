package ibmcloud

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/IBM/go-sdk-core/v5/core"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Preflight reports what would prevent an install, before anything is recorded: the account, the base domain's zone, the name, the zones and
// instance types. Only a proven shortfall blocks; a query that the cloud did not answer is a warning. The error is for a context that ended.
//
// Codes that block: NoAPIKey, CredentialsRefused, WrongAccount, ZoneMissing, ZoneAmbiguous, NameInUse, ZoneNotOffered, InstanceTypeNotOffered. Codes
// that warn: NotAnswered, ZoneShadowed.
func (c *Client) Preflight(ctx context.Context, t cloud.Target, zones, instanceTypes []string) ([]cloud.Problem, error) {
	return cloud.RunChecks(ctx, checkTimeout, notAnswered,
		func(context.Context) ([]cloud.Problem, error) { return c.checkKey(), nil },
		func(ctx context.Context) ([]cloud.Problem, error) { return c.checkAccount(ctx, t.Account) },
		func(ctx context.Context) ([]cloud.Problem, error) { return c.checkDomain(ctx, t) },
		func(ctx context.Context) ([]cloud.Problem, error) { return c.checkZones(ctx, t.Region, zones) },
		func(ctx context.Context) ([]cloud.Problem, error) { return c.checkTypes(ctx, t.Region, instanceTypes) },
	)
}

// notAnswered is a warning, because of a missing permission or a problem in the cloud.
func notAnswered(err error) cloud.Problem {
	p := cloud.Problem{
		Code: "NotAnswered", Whose: contract.WhoseCloud, Message: "the cloud did not answer: " + err.Error(),
		Next: "you need not do anything unless an install fails because of this",
	}
	if isForbidden(err) {
		p.Whose, p.Next = contract.WhoseOurs, "ask an administrator of the account to give the runner's credentials access to this service"
	}
	return p
}

// checkKey refuses an install with the pod's trusted profile alone: the client could do its part, and the installer's programs could not.
func (c *Client) checkKey() []cloud.Problem {
	if _, byKey := c.auth.(*core.IamAuthenticator); byKey {
		return nil
	}
	return []cloud.Problem{{
		Code: "NoAPIKey", Block: true, Whose: contract.WhoseOurs, Message: "the runner has a trusted profile, but openshift-install and ccoctl accept only an API key",
		Next: "ask an administrator of this installation to set a reference to an API key (clouds.ibmcloud.credentials_ref)",
	}}
}

func (c *Client) checkAccount(ctx context.Context, want string) ([]cloud.Problem, error) {
	got, err := c.Account(ctx)
	switch {
	case errors.Is(err, cloud.ErrCredentials), errors.Is(err, cloud.ErrCredentialsExpired):
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

// checkDomain looks for the base domain's zone, and for anything at and below the cluster's own name in it.
func (c *Client) checkDomain(ctx context.Context, t cloud.Target) ([]cloud.Problem, error) {
	zones, err := c.domainZones(ctx, t)
	if err != nil {
		return nil, err
	}
	switch len(zones.active) {
	case 0:
		return []cloud.Problem{{
			Code: "ZoneMissing", Block: true, Whose: contract.WhoseOurs, Message: zones.explainMissing(t),
			Next: "choose another base domain, or ask the DNS administrator to create the zone",
		}}, nil
	case 1:
	default:
		return []cloud.Problem{{
			Code: "ZoneAmbiguous", Block: true, Whose: contract.WhoseOurs,
			Message: fmt.Sprintf("%d instances of %s have an active zone for %s, and the installer does not say which one it uses", len(zones.active), zones.service, t.BaseDomain),
			Next:    "ask the DNS administrator to delete all but one of the zones",
		}}, nil
	}
	problems := findShadowing(zones.public, zones.active[0])
	records, err := zones.records(ctx, zones.active[0])
	if err != nil {
		return problems, err
	}
	var taken []string
	for _, r := range records {
		if name := trimDot(r.Name); strings.HasSuffix("."+name, "."+t.Domain()) {
			taken = append(taken, name)
		}
	}
	return append(problems, cloud.NameInUse(taken, t.Domain()+" is already in DNS", "choose another name, or ask the DNS administrator who owns these records")...), nil
}

// explainMissing says that there is no zone for the base domain where the installer looks for one.
func (z domainZones) explainMissing(t cloud.Target) string {
	switch t.Publish {
	case contract.PublishInternal, contract.PublishExternal:
		return fmt.Sprintf("%s of this account has no active zone for %s, and a cluster with publish: %s needs one there", z.service, t.BaseDomain, t.Publish)
	}
	return "neither Internet Services nor DNS Services of this account has an active zone for " + t.BaseDomain
}

// findShadowing warns about zones that the installer's destroyer may take for the cluster's: it takes the last one whose name the base domain
// contains (openshift/installer pkg/destroy/ibmcloud). What it then leaves is removed.
func findShadowing(all []zone, ours zone) []cloud.Problem {
	var others []string
	for _, z := range all {
		if z.ID != ours.ID && strings.Contains(ours.Name, z.Name) {
			others = append(others, z.Name)
		}
	}
	if len(others) == 0 {
		return nil
	}
	slices.Sort(others)
	return []cloud.Problem{{
		Code: "ZoneShadowed", Whose: contract.WhoseOurs,
		Message: fmt.Sprintf("the installer's destroyer may look for the DNS records of this cluster in another zone (%s), because its name is a part of %s", strings.Join(others, ", "), ours.Name),
		Next:    "you need not do anything: ocpctl deletes the records itself",
	}}
}
