package aws

import (
	"context"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// LimitRoles tags the operators' roles with the cluster, its infraID and its domain, which the permissions boundary compares with the tags and the
// names of resources (deploy/terraform/policies/cluster-boundary.json): neither ccoctl nor the installer has an option for that. The nodes'
// roles get the same tags and the boundary itself. A role that ccoctl created has to exist; the nodes' roles need not.
func (c *Client) LimitRoles(ctx context.Context, t cloud.Target, roles []string, boundary string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	infraID, _ := t.NewestIdentity()
	if infraID == "" {
		return fmt.Errorf("no infraID of cluster %s is recorded", t.Cluster)
	}
	of := maps.Clone(t.Tags)
	if of == nil {
		of = map[string]string{}
	}
	of[tagkey.ClusterID], of[tagkey.InfraID], of[tagkey.Domain] = t.Cluster, infraID, t.Domain()
	tags := iamTagsOf(of)
	for _, name := range roles {
		if _, err := c.iam.TagRole(ctx, &iam.TagRoleInput{RoleName: &name, Tags: tags}); err != nil {
			return fmt.Errorf("tag role %s: %w", name, err)
		}
	}
	for _, kind := range nodeKinds {
		name := nodeRole(infraID, kind)
		_, err := c.iam.TagRole(ctx, &iam.TagRoleInput{RoleName: &name, Tags: tags})
		if isAbsent(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("tag role %s: %w", name, err)
		}
		if boundary == "" {
			continue
		}
		_, err = c.iam.PutRolePermissionsBoundary(ctx, &iam.PutRolePermissionsBoundaryInput{RoleName: &name, PermissionsBoundary: &boundary})
		if err != nil {
			return fmt.Errorf("limit role %s: %w", name, err)
		}
	}
	return nil
}
