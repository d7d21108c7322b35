package runner

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
)

// renewBefore is how long before their end the bucket's credentials are renewed. A runner that cannot reach the server stops when its
// lease ends and then stores state and spool, so it must still have valid credentials then.
const renewBefore = 30 * time.Minute

// bucketCredentials returns the server's credentials for this attempt's part of the bucket; nil if the server gives none, and the
// runner's own identity is used.
func (a *attempt) bucketCredentials() aws.CredentialsProvider {
	if !a.spec.BucketGrant {
		return nil
	}
	return aws.NewCredentialsCache(aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		given, err := a.api.bucketCredentials(ctx)
		if err != nil {
			return aws.Credentials{}, err
		}
		a.cfg.Redact.Add(secret.New(given.SecretAccessKey), secret.New(given.SessionToken))
		return aws.Credentials{
			AccessKeyID: given.AccessKeyID, SecretAccessKey: given.SecretAccessKey, SessionToken: given.SessionToken, CanExpire: true, Expires: given.ExpiresAt,
		}, nil
	}), func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = renewBefore })
}

// bucketCredentials asks once: callers that need the bucket retry themselves.
func (c *client) bucketCredentials(ctx context.Context) (contract.BucketCredentials, error) {
	var out contract.BucketCredentials
	return out, c.Once(ctx, "bucket-credentials", &out)
}
