package inventory

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// identities is the account's IAM. The lists of roles and users contain no tags; GetAccountAuthorizationDetails does, in the same
// number of calls.
type identities struct {
	api   *iam.Client
	emit  Emit
	roles map[string]bool // ARNs of the reported roles
}

// listIAM lists roles, users, instance profiles and OIDC providers.
func (c *Client) listIAM(ctx context.Context, emit Emit) error {
	i := &identities{api: iam.NewFromConfig(c.aws), emit: emit, roles: map[string]bool{}}
	all := listsOf(ctx)
	all.Run(i.rolesAndUsers)
	all.Run(i.profiles)
	all.Run(i.providers)
	return all.Err()
}

func iamTags(tags []types.Tag) map[string]string {
	return tagsOf(tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value })
}

// identityNamed reports that the installer, ccoctl or the credentials operator may have made a role or user of this name.
func identityNamed(name string) bool { return named(name) || operatorRole.MatchString(name) }

func (i *identities) rolesAndUsers(ctx context.Context) error {
	p := iam.NewGetAccountAuthorizationDetailsPaginator(i.api, &iam.GetAccountAuthorizationDetailsInput{
		Filter: []types.EntityType{types.EntityTypeRole, types.EntityTypeUser}, MaxItems: awssdk.Int32(longPage),
	})
	return eachPage(ctx, p, func(page *iam.GetAccountAuthorizationDetailsOutput) error {
		var seen []contract.SeenResource
		add := func(noun string, arn, name *string, tags []types.Tag, s contract.SeenResource) {
			s.ID, s.Type, s.Name, s.Tags = awssdk.ToString(arn), noun, awssdk.ToString(name), iamTags(tags)
			if tagged(s.Tags) || identityNamed(s.Name) {
				i.roles[s.ID] = noun == "role"
				seen = append(seen, s)
			}
		}
		for _, r := range page.RoleDetailList {
			add("role", r.Arn, r.RoleName, r.Tags, contract.SeenResource{MadeAt: made(r.CreateDate)})
		}
		for _, u := range page.UserDetailList {
			add("user", u.Arn, u.UserName, u.Tags, contract.SeenResource{MadeAt: made(u.CreateDate)})
		}
		return i.emit(seen)
	})
}

// profiles lists those that are named as the installer does, or whose role is reported. Only their tags are asked for: no list contains
// tags, and no index has those of profiles.
func (i *identities) profiles(ctx context.Context) error {
	p := iam.NewListInstanceProfilesPaginator(i.api, &iam.ListInstanceProfilesInput{MaxItems: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *iam.ListInstanceProfilesOutput) error {
		var seen []contract.SeenResource
		for _, profile := range page.InstanceProfiles {
			s := contract.SeenResource{
				ID: awssdk.ToString(profile.Arn), Type: "instance-profile", Name: awssdk.ToString(profile.InstanceProfileName), MadeAt: made(profile.CreateDate),
			}
			for _, r := range profile.Roles {
				if i.roles[awssdk.ToString(r.Arn)] {
					s.Within = awssdk.ToString(r.Arn)
				}
			}
			if !identityNamed(s.Name) && s.Within == "" {
				continue
			}
			found, err := once(ctx, i.api.GetInstanceProfile, &iam.GetInstanceProfileInput{InstanceProfileName: profile.InstanceProfileName})
			if err != nil && absent(err) {
				continue // the list lags
			}
			if err != nil {
				return err
			}
			s.Tags = iamTags(found.InstanceProfile.Tags)
			seen = append(seen, s)
		}
		return i.emit(seen)
	})
}

// providers asks for each: there are at most a hundred.
func (i *identities) providers(ctx context.Context) error {
	out, err := once(ctx, i.api.ListOpenIDConnectProviders, &iam.ListOpenIDConnectProvidersInput{}) // this call has no pages
	if err != nil {
		return err
	}
	var seen []contract.SeenResource
	for _, p := range out.OpenIDConnectProviderList {
		found, err := once(ctx, i.api.GetOpenIDConnectProvider, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: p.Arn})
		if err != nil && absent(err) {
			continue // the list lags
		}
		if err != nil {
			return err
		}
		s := contract.SeenResource{
			ID: awssdk.ToString(p.Arn), Type: "oidc-provider", Name: awssdk.ToString(found.Url), Tags: iamTags(found.Tags), MadeAt: made(found.CreateDate),
		}
		if tagged(s.Tags) || oidcProvider.MatchString(s.ID) {
			seen = append(seen, s)
		}
	}
	return i.emit(seen)
}
