package aws

import (
	"context"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// nodeIdentities deletes the nodes' instance profiles and roles by their exact names. A profile may have lost its tags
// and its name is proof enough; the installer makes a role with its tags in one call, so one without is not its own.
func (s *sweep) nodeIdentities(ctx context.Context, infraID string) {
	for _, kind := range iamRoleKinds {
		s.instanceProfile(ctx, profileName(infraID, kind))
	}
	for _, kind := range iamRoleKinds {
		role, err := s.role(ctx, roleName(infraID, kind))
		if err != nil {
			s.fail("look at role "+roleName(infraID, kind), err)
			continue
		}
		s.ownRole(ctx, role, profileName(infraID, kind))
	}
}

func (s *sweep) instanceProfile(ctx context.Context, name string) {
	out, err := s.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &name})
	if err != nil {
		s.fail("look at instance profile "+name, err)
		return
	}
	if s.id.whose(iamThing("instance-profile", name, out.InstanceProfile.Tags).tags) == anothers {
		s.refuse("instance profile %s carries another cluster's tag", name)
		return
	}
	for _, r := range out.InstanceProfile.Roles {
		_, err := s.iam.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &name, RoleName: r.RoleName})
		s.fail("take role "+awssdk.ToString(r.RoleName)+" out of instance profile "+name, err)
	}
	_, err = s.iam.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: &name})
	s.did("instance profile "+name, err)
}

// ownRole deletes a role with its policies when its tags say that it is this cluster's and nobody else uses it. The own
// profiles are gone by then, but IAM may list them for a while yet; AWS itself refuses if they are not.
func (s *sweep) ownRole(ctx context.Context, role thing, ownProfiles ...string) {
	switch s.id.whose(role.tags) {
	case anothers:
		s.refuse("role %s carries another cluster's tag", role.name)
		return
	case unmarked:
		s.refuse("role %s carries no tag of this cluster", role.name)
		return
	}
	p := iam.NewListInstanceProfilesForRolePaginator(s.iam, &iam.ListInstanceProfilesForRoleInput{RoleName: &role.name})
	profiles, err := collect(ctx, p, func(page *iam.ListInstanceProfilesForRoleOutput) []string {
		return each(page.InstanceProfiles, func(p types.InstanceProfile) string { return awssdk.ToString(p.InstanceProfileName) })
	})
	if err != nil {
		s.fail("look who uses role "+role.name, err)
		return
	}
	if profiles = slices.DeleteFunc(profiles, func(name string) bool { return slices.Contains(ownProfiles, name) }); len(profiles) > 0 {
		s.refuse("role %s is in use by the instance profiles %v", role.name, profiles)
		return
	}
	s.policiesOf(ctx, role.name)
	_, err = s.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &role.name})
	s.did("role "+role.name, err)
}

// policiesOf takes the policies off a role; the managed ones among them stay in the account.
func (s *sweep) policiesOf(ctx context.Context, role string) {
	inline, err := collect(ctx, iam.NewListRolePoliciesPaginator(s.iam, &iam.ListRolePoliciesInput{RoleName: &role}),
		func(page *iam.ListRolePoliciesOutput) []string { return page.PolicyNames })
	s.fail("list the policies of role "+role, err)
	for _, name := range inline {
		_, err := s.iam.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: &role, PolicyName: &name})
		s.fail("delete policy "+name+" of role "+role, err)
	}
	managed, err := collect(ctx, iam.NewListAttachedRolePoliciesPaginator(s.iam, &iam.ListAttachedRolePoliciesInput{RoleName: &role}),
		func(page *iam.ListAttachedRolePoliciesOutput) []types.AttachedPolicy { return page.AttachedPolicies })
	s.fail("list the managed policies of role "+role, err)
	for _, policy := range managed {
		_, err := s.iam.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &role, PolicyArn: policy.PolicyArn})
		s.fail("detach policy "+awssdk.ToString(policy.PolicyName)+" from role "+role, err)
	}
}

// providers deletes ccoctl's identity provider by its exact host. ccoctl tags it in a second call, so one without tags is
// deleted too; one with another's tag is not.
func (s *sweep) providers(ctx context.Context, ccoName string) {
	arns, err := s.providerARNs(ctx, ccoName)
	s.fail("look for the identity provider of "+ccoName, err)
	for _, arn := range arns {
		found, err := s.provider(ctx, arn)
		if err != nil {
			s.fail("look at identity provider "+arn, err)
			continue
		}
		if s.id.whose(found.tags) == anothers {
			s.refuse("identity provider %s carries another's tag", arn)
			continue
		}
		_, err = s.iam.DeleteOpenIDConnectProvider(ctx, &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn})
		s.did("identity provider "+arn, err)
	}
}

// ccoRoles deletes the roles that are called <name>-… and carry ccoctl's tag of exactly that name. The name alone proves
// nothing: x-2 makes roles that begin with x- too.
func (s *sweep) ccoRoles(ctx context.Context, ccoName string) {
	roles, err := s.rolesNamed(s.id, []string{ccoName + "-"}).ask(ctx)
	s.fail("look for the roles of "+ccoName, err)
	for _, role := range roles {
		if role.tags[ccoTag(ccoName)] != owned {
			if !slices.ContainsFunc(s.id.ccoNames, func(name string) bool { return role.tags[ccoTag(name)] == owned }) {
				s.refuse("role %s does not carry the tag %s", role.name, ccoTag(ccoName))
			}
			continue
		}
		s.ownRole(ctx, role)
	}
}
