package resources

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Delete removes what has the name's tag, in four parts. As in the real tool, a part stops at its first failure, reports it, and the
// next part goes on; it skips untagged resources. fatal says which error ends everything.
func (i *Identity) Delete(ctx context.Context, fatal func(error) bool) error {
	for _, part := range []func(context.Context) error{i.deleteObjects, i.deleteIdentityBucket, i.deleteRoles, i.deleteProvider} {
		if err := part(ctx); fatal(err) {
			return err
		} else if err != nil {
			i.Say("%s", err)
		}
	}
	return nil
}

func (i *Identity) deleteObjects(ctx context.Context) (err error) {
	defer must.Catch(&err)
	bucket := i.Bucket()
	list, err := i.s3.ListObjects(ctx, &s3.ListObjectsInput{Bucket: &bucket})
	must.Wrap(err, "failed to fetch list of Identity Provider objects in the bucket %s", bucket)
	for _, object := range list.Contents {
		key := aws.ToString(object.Key)
		tags, err := i.s3.GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: &bucket, Key: &key})
		must.Wrap(err, "failed to fetch tags of Identity Provider object %s in the bucket %s", key, bucket)
		for _, t := range tags.TagSet {
			if aws.ToString(t.Key) != i.Tag() {
				continue
			}
			must.Wrap(i.deleteObject(ctx, bucket, &key, nil), "failed to delete Identity Provider object %s in the bucket %s", key, bucket)
			i.Say("Identity Provider object %s deleted from the bucket %s", key, bucket)
		}
	}
	return nil
}

func (i *Identity) deleteIdentityBucket(ctx context.Context) error {
	bucket := i.Bucket()
	tags, err := i.s3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: &bucket})
	if err != nil {
		return fmt.Errorf("failed to fetch tags of the bucket %s: %w", bucket, err)
	}
	for _, t := range tags.TagSet {
		if aws.ToString(t.Key) != i.Tag() {
			continue
		}
		if _, err := i.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &bucket}); err != nil {
			return fmt.Errorf("failed to delete the Identity Provider bucket %s: %w", bucket, err)
		}
		i.Say("Identity Provider bucket %s deleted", bucket)
	}
	return nil
}

// deleteRoles reads every role of the account for its tags, and gives up at the first that it may not read.
func (i *Identity) deleteRoles(ctx context.Context) (err error) {
	defer must.Catch(&err)
	pages := iam.NewListRolesPaginator(i.iam, &iam.ListRolesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		must.Wrap(err, "failed to fetch a list of IAM roles")
		for _, role := range page.Roles {
			must.Do(i.deleteOurRole(ctx, aws.ToString(role.RoleName)))
		}
	}
	return nil
}

func (i *Identity) deleteOurRole(ctx context.Context, name string) (err error) {
	defer must.Catch(&err)
	out, err := i.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	must.Wrap(err, "failed to fetch IAM role %s", name)
	if !i.tagged(out.Role.Tags) {
		return nil
	}
	policies, err := i.iam.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: &name})
	must.Wrap(err, "failed to fetch a list of policies associated with IAM role %s", name)
	for _, policy := range policies.PolicyNames {
		_, err = i.iam.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: &name, PolicyName: &policy})
		must.Wrap(err, "failed to delete policy %s associated with IAM Role %s", policy, name)
		i.Say("Policy %s associated with IAM Role %s deleted", policy, name)
	}
	_, err = i.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &name})
	must.Wrap(err, "failed to delete IAM Role %s", name)
	i.Say("IAM Role %s deleted", name)
	return nil
}

func (i *Identity) deleteProvider(ctx context.Context) error {
	arn, err := i.provider(ctx)
	if err != nil || arn == "" {
		return err
	}
	if _, err := i.iam.DeleteOpenIDConnectProvider(ctx, &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn}); err != nil {
		return fmt.Errorf("failed to delete Identity Provider with ARN %s: %w", arn, err)
	}
	i.Say("Identity Provider with ARN %s deleted", arn)
	return nil
}
