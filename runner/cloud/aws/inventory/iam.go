package inventory

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
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
	all.Run(func(ctx context.Context) error {
		return i.listKind(ctx, kinds.Profile, func(r kinds.Resource) bool { return identityNamed(r.Name) || i.roleOf(r) != "" }, nil)
	})
	all.Run(func(ctx context.Context) error { // there are at most a hundred providers
		return i.listKind(ctx, kinds.Provider, nil, func(r kinds.Resource) bool { return isTagged(r.Tags) || oidcProvider.MatchString(r.ID) })
	})
	return all.Err()
}

// identityNamed reports that the installer, ccoctl or the credentials operator may have made a role or user of this name.
func identityNamed(name string) bool { return isNamed(name) || operatorRole.MatchString(name) }

func (i *identities) rolesAndUsers(ctx context.Context) error {
	p := iam.NewGetAccountAuthorizationDetailsPaginator(i.api, &iam.GetAccountAuthorizationDetailsInput{
		Filter: []types.EntityType{types.EntityTypeRole, types.EntityTypeUser}, MaxItems: awssdk.Int32(1000),
	})
	return kinds.EachPage(ctx, p, func(page *iam.GetAccountAuthorizationDetailsOutput) error {
		var seen []contract.SeenResource
		add := func(noun string, arn, name *string, tags []types.Tag, s contract.SeenResource) {
			s.ID, s.Type, s.Name, s.Tags = awssdk.ToString(arn), noun, awssdk.ToString(name), kinds.IAMTags(tags)
			if isTagged(s.Tags) || identityNamed(s.Name) {
				i.roles[s.ID] = noun == kinds.Role.Noun
				seen = append(seen, s)
			}
		}
		for _, r := range page.RoleDetailList {
			add(kinds.Role.Noun, r.Arn, r.RoleName, r.Tags, contract.SeenResource{MadeAt: awssdk.ToTime(r.CreateDate).UTC()})
		}
		for _, u := range page.UserDetailList {
			add(kinds.User.Noun, u.Arn, u.UserName, u.Tags, contract.SeenResource{MadeAt: awssdk.ToTime(u.CreateDate).UTC()})
		}
		return i.emit(seen)
	})
}

// roleOf returns the ARN of the reported role of a profile.
func (i *identities) roleOf(r kinds.Resource) (role string) {
	for _, arn := range r.In {
		if i.roles[arn] {
			role = arn
		}
	}
	return role
}

// listKind asks for the tags of what is likely a cluster's, judged by its list (nil: everything), and emits what still is with its tags (nil: all).
// No list contains tags, and no index has those of profiles.
func (i *identities) listKind(ctx context.Context, kind kinds.IAM, isLikely, isReported func(kinds.Resource) bool) error {
	return kind.List(ctx, i.api, func(page []kinds.Resource) error {
		var seen []contract.SeenResource
		for _, listed := range page {
			if isLikely != nil && !isLikely(listed) {
				continue
			}
			r, err := kind.Get(ctx, i.api, listed.ID)
			if err != nil && kinds.IsAbsent(err) {
				continue // the list lags
			}
			if err != nil {
				return err
			}
			if isReported == nil || isReported(r) {
				s := newSeenResource(kind.Noun, r.ARN, r)
				s.Within = i.roleOf(listed)
				seen = append(seen, s)
			}
		}
		return i.emit(seen)
	})
}
