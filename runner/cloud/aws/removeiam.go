package aws

import (
	"context"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// nodeIdentities deletes the nodes' instance profiles and roles by their exact names. A profile may have lost its tags, so its name
// is proof enough; the installer creates a role with its tags in one call, so a role without them is not the installer's.
func (s *removal) nodeIdentities(ctx context.Context, infraID string) {
	for _, kind := range nodeKinds {
		s.instanceProfile(ctx, nodeProfile(infraID, kind))
	}
	for _, kind := range nodeKinds {
		if role, there := s.roleCalled(ctx, nodeRole(infraID, kind)); there {
			s.ownRole(ctx, role, nodeProfile(infraID, kind))
		}
	}
}

// role is a role with its tags, which lists do not contain.
type role struct {
	name string
	tags map[string]string
}

func (s *removal) roleCalled(ctx context.Context, name string) (found role, there bool) {
	out, err := s.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		s.AddError("read role "+name, err)
		return role{}, false
	}
	return role{name: name, tags: iamTags(out.Role.Tags)}, true
}

func iamTags(tags []types.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	return out
}

func (s *removal) instanceProfile(ctx context.Context, name string) {
	out, err := s.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &name})
	if err != nil {
		s.AddError("read instance profile "+name, err)
		return
	}
	if s.owner.claimOf(iamTags(out.InstanceProfile.Tags)) == anothers {
		s.Keep(cloud.KeptAnothers, name, "instance profile %s has another cluster's tag", name)
		return
	}
	for _, r := range out.InstanceProfile.Roles {
		_, err := s.iam.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &name, RoleName: r.RoleName})
		if s.NoteFailure(name, "remove role "+awssdk.ToString(r.RoleName)+" from instance profile "+name, err) {
			return
		}
	}
	_, err = s.iam.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: &name})
	s.NoteDeletion(name, "instance profile "+name, err)
}

// ownRole deletes a role with its policies if its tags say that it is this cluster's and nobody else uses it. The role's own profiles
// are deleted by then, but IAM may still list them for a while; AWS itself refuses if they exist.
func (s *removal) ownRole(ctx context.Context, role role, ownProfiles ...string) {
	switch s.owner.claimOf(role.tags) {
	case anothers:
		s.Keep(cloud.KeptAnothers, role.name, "role %s has another cluster's tag", role.name)
		return
	case unclaimed:
		s.Keep(cloud.KeptUntagged, role.name, "role %s has no tag of this cluster", role.name)
		return
	}
	p := iam.NewListInstanceProfilesForRolePaginator(s.iam, &iam.ListInstanceProfilesForRoleInput{RoleName: &role.name})
	profiles, err := collectPages(ctx, p, func(page *iam.ListInstanceProfilesForRoleOutput) []string {
		return convertEach(page.InstanceProfiles, func(p types.InstanceProfile) string { return awssdk.ToString(p.InstanceProfileName) })
	})
	if err != nil {
		s.AddError("list the instance profiles of role "+role.name, err)
		return
	}
	if profiles = slices.DeleteFunc(profiles, func(name string) bool { return slices.Contains(ownProfiles, name) }); len(profiles) > 0 {
		s.Keep(cloud.KeptInUse, role.name, "role %s is in use by the instance profiles %v", role.name, profiles)
		return
	}
	if !s.policiesOf(ctx, role.name) {
		return
	}
	_, err = s.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &role.name})
	s.NoteDeletion(role.name, "role "+role.name, err)
}

// policiesOf removes a role's policies; managed policies remain in the account. ok is false if one stayed: IAM then refuses to delete the role,
// and its words would hide why.
func (s *removal) policiesOf(ctx context.Context, role string) (ok bool) {
	inline, err := collectPages(ctx, iam.NewListRolePoliciesPaginator(s.iam, &iam.ListRolePoliciesInput{RoleName: &role}),
		func(page *iam.ListRolePoliciesOutput) []string { return page.PolicyNames })
	ok = !s.NoteFailure(role, "list the policies of role "+role, err)
	for _, name := range inline {
		_, err := s.iam.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: &role, PolicyName: &name})
		ok = !s.NoteFailure(role, "delete policy "+name+" of role "+role, err) && ok
	}
	managed, err := collectPages(ctx, iam.NewListAttachedRolePoliciesPaginator(s.iam, &iam.ListAttachedRolePoliciesInput{RoleName: &role}),
		func(page *iam.ListAttachedRolePoliciesOutput) []types.AttachedPolicy { return page.AttachedPolicies })
	ok = !s.NoteFailure(role, "list the managed policies of role "+role, err) && ok
	for _, policy := range managed {
		_, err := s.iam.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &role, PolicyArn: policy.PolicyArn})
		ok = !s.NoteFailure(role, "detach policy "+awssdk.ToString(policy.PolicyName)+" from role "+role, err) && ok
	}
	return ok
}

// removeProviders deletes ccoctl's identity provider by its exact host. ccoctl tags it in a second call, so an untagged one is deleted too;
// one with another cluster's tag is not.
func (s *removal) removeProviders(ctx context.Context, ccoName string) {
	arns, err := s.providersCalled(ctx, ccoName)
	s.AddError("look for the identity provider of "+ccoName, err)
	for _, arn := range arns {
		found, err := s.iam.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn})
		if err != nil {
			s.AddError("read identity provider "+arn, err)
			continue
		}
		if s.owner.claimOf(iamTags(found.Tags)) == anothers {
			s.Keep(cloud.KeptAnothers, arn, "identity provider %s has another cluster's tag", arn)
			continue
		}
		_, err = s.iam.DeleteOpenIDConnectProvider(ctx, &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn})
		s.NoteDeletion(arn, "identity provider "+arn, err)
	}
}

// ccoRoles deletes the roles named <name>-… that have ccoctl's tag with exactly that name. The name alone proves nothing: x-2 makes
// roles that begin with x- too.
func (s *removal) ccoRoles(ctx context.Context, ccoName string) {
	named, err := collectPages(ctx, iam.NewListRolesPaginator(s.iam, &iam.ListRolesInput{}), func(page *iam.ListRolesOutput) (names []string) {
		for _, r := range page.Roles {
			if name := awssdk.ToString(r.RoleName); strings.HasPrefix(name, ccoName+"-") {
				names = append(names, name)
			}
		}
		return names
	})
	s.AddError("look for the roles of "+ccoName, err)
	for _, name := range named {
		role, there := s.roleCalled(ctx, name)
		switch {
		case !there, s.owner.claimOf(role.tags) == anothers:
		case role.tags[tagkey.CloudCredential+ccoName] == tagkey.Owned:
			s.ownRole(ctx, role)
		case !slices.ContainsFunc(s.owner.ccoNames, func(other string) bool { return role.tags[tagkey.CloudCredential+other] == tagkey.Owned }):
			s.Keep(cloud.KeptUntagged, name, "role %s does not have the tag %s", name, tagkey.CloudCredential+ccoName)
		}
	}
}
