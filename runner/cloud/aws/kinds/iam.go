package kinds

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// IAM is one kind of identity. All are global. Their lists contain no tags.
type IAM struct {
	Noun     string // as in an ARN, too
	GetCall  string
	ListCall string
	Delete   string // the command that deletes one, %[1]s its id, with what has to be removed before
	List     func(context.Context, *iam.Client, Take) error
	Get      func(ctx context.Context, api *iam.Client, id string) (Resource, error) // with its tags
}

// The kinds of identities. The id of a provider is its ARN, that of the others their name.
var (
	Role = IAM{"role", "GetRole", "ListRoles",
		"delete-role --role-name %[1]s (first remove what aws iam list-role-policies, list-attached-role-policies and list-instance-profiles-for-role --role-name %[1]s list)", listRoles, getRole}
	Profile = IAM{"instance-profile", "GetInstanceProfile", "ListInstanceProfiles",
		"delete-instance-profile --instance-profile-name %[1]s (first run aws iam remove-role-from-instance-profile for its role)", listProfiles, getProfile}
	User = IAM{"user", "GetUser", "ListUsers",
		"delete-user --user-name %[1]s (first remove what aws iam list-access-keys and list-user-policies --user-name %[1]s list)", listUsers, getUser}
	Provider = IAM{"oidc-provider", "GetOpenIDConnectProvider", "ListOpenIDConnectProviders",
		"delete-open-id-connect-provider --open-id-connect-provider-arn %[1]s", listProviders, getProvider}

	AllIAM = []IAM{Role, Profile, User, Provider}
)

// IAMTags converts the tags of an identity.
func IAMTags(tags []types.Tag) map[string]string {
	return TagsOf(tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value })
}

func newIdentity(name *string) Resource {
	return Resource{ID: awssdk.ToString(name), Name: awssdk.ToString(name)}
}

func listRoles(ctx context.Context, api *iam.Client, take Take) error {
	return EachPage(ctx, iam.NewListRolesPaginator(api, &iam.ListRolesInput{MaxItems: longPage}), func(page *iam.ListRolesOutput) error {
		return takeAll(take, page.Roles, func(r types.Role) Resource { return newIdentity(r.RoleName) })
	})
}

func getRole(ctx context.Context, api *iam.Client, name string) (Resource, error) {
	out, err := Once(ctx, api.GetRole, &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		return Resource{}, err
	}
	r := newIdentity(&name)
	r.Tags = IAMTags(out.Role.Tags)
	return r, nil
}

func listUsers(ctx context.Context, api *iam.Client, take Take) error {
	return EachPage(ctx, iam.NewListUsersPaginator(api, &iam.ListUsersInput{MaxItems: longPage}), func(page *iam.ListUsersOutput) error {
		return takeAll(take, page.Users, func(u types.User) Resource { return newIdentity(u.UserName) })
	})
}

func getUser(ctx context.Context, api *iam.Client, name string) (Resource, error) {
	out, err := Once(ctx, api.GetUser, &iam.GetUserInput{UserName: &name})
	if err != nil {
		return Resource{}, err
	}
	r := newIdentity(&name)
	r.Tags = IAMTags(out.User.Tags)
	return r, nil
}

// listProfiles gives the ARNs of a profile's roles as what it is a part of.
func listProfiles(ctx context.Context, api *iam.Client, take Take) error {
	return EachPage(ctx, iam.NewListInstanceProfilesPaginator(api, &iam.ListInstanceProfilesInput{MaxItems: longPage}), func(page *iam.ListInstanceProfilesOutput) error {
		return takeAll(take, page.InstanceProfiles, profileResource)
	})
}

func getProfile(ctx context.Context, api *iam.Client, name string) (Resource, error) {
	out, err := Once(ctx, api.GetInstanceProfile, &iam.GetInstanceProfileInput{InstanceProfileName: &name})
	if err != nil {
		return Resource{}, err
	}
	return profileResource(*out.InstanceProfile), nil
}

func profileResource(p types.InstanceProfile) Resource {
	r := newIdentity(p.InstanceProfileName)
	r.ARN, r.MadeAt, r.Tags = awssdk.ToString(p.Arn), p.CreateDate, IAMTags(p.Tags)
	for _, role := range p.Roles {
		r = r.addIn(role.Arn)
	}
	return r
}

func listProviders(ctx context.Context, api *iam.Client, take Take) error {
	out, err := Once(ctx, api.ListOpenIDConnectProviders, &iam.ListOpenIDConnectProvidersInput{}) // this call has no pages
	if err != nil {
		return err
	}
	return takeAll(take, out.OpenIDConnectProviderList, func(p types.OpenIDConnectProviderListEntry) Resource {
		return Resource{ID: awssdk.ToString(p.Arn), ARN: awssdk.ToString(p.Arn), Name: awssdk.ToString(p.Arn)}
	})
}

func getProvider(ctx context.Context, api *iam.Client, arn string) (Resource, error) {
	out, err := Once(ctx, api.GetOpenIDConnectProvider, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn})
	if err != nil {
		return Resource{}, err
	}
	return Resource{ID: arn, ARN: arn, Name: awssdk.ToString(out.Url), Tags: IAMTags(out.Tags), MadeAt: out.CreateDate}, nil
}
