package count

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/IBM/platform-services-go-sdk/iamidentityv1"
	"github.com/IBM/platform-services-go-sdk/iampolicymanagementv1"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

const kindServiceID = "service-id"

// serviceIDs queries the service IDs that ccoctl made. The API finds whole names only, so all are listed.
func (c *Client) serviceIDs(account string, id identity) question {
	return question{
		service: "iam-identity", call: "ListServiceIds", region: global, asked: "account_id=" + account + "; name=" + prefixes(id.all()),
		ask: func(ctx context.Context) ([]thing, error) {
			api, err := c.identities()
			if err != nil {
				return nil, err
			}
			var found []thing
			err = answer.TokenPages(func(token *string) (*string, error) {
				page, response, err := api.ListServiceIdsWithContext(ctx, &iamidentityv1.ListServiceIdsOptions{AccountID: &account, Pagesize: answer.Hundred(), Pagetoken: token})
				switch {
				case err != nil:
					return nil, answer.Explain(response, err)
				case page == nil || page.Serviceids == nil:
					return nil, answer.ErrNoList
				}
				for _, s := range page.Serviceids {
					if id.named(answer.Text(s.Name)) {
						found = append(found, thing{
							kind: kindServiceID, id: answer.Text(s.ID), name: answer.Text(s.Name), iamID: answer.Text(s.IamID),
							free: "an IAM administrator of the account: ibmcloud iam service-id-delete " + answer.Text(s.ID),
						})
					}
				}
				return page.Next, nil
			})
			return found, err
		},
	}
}

// apiKeys queries the API keys of service IDs: by name, and by the service IDs that were found.
func (c *Client) apiKeys(account string, id identity, iamIDs []string) question {
	return question{
		service: "iam-identity", call: "ListAPIKeys", region: global, asked: "account_id=" + account + "; iam_id=" + strings.Join(iamIDs, ",") + "; name=" + prefixes(id.all()),
		ask: func(ctx context.Context) ([]thing, error) {
			api, err := c.identities()
			if err != nil {
				return nil, err
			}
			scope, kind := iamidentityv1.ListAPIKeysOptionsScopeAccountConst, iamidentityv1.ListAPIKeysOptionsTypeServiceidConst
			var found []thing
			err = answer.TokenPages(func(token *string) (*string, error) {
				page, response, err := api.ListAPIKeysWithContext(ctx, &iamidentityv1.ListAPIKeysOptions{
					AccountID: &account, Scope: &scope, Type: &kind, Pagesize: answer.Hundred(), Pagetoken: token})
				switch {
				case err != nil:
					return nil, answer.Explain(response, err)
				case page == nil || page.Apikeys == nil:
					return nil, answer.ErrNoList
				}
				for _, k := range page.Apikeys {
					if id.named(answer.Text(k.Name)) || slices.Contains(iamIDs, answer.Text(k.IamID)) {
						found = append(found, thing{
							kind: "api-key", id: answer.Text(k.ID), name: answer.Text(k.Name), iamID: answer.Text(k.IamID),
							free: fmt.Sprintf("an IAM administrator of the account: ibmcloud iam service-api-key-delete %s %s", answer.Text(k.ID), strings.TrimPrefix(answer.Text(k.IamID), "iam-")),
						})
					}
				}
				return page.Next, nil
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
		func(_ context.Context, p policy) (bool, error) {
			visible++
			return slices.Contains(of.iamIDs, p.subject["iam_id"]) || slices.Contains(of.instances, p.resource["serviceInstance"]) ||
				slices.Contains(of.groups, p.resource["resourceGroupId"]) || slices.Contains(of.groups, p.resource["resource"]), nil
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

// authorizations queries what services may do with the cluster's instances: the installer lets VPC images read its Object Storage. An
// instance that was not found is looked up, because the policy outlives it.
func (c *Client) authorizations(account string, id identity, of owners) question {
	known := map[string]bool{}
	return c.policiesOf("authorization", account, "instance="+strings.Join(of.instances, ",")+", or name="+strings.Join(id.infraIDs, "*,")+"*",
		func(ctx context.Context, p policy) (bool, error) {
			if slices.Contains(of.groups, p.resource["resourceGroupId"]) || slices.Contains(of.groups, p.subject["resourceGroupId"]) {
				return true, nil
			}
			instance := p.resource["serviceInstance"]
			if slices.Contains(of.instances, instance) {
				return true, nil
			}
			if instance == "" || p.resource["serviceName"] != "cloud-object-storage" {
				return false, nil
			}
			if ours, looked := known[instance]; looked {
				return ours, nil
			}
			found, err := c.getInstance(ctx, instance)
			if code := answer.StatusOf(nil, err); code == 401 || code == 403 {
				err = nil // an instance that we may not read is not one that we made
			}
			known[instance] = id.named(found.name)
			return known[instance], err
		})
}

// policy is the attributes of a policy, by key.
type policy struct {
	id                string
	subject, resource map[string]string
}

func (c *Client) policiesOf(kind, account, asked string, ours func(context.Context, policy) (bool, error)) question {
	return question{
		service: "iam-policy-management", call: "ListV2Policies", region: global, asked: "type=" + kind + "; " + asked,
		ask: func(ctx context.Context) ([]thing, error) {
			api, err := c.policies()
			if err != nil {
				return nil, err
			}
			p, err := api.NewV2PoliciesPager(&iampolicymanagementv1.ListV2PoliciesOptions{AccountID: &account, Type: &kind})
			var wrong error
			all, err := collect(ctx, p, err, func(p iampolicymanagementv1.V2PolicyTemplateMetaData) thing {
				read := readPolicy(p)
				left, err := ours(ctx, read)
				if err != nil && wrong == nil {
					wrong = fmt.Errorf("look up the instance of policy %s: %w", read.id, err)
				}
				if !left {
					return thing{}
				}
				return policyThing(kind, read)
			})
			if err == nil {
				err = wrong
			}
			return slices.DeleteFunc(all, func(t thing) bool { return t.kind == "" }), err
		},
	}
}

func readPolicy(p iampolicymanagementv1.V2PolicyTemplateMetaData) policy {
	read := policy{id: answer.Text(p.ID), subject: map[string]string{}, resource: map[string]string{}}
	if p.Subject != nil {
		for _, a := range p.Subject.Attributes {
			read.subject[answer.Text(a.Key)] = fmt.Sprint(a.Value)
		}
	}
	if p.Resource != nil {
		for _, a := range p.Resource.Attributes {
			read.resource[answer.Text(a.Key)] = fmt.Sprint(a.Value)
		}
	}
	return read
}

func policyThing(kind string, p policy) thing {
	if kind == "authorization" {
		return thing{kind: "authorization-policy", id: p.id, name: p.resource["serviceInstance"],
			free: "an IAM administrator of the account: ibmcloud iam authorization-policy-delete " + p.id}
	}
	return thing{kind: "access-policy", id: p.id, name: cmp.Or(p.subject["iam_id"], p.subject["access_group_id"]),
		free: "an IAM administrator of the account: " + policyCommand(p)}
}

// policyCommand is the command that deletes an access policy, which is another one for each kind of subject. Users and access groups are given
// by name, which a policy does not say.
func policyCommand(p policy) string {
	iamID := p.subject["iam_id"]
	who, command := strings.TrimPrefix(iamID, "iam-"), "service-policy-delete"
	switch {
	case strings.HasPrefix(who, "Profile-"):
		command = "trusted-profile-policy-delete"
	case iamID == "" && p.subject["access_group_id"] != "":
		who, command = "<name of access group "+p.subject["access_group_id"]+">", "access-group-policy-delete"
	case !strings.HasPrefix(who, "ServiceId-"):
		who, command = "<name of user "+iamID+">", "user-policy-delete"
	}
	return fmt.Sprintf("ibmcloud iam %s %s %s", command, who, p.id)
}

// prefixes is how a query records the names that it selects by.
func prefixes(names []string) string { return strings.Join(names, "*,") + "*" }
