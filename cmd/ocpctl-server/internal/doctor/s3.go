package doctor

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// bucket is the artifacts bucket, asked with one identity.
type bucket struct {
	name   string
	client *s3.Client
}

// openBucket returns the bucket for an identity; nil: the SDK's default chain.
func openBucket(ctx context.Context, name string, who aws.CredentialsProvider) (bucket, aws.Config, error) {
	loaded, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return bucket{}, loaded, err
	}
	return bucket{name, s3.NewFromConfig(loaded, func(o *s3.Options) {
		o.UsePathStyle = true // as internal/artifacts does
		o.DisableLogOutputChecksumValidationSkipped = true
		if who != nil {
			o.Credentials = who
		}
	})}, loaded, nil
}

// checkS3 checks the artifacts bucket: its settings, writes, and what a runner may do.
func (d *doctor) checkS3(ctx context.Context, f *findings) {
	b, loaded, err := openBucket(ctx, d.Settings.Artifacts.Bucket, nil)
	if err != nil {
		f.fail("bucket", "Correct the AWS settings of this process (AWS_… variables, shared files).", "%s", err)
		return
	}
	if !b.isReachable(ctx, f, loaded.Region) {
		return
	}
	b.checkVersioning(ctx, f)
	b.publicAccess(ctx, f)
	b.checkEncryption(ctx, f)
	b.checkLifecycle(ctx, f)
	d.ownWrites(ctx, f, b)
	d.runnerRole(ctx, f, b)
}

func (b bucket) isReachable(ctx context.Context, f *findings, region string) bool {
	got, err := b.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &b.name})
	switch code := codeOf(err); {
	case err == nil:
	case code == "NotFound", code == "NoSuchBucket":
		f.fail("bucket", "Create it, or correct artifacts.bucket.", "the bucket %s does not exist", b.name)
		return false
	case code == "Forbidden", code == "AccessDenied":
		f.fail("bucket", "Allow this identity s3:ListBucket on arn:aws:s3:::"+b.name+" and s3:GetObject on its objects.", "no access to the bucket %s", b.name)
		return false
	case code == "MovedPermanently", code == "PermanentRedirect":
		f.fail("bucket", "Set AWS_REGION to the bucket's region.", "the bucket %s is not in the region %s", b.name, region)
		return false
	default:
		f.fail("bucket", "Check that this machine reaches S3, and its credentials (aws sts get-caller-identity).", "%s", err)
		return false
	}
	if found := aws.ToString(got.BucketRegion); found != "" && found != region {
		f.fail("bucket", "Set AWS_REGION="+found+".", "the bucket %s is in %s, and this process uses %s", b.name, found, region)
		return true
	}
	f.ok("bucket", "%s is reachable in %s", b.name, region)
	return true
}

func (b bucket) checkVersioning(ctx context.Context, f *findings) {
	got, err := b.client.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &b.name})
	switch {
	case reportUnreadable(f, "versioning", "s3:GetBucketVersioning", err):
	case got.Status != types.BucketVersioningStatusEnabled:
		f.fail("versioning", "aws s3api put-bucket-versioning --bucket "+b.name+" --versioning-configuration Status=Enabled",
			"versioning is off: a deleted state cannot be recovered")
	default:
		f.ok("versioning", "versioning is on")
	}
}

func (b bucket) publicAccess(ctx context.Context, f *findings) {
	next := "aws s3api put-public-access-block --bucket " + b.name + " --public-access-block-configuration " +
		"BlockPublicAcls=true,IgnorePublicAcls=true,BlockPublicPolicy=true,RestrictPublicBuckets=true"
	got, err := b.client.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: &b.name})
	if codeOf(err) == "NoSuchPublicAccessBlockConfiguration" {
		f.fail("public-access", next, "public access is not blocked")
		return
	}
	if reportUnreadable(f, "public-access", "s3:GetBucketPublicAccessBlock", err) {
		return
	}
	var open []string
	if block := got.PublicAccessBlockConfiguration; block != nil {
		for _, one := range []struct {
			name string
			on   *bool
		}{
			{"BlockPublicAcls", block.BlockPublicAcls}, {"IgnorePublicAcls", block.IgnorePublicAcls},
			{"BlockPublicPolicy", block.BlockPublicPolicy}, {"RestrictPublicBuckets", block.RestrictPublicBuckets},
		} {
			if !aws.ToBool(one.on) {
				open = append(open, one.name)
			}
		}
	}
	if len(open) > 0 {
		f.fail("public-access", next, "public access is not blocked completely: %s off", joinWords(open))
		return
	}
	f.ok("public-access", "public access is blocked")
}

func (b bucket) checkEncryption(ctx context.Context, f *findings) {
	got, err := b.client.GetBucketEncryption(ctx, &s3.GetBucketEncryptionInput{Bucket: &b.name})
	if codeOf(err) == "ServerSideEncryptionConfigurationNotFoundError" {
		f.fail("encryption", "Set a default encryption: aws s3api put-bucket-encryption", "the bucket encrypts nothing by default")
		return
	}
	if reportUnreadable(f, "encryption", "s3:GetEncryptionConfiguration", err) {
		return
	}
	for _, rule := range got.ServerSideEncryptionConfiguration.Rules {
		if by := rule.ApplyServerSideEncryptionByDefault; by != nil {
			if key := aws.ToString(by.KMSMasterKeyID); key != "" {
				f.ok("encryption", "objects are encrypted with the key %s by default", key)
			} else {
				f.ok("encryption", "objects are encrypted by default (%s)", by.SSEAlgorithm)
			}
			return
		}
	}
	f.fail("encryption", "Set a default encryption: aws s3api put-bucket-encryption", "the bucket encrypts nothing by default")
}

// reportUnreadable reports a setting that could not be read. That is no failure: the server itself does not read it.
func reportUnreadable(f *findings, check, permission string, err error) bool {
	switch code := codeOf(err); {
	case err == nil:
		return false
	case code == "NotImplemented", code == "MethodNotAllowed":
		f.skip(check, "this S3 has no such setting (%s)", code)
	case code == "AccessDenied":
		f.skip(check, "this identity lacks %s; check the setting by hand", permission)
	default:
		f.fail(check, "Check that this machine reaches S3.", "%s", err)
	}
	return true
}

// codeOf returns the error code of an AWS service; empty: the error is not from one.
func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}
