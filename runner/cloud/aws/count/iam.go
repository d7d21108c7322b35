package count

import (
	"context"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// iamRoleKinds are the node kinds for which the installer creates a role and a profile.
var iamRoleKinds = []string{"master", "worker", "bootstrap"}

func roleName(infraID, kind string) string    { return infraID + "-" + kind + "-role" }
func profileName(infraID, kind string) string { return infraID + "-" + kind + "-profile" }

// iamOf queries the roles and profiles of one infraID by their exact names: the tagging API does not index profiles, and roles only
// partly.
func (c *Client) iamOf(infraID string) []question {
	var out []question
	for _, kind := range iamRoleKinds {
		out = append(out, c.roleByName(roleName(infraID, kind)), c.profileByName(profileName(infraID, kind)))
	}
	return out
}

func (c *Client) roleByName(name string) question {
	return byName("GetRole", name, func(ctx context.Context) (thing, error) { return c.role(ctx, name) })
}

func (c *Client) profileByName(name string) question {
	return byName("GetInstanceProfile", name, func(ctx context.Context) (thing, error) { return c.profile(ctx, name) })
}

func (c *Client) userByName(name string) question {
	return byName("GetUser", name, func(ctx context.Context) (thing, error) { return c.user(ctx, name) })
}

func (c *Client) providerByARN(arn string) question {
	return byName("GetOpenIDConnectProvider", arn, func(ctx context.Context) (thing, error) { return c.provider(ctx, arn) })
}

func byName(call, name string, get func(context.Context) (thing, error)) question {
	return question{
		service: "iam", call: call, region: globalRegion, asked: "name=" + name,
		ask: func(ctx context.Context) ([]thing, error) {
			found, err := get(ctx)
			if err != nil {
				return nil, err
			}
			return []thing{found}, nil
		},
	}
}

func (c *Client) role(ctx context.Context, name string) (thing, error) {
	out, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		return thing{}, err
	}
	return iamThing("role", name, out.Role.Tags), nil
}

func (c *Client) profile(ctx context.Context, name string) (thing, error) {
	out, err := c.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &name})
	if err != nil {
		return thing{}, err
	}
	return iamThing("instance-profile", name, out.InstanceProfile.Tags), nil
}

func (c *Client) user(ctx context.Context, name string) (thing, error) {
	out, err := c.iam.GetUser(ctx, &iam.GetUserInput{UserName: &name})
	if err != nil {
		return thing{}, err
	}
	return iamThing("user", name, out.User.Tags), nil
}

func (c *Client) provider(ctx context.Context, arn string) (thing, error) {
	out, err := c.iam.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn})
	if err != nil {
		return thing{}, err
	}
	return iamThing("oidc-provider", arn, out.Tags), nil
}

// rolesNamed lists the roles whose names begin with one of the prefixes and that do not have another cluster's tags: the installer
// makes three, ccoctl one per operator.
func (c *Client) rolesNamed(id identity, prefixes []string) question {
	return listed("ListRoles", prefixes, func(ctx context.Context) ([]thing, error) {
		p := iam.NewListRolesPaginator(c.iam, &iam.ListRolesInput{})
		names, err := collect(ctx, p, func(page *iam.ListRolesOutput) []string {
			return beginning(page.Roles, prefixes, func(r types.Role) string { return awssdk.ToString(r.RoleName) })
		})
		return c.confirmed(ctx, id, names, err, c.role)
	})
}

// profilesNamed lists instance profiles in the same way.
func (c *Client) profilesNamed(id identity, prefixes []string) question {
	return listed("ListInstanceProfiles", prefixes, func(ctx context.Context) ([]thing, error) {
		p := iam.NewListInstanceProfilesPaginator(c.iam, &iam.ListInstanceProfilesInput{})
		names, err := collect(ctx, p, func(page *iam.ListInstanceProfilesOutput) []string {
			return beginning(page.InstanceProfiles, prefixes, func(p types.InstanceProfile) string { return awssdk.ToString(p.InstanceProfileName) })
		})
		return c.confirmed(ctx, id, names, err, c.profile)
	})
}

// usersNamed lists users in the same way: Mint mode makes one per operator.
func (c *Client) usersNamed(id identity, prefixes []string) question {
	return listed("ListUsers", prefixes, func(ctx context.Context) ([]thing, error) {
		p := iam.NewListUsersPaginator(c.iam, &iam.ListUsersInput{})
		names, err := collect(ctx, p, func(page *iam.ListUsersOutput) []string {
			return beginning(page.Users, prefixes, func(u types.User) string { return awssdk.ToString(u.UserName) })
		})
		return c.confirmed(ctx, id, names, err, c.user)
	})
}

func listed(call string, prefixes []string, ask func(context.Context) ([]thing, error)) question {
	return question{service: "iam", call: call, region: globalRegion, asked: "name=" + strings.Join(prefixes, "*,") + "*", ask: ask}
}

// confirmed gets every listed name, because lists lag and contain no tags. A refusal fails the whole query.
func (c *Client) confirmed(ctx context.Context, id identity, names []string, err error, get func(context.Context, string) (thing, error)) ([]thing, error) {
	if err != nil {
		return nil, err
	}
	var out []thing
	for _, name := range names {
		found, err := get(ctx, name)
		switch {
		case err != nil && notFound(err):
		case err != nil:
			return nil, err
		case id.whose(found.tags) != anothers:
			out = append(out, found)
		}
	}
	return out, nil
}

func beginning[T any](items []T, prefixes []string, nameOf func(T) string) []string {
	return slices.DeleteFunc(each(items, nameOf), func(name string) bool { return !hasAnyPrefix(name, prefixes) })
}

// providersOf looks for ccoctl's identity provider, which is named after the URL of its bucket.
func (c *Client) providersOf(ccoName string) question {
	return question{
		service: "iam", call: "ListOpenIDConnectProviders", region: globalRegion, asked: "host=" + oidcBucket(ccoName) + ".s3.*",
		ask: func(ctx context.Context) ([]thing, error) {
			arns, err := c.providerARNs(ctx, ccoName)
			return each(arns, func(arn string) thing { return iamThing("oidc-provider", arn, nil) }), err
		},
	}
}

// providerARNs returns the providers whose host is ccoctl's bucket of this name, in any region: bucket names are global, so no other
// installation can have one.
func (c *Client) providerARNs(ctx context.Context, ccoName string) ([]string, error) {
	out, err := c.iam.ListOpenIDConnectProviders(ctx, &iam.ListOpenIDConnectProvidersInput{}) // this call has no pages
	if err != nil {
		return nil, err
	}
	var arns []string
	for _, p := range out.OpenIDConnectProviderList {
		_, host, _ := strings.Cut(awssdk.ToString(p.Arn), ":oidc-provider/")
		if strings.HasPrefix(host, oidcBucket(ccoName)+".s3.") {
			arns = append(arns, awssdk.ToString(p.Arn))
		}
	}
	return arns, nil
}

// iamThing says who can remove it: each of these refuses its deletion while something depends on it.
func iamThing(kind, name string, tags []types.Tag) thing {
	commands := map[string]string{
		"role":             "aws iam delete-role --role-name %[1]s (first remove what aws iam list-role-policies, list-attached-role-policies and list-instance-profiles-for-role --role-name %[1]s list)",
		"instance-profile": "aws iam delete-instance-profile --instance-profile-name %[1]s (first run aws iam remove-role-from-instance-profile for its role)",
		"user":             "aws iam delete-user --user-name %[1]s (first remove what aws iam list-access-keys and list-user-policies --user-name %[1]s list)",
		"oidc-provider":    "aws iam delete-open-id-connect-provider --open-id-connect-provider-arn %[1]s",
	}
	found := thing{kind: kind, id: name, name: name, tags: map[string]string{}, free: "an IAM administrator of the account: " + fmt.Sprintf(commands[kind], name)}
	for _, t := range tags {
		found.tags[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	return found
}
