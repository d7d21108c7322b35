package aws

import (
	"context"
	"fmt"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// iamRoleKinds are the node kinds the installer makes a role and a profile for.
var iamRoleKinds = []string{"master", "worker", "bootstrap"}

// iamOf asks for the roles and profiles of one infraID by their exact names: the tagging API does not index profiles,
// and roles only in part.
func (c *Client) iamOf(infraID string) []question {
	var out []question
	for _, kind := range iamRoleKinds {
		out = append(out, c.roleByName(infraID+"-"+kind+"-role"), c.profileByName(infraID+"-"+kind+"-profile"))
	}
	return out
}

func (c *Client) roleByName(name string) question {
	return question{
		service: "iam", call: "GetRole", region: globalRegion, asked: "name=" + name,
		ask: func(ctx context.Context) ([]thing, error) {
			if _, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &name}); err != nil {
				return nil, err
			}
			return []thing{iamThing("role", name)}, nil
		},
	}
}

func (c *Client) profileByName(name string) question {
	return question{
		service: "iam", call: "GetInstanceProfile", region: globalRegion, asked: "name=" + name,
		ask: func(ctx context.Context) ([]thing, error) {
			if _, err := c.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &name}); err != nil {
				return nil, err
			}
			return []thing{iamThing("instance-profile", name)}, nil
		},
	}
}

func (c *Client) userByName(name string) question {
	return question{
		service: "iam", call: "GetUser", region: globalRegion, asked: "name=" + name,
		ask: func(ctx context.Context) ([]thing, error) {
			if _, err := c.iam.GetUser(ctx, &iam.GetUserInput{UserName: &name}); err != nil {
				return nil, err
			}
			return []thing{iamThing("user", name)}, nil
		},
	}
}

// usersNamed lists the users whose names begin with one of the prefixes: Mint mode makes one per operator.
func (c *Client) usersNamed(prefixes []string) question {
	return question{
		service: "iam", call: "ListUsers", region: globalRegion, asked: "name=" + strings.Join(prefixes, "*,") + "*",
		ask: func(ctx context.Context) ([]thing, error) {
			p := iam.NewListUsersPaginator(c.iam, &iam.ListUsersInput{})
			return collect(ctx, p, func(page *iam.ListUsersOutput) []thing {
				return named(page.Users, "user", prefixes, func(u types.User) string { return awssdk.ToString(u.UserName) })
			})
		},
	}
}

// rolesNamed lists the roles whose names begin with one of the prefixes: ccoctl makes one per operator.
func (c *Client) rolesNamed(prefixes []string) question {
	return question{
		service: "iam", call: "ListRoles", region: globalRegion, asked: "name=" + strings.Join(prefixes, "*,") + "*",
		ask: func(ctx context.Context) ([]thing, error) {
			p := iam.NewListRolesPaginator(c.iam, &iam.ListRolesInput{})
			return collect(ctx, p, func(page *iam.ListRolesOutput) []thing {
				return named(page.Roles, "role", prefixes, func(r types.Role) string { return awssdk.ToString(r.RoleName) })
			})
		},
	}
}

// oidcProvider looks for ccoctl's identity provider, whose ARN ends with the name of its bucket.
func (c *Client) oidcProvider(ccoName string) question {
	return question{
		service: "iam", call: "ListOpenIDConnectProviders", region: globalRegion, asked: "name=*" + ccoName + "-oidc*",
		ask: func(ctx context.Context) ([]thing, error) {
			out, err := c.iam.ListOpenIDConnectProviders(ctx, &iam.ListOpenIDConnectProvidersInput{}) // has no pages
			if err != nil {
				return nil, err
			}
			var things []thing
			for _, p := range out.OpenIDConnectProviderList {
				if arn := awssdk.ToString(p.Arn); strings.Contains(arn, "/"+ccoName+"-oidc") {
					things = append(things, iamThing("oidc-provider", arn))
				}
			}
			return things, nil
		},
	}
}

func named[T any](items []T, kind string, prefixes []string, nameOf func(T) string) []thing {
	var out []thing
	for _, item := range items {
		if name := nameOf(item); hasAnyPrefix(name, prefixes) {
			out = append(out, iamThing(kind, name))
		}
	}
	return out
}

func iamThing(kind, name string) thing {
	command := map[string]string{
		"role":             "delete-role --role-name (its policies and profiles first)",
		"instance-profile": "delete-instance-profile --instance-profile-name (its role first)",
		"user":             "delete-user --user-name (its access keys and policies first)",
		"oidc-provider":    "delete-open-id-connect-provider --open-id-connect-provider-arn",
	}[kind]
	return thing{kind: kind, id: name, name: name, free: fmt.Sprintf("an IAM administrator of the account: aws iam %s, for %s", command, name)}
}
