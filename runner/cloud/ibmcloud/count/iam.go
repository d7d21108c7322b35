package count

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/IBM/platform-services-go-sdk/iamidentityv1"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

const iamAdministrator = "an IAM administrator of the account"

const kindServiceID = "service-id"

// serviceIDs queries the service IDs that ccoctl made. The API finds whole names only, so all are listed.
func (c *Client) serviceIDs(account string, id identity) question {
	return question{
		service: "iam-identity", call: "ListServiceIds", region: global, asked: "account_id=" + account + "; name=" + joinPrefixes(id.allNames()),
		ask: func(ctx context.Context) (found []thing, err error) {
			err = c.api.ListServiceIDs(ctx, account, func(page []iamidentityv1.ServiceID) error {
				for _, s := range page {
					if id.isNamed(answer.Text(s.Name)) {
						found = append(found, thing{
							kind: kindServiceID, id: answer.Text(s.ID), name: answer.Text(s.Name), iamID: answer.Text(s.IamID),
							free: iamAdministrator, command: "ibmcloud iam service-id-delete " + answer.Text(s.ID),
						})
					}
				}
				return nil
			})
			return found, err
		},
	}
}

// apiKeys queries the API keys of service IDs: by name, and by the service IDs that were found.
func (c *Client) apiKeys(account string, id identity, iamIDs []string) question {
	return question{
		service: "iam-identity", call: "ListAPIKeys", region: global, asked: "account_id=" + account + "; iam_id=" + strings.Join(iamIDs, ",") + "; name=" + joinPrefixes(id.allNames()),
		ask: func(ctx context.Context) (found []thing, err error) {
			err = c.api.ListAPIKeys(ctx, account, func(page []iamidentityv1.APIKey) error {
				for _, k := range page {
					if id.isNamed(answer.Text(k.Name)) || slices.Contains(iamIDs, answer.Text(k.IamID)) {
						found = append(found, thing{
							kind: "api-key", id: answer.Text(k.ID), name: answer.Text(k.Name), iamID: answer.Text(k.IamID),
							free: iamAdministrator, command: fmt.Sprintf("ibmcloud iam service-api-key-delete %s %s", answer.Text(k.ID), strings.TrimPrefix(answer.Text(k.IamID), "iam-")),
						})
					}
				}
				return nil
			})
			return found, err
		},
	}
}

// owners are what policies of the cluster mention.
type owners struct {
	iamIDs    []string // of its service IDs
	groups    []string // ids of its resource groups
	instances []string // GUIDs of its service instances
}

// accessPolicies queries what service IDs of the cluster may do, and who may do something in its resource group or with its instances: IBM
// makes a service ID with such a policy for a resource key. Every account has access policies, and the list leaves out what the credentials
// may not read, so an empty one shows that they see none.
func (c *Client) accessPolicies(account string, of owners) question {
	visible := 0
	q := c.policiesOf("access", account, "subject="+strings.Join(of.iamIDs, ",")+"; resource group="+strings.Join(of.groups, ",")+"; instance="+strings.Join(of.instances, ","),
		func(_ context.Context, p kinds.Policy) (bool, error) {
			visible++
			return slices.Contains(of.iamIDs, p.Who["iam_id"]) || slices.Contains(of.instances, p.About["serviceInstance"]) ||
				slices.Contains(of.groups, p.About["resourceGroupId"]) || slices.Contains(of.groups, p.About["resource"]), nil
		})
	list := q.ask
	q.next = "let the runner's credentials read the account's access policies (the role Viewer on the IAM Access Management service)"
	q.ask = func(ctx context.Context) ([]thing, error) {
		found, err := list(ctx)
		if err == nil && visible == 0 {
			err = errors.New("no access policy is visible, but every account has some")
		}
		return found, err
	}
	return q
}

// askAuthorizations queries what services may do with the cluster's instances: the installer lets VPC images read its Object Storage. An
// instance that was not found is looked up, because the policy outlives it.
func (c *Client) askAuthorizations(account string, id identity, of owners) question {
	known := map[string]bool{}
	return c.policiesOf("authorization", account, "instance="+strings.Join(of.instances, ",")+", or name="+strings.Join(id.infraIDs, "*,")+"*",
		func(ctx context.Context, p kinds.Policy) (bool, error) {
			if slices.Contains(of.groups, p.About["resourceGroupId"]) || slices.Contains(of.groups, p.Who["resourceGroupId"]) {
				return true, nil
			}
			instance := p.About["serviceInstance"]
			if slices.Contains(of.instances, instance) {
				return true, nil
			}
			if instance == "" || p.About["serviceName"] != "cloud-object-storage" {
				return false, nil
			}
			if ours, looked := known[instance]; looked {
				return ours, nil
			}
			found, err := c.getInstance(ctx, instance)
			if isUnreadable(err) {
				err = nil
			}
			known[instance] = id.isNamed(found.name)
			return known[instance], err
		})
}

func (c *Client) policiesOf(kind, account, asked string, ours func(context.Context, kinds.Policy) (bool, error)) question {
	return question{
		service: "iam-policy-management", call: "ListV2Policies", region: global, asked: "type=" + kind + "; " + asked,
		ask: func(ctx context.Context) (found []thing, err error) {
			err = c.api.ListPolicies(ctx, account, &kind, nil, func(page []kinds.Policy) error {
				for _, p := range page {
					left, err := ours(ctx, p)
					if err != nil {
						return fmt.Errorf("look up the instance of policy %s: %w", answer.Text(p.ID), err)
					}
					if left {
						found = append(found, policyThing(kind, p))
					}
				}
				return nil
			})
			return found, err
		},
	}
}

func policyThing(kind string, p kinds.Policy) thing {
	if kind == "authorization" {
		return thing{kind: "authorization-policy", id: answer.Text(p.ID), name: p.About["serviceInstance"],
			free: iamAdministrator, command: "ibmcloud iam authorization-policy-delete " + answer.Text(p.ID)}
	}
	return thing{kind: "access-policy", id: answer.Text(p.ID), name: cmp.Or(p.Who["iam_id"], p.Who["access_group_id"]),
		free: iamAdministrator, command: policyCommand(p)}
}

// policyCommand is the command that deletes an access policy, which is another one for each kind of subject. Users and access groups are given
// by name, which a policy does not say.
func policyCommand(p kinds.Policy) string {
	iamID := p.Who["iam_id"]
	who, command := strings.TrimPrefix(iamID, "iam-"), "service-policy-delete"
	switch {
	case strings.HasPrefix(who, "Profile-"):
		command = "trusted-profile-policy-delete"
	case iamID == "" && p.Who["access_group_id"] != "":
		who, command = "<name of access group "+p.Who["access_group_id"]+">", "access-group-policy-delete"
	case !strings.HasPrefix(who, "ServiceId-"):
		who, command = "<name of user "+iamID+">", "user-policy-delete"
	}
	return fmt.Sprintf("ibmcloud iam %s %s %s", command, who, answer.Text(p.ID))
}

// joinPrefixes is how a query records the names that it selects by.
func joinPrefixes(names []string) string { return strings.Join(names, "*,") + "*" }
