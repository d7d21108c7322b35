package resources

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Identity is what ccoctl creates for one cluster's operators: a bucket with the cluster's public keys, the account's identity
// provider that trusts it, and a role per operator. All have the name's tag; openshift-install knows none of them.
type Identity struct {
	*Cloud
	Name string
	Say  func(format string, args ...any)
}

// Bucket is the name of the bucket.
func (i *Identity) Bucket() string { return i.Name + "-oidc" }

// Issuer is the issuer of the operators' tokens.
func (i *Identity) Issuer() string {
	return fmt.Sprintf("https://%s.s3.%s.amazonaws.com", i.Bucket(), i.Region)
}

// Tag is the tag key of everything with this name.
func (i *Identity) Tag() string { return "openshift.io/cloud-credential-operator/" + i.Name }

func (i *Identity) iamTags() []iamtypes.Tag {
	return []iamtypes.Tag{{Key: aws.String(i.Tag()), Value: aws.String("owned")}, {Key: aws.String("Name"), Value: aws.String(i.Name)}}
}

// CreateBucket creates the bucket and makes it public. Its tags are a second call. The real tool also removes the block on public
// access, which the stand-in S3 does not have.
func (i *Identity) CreateBucket(ctx context.Context) (err error) {
	defer must.Catch(&err)
	bucket := i.Bucket()
	_, err = i.s3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &bucket})
	var ours *s3types.BucketAlreadyOwnedByYou
	if errors.As(err, &ours) {
		i.Say("Bucket %s already exists and is owned by the user", bucket)
		return nil
	}
	must.Wrap(err, "failed to create a bucket to store OpenID Connect configuration")
	i.Say("Bucket %s created", bucket)
	_, err = i.s3.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: &bucket, Tagging: &s3types.Tagging{TagSet: []s3types.Tag{
		{Key: aws.String(i.Tag()), Value: aws.String("owned")}, {Key: aws.String("Name"), Value: aws.String(i.Name)},
	}}})
	must.Wrap(err, "failed to tag the bucket %s", bucket)
	_, err = i.s3.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: &bucket, Policy: aws.String(fmt.Sprintf(
		`{"Version":"2012-10-17","Statement":[{"Sid":"AllowReadPublicAccess","Principal":"*","Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::%s/*"]}]}`, bucket))})
	must.Wrap(err, "failed to apply public access policy to the bucket %s", bucket)
	return nil
}

// Put stores a document and its tags in one call; says is its name in the log.
func (i *Identity) Put(ctx context.Context, key, says, document string) error {
	bucket := i.Bucket()
	_, err := i.s3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &bucket, Key: &key, Body: strings.NewReader(document), Tagging: aws.String(url.QueryEscape(i.Tag()) + "=owned&Name=" + url.QueryEscape(i.Name)),
	})
	if err != nil {
		return fmt.Errorf("failed to upload %s in the S3 bucket %s: %w", says, bucket, err)
	}
	i.Say("%s in the S3 bucket %s at %s updated", says, bucket, key)
	return nil
}

// CreateProvider creates the identity provider, or uses an existing one. Its tags are a second call.
func (i *Identity) CreateProvider(ctx context.Context) (arn string, err error) {
	defer must.Catch(&err)
	arn = must.Get(i.provider(ctx))
	if arn != "" {
		i.Say("Existing Identity Provider found with ARN: %s", arn)
		return arn, nil
	}
	out, err := i.iam.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{
		Url: aws.String(i.Issuer()), ClientIDList: []string{"openshift", "sts.amazonaws.com"}, ThumbprintList: []string{strings.Repeat("A9", 20)},
	})
	must.Wrap(err, "failed to create Identity Provider")
	arn = aws.ToString(out.OpenIDConnectProviderArn)
	_, err = i.iam.TagOpenIDConnectProvider(ctx, &iam.TagOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn, Tags: i.iamTags()})
	must.Wrap(err, "failed to tag the identity provider with arn: %s", arn)
	i.Say("Identity Provider created with ARN: %s", arn)
	return arn, nil
}

// provider finds the account's identity provider with this name's tag; "": none. It reads every provider of the account.
func (i *Identity) provider(ctx context.Context) (arn string, err error) {
	defer must.Catch(&err)
	list, err := i.iam.ListOpenIDConnectProviders(ctx, &iam.ListOpenIDConnectProvidersInput{})
	must.Wrap(err, "failed to fetch list of Identity Providers")
	for _, entry := range list.OpenIDConnectProviderList {
		out, err := i.iam.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: entry.Arn})
		must.Wrap(err, "failed to check existing Identity Provider %s", aws.ToString(entry.Arn))
		if i.tagged(out.Tags) {
			return aws.ToString(entry.Arn), nil
		}
	}
	return "", nil
}

func (i *Identity) tagged(tags []iamtypes.Tag) bool {
	return slices.ContainsFunc(tags, func(t iamtypes.Tag) bool { return aws.ToString(t.Key) == i.Tag() })
}

// Access is one operator's role.
type Access struct {
	Namespace, Secret string
	ServiceAccounts   []string
	Policy            string
	Boundary          string // ARN; empty: none
}

// CreateRole creates an operator's role, or uses an existing one, and sets its policy.
func (i *Identity) CreateRole(ctx context.Context, provider string, a Access) (arn string, err error) {
	name := fmt.Sprintf("%.64s", i.Name+"-"+a.Namespace+"-"+a.Secret)
	found, err := i.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	switch {
	case err == nil:
		arn = aws.ToString(found.Role.Arn)
		i.Say("Existing role %s found", arn)
	case !missing(err):
		return "", err
	default:
		if arn, err = i.newRole(ctx, name, provider, a); err != nil {
			return "", err
		}
	}
	if _, err := i.iam.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &name, PolicyName: &name, PolicyDocument: &a.Policy}); err != nil {
		return "", fmt.Errorf("failed to put role policy: %w", err)
	}
	i.Say("Updated Role policy for Role %s", name)
	return arn, nil
}

func (i *Identity) newRole(ctx context.Context, name, provider string, a Access) (arn string, err error) {
	subjects := make([]string, len(a.ServiceAccounts))
	for n, account := range a.ServiceAccounts {
		subjects[n] = fmt.Sprintf("%q", "system:serviceaccount:"+a.Namespace+":"+account)
	}
	trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":%q},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"%s:sub":[%s]}}}]}`,
		provider, strings.TrimPrefix(i.Issuer(), "https://"), strings.Join(subjects, ","))
	in := &iam.CreateRoleInput{
		RoleName: &name, AssumeRolePolicyDocument: &trust, Tags: i.iamTags(), Description: aws.String("OpenShift role for " + a.Namespace + "/" + a.Secret),
	}
	if a.Boundary != "" {
		in.PermissionsBoundary = &a.Boundary
	}
	out, err := i.iam.CreateRole(ctx, in)
	if err != nil {
		return "", fmt.Errorf("failed to create role: %w", err)
	}
	i.Say("Role %s created", aws.ToString(out.Role.Arn))
	return aws.ToString(out.Role.Arn), nil
}

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
