package s3_test

import (
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws/session"
	"github.com/ocpctl/ocpctl/devstack/s3"
)

const everything = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`

func TestAKeyMayWhatItsPoliciesAllow(t *testing.T) {
	const butOne = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"},{"Effect":"Deny","Action":"s3:*","Resource":["arn:aws:s3:::state","arn:aws:s3:::state/*"]}]}`
	server, err := s3.Start(t.Context(), s3.Config{Dir: t.TempDir(), AccessKey: "AKIAROOT", SecretKey: "root-secret", Buckets: []string{"state"},
		Accounts: []s3.Account{{AccessKey: "AKIARUNNER", SecretKey: "runner-secret", ARN: "arn:aws:iam::1:user/runner", Policy: butOne}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	as := func(key, secret, token string) *awss3.Client {
		return awss3.New(awss3.Options{Region: "us-east-1", BaseEndpoint: sdk.String(server.URL()), UsePathStyle: true, RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider(key, secret, token)})
	}
	put := func(c *awss3.Client, bucket, key string) error {
		_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("x"), IfNoneMatch: sdk.String("*")})
		return err
	}
	get := func(c *awss3.Client, bucket, key string) error {
		_, err := c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: &bucket, Key: &key})
		return err
	}
	require.NoError(t, put(server.Client(), "state", "clusters/clu_2/secret"))

	runner := as("AKIARUNNER", "runner-secret", "")
	_, err = runner.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: sdk.String("bootstrap")})
	require.NoError(t, err)
	require.NoError(t, put(runner, "bootstrap", "ignition"))
	const overTLS = `{"Version":"2012-10-17","Statement":[{"Sid":"ForceSSLOnlyAccess","Effect":"Deny","Principal":{"AWS":["*"]},"Action":["s3:*"],"Resource":["arn:aws:s3:::bootstrap/*"],"Condition":{"Bool":{"aws:SecureTransport":false}}}]}`
	_, err = runner.PutBucketPolicy(t.Context(), &awss3.PutBucketPolicyInput{Bucket: sdk.String("bootstrap"), Policy: sdk.String(overTLS)})
	require.NoError(t, err)
	require.NoError(t, get(runner, "bootstrap", "ignition"), "TLS ends before the server")
	listed, err := runner.ListBuckets(t.Context(), &awss3.ListBucketsInput{})
	require.NoError(t, err)
	require.Len(t, listed.Buckets, 2, "a key sees all buckets of its AWS account, whoever made them")
	refused(t, get(runner, "state", "clusters/clu_2/secret"), "AccessDenied")
	refused(t, put(runner, "state", "x"), "AccessDenied")
	refused(t, get(as("AKIARUNNER", "guessed", ""), "bootstrap", "ignition"), "SignatureDoesNotMatch")

	const own = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject","s3:PutObject"],"Resource":"arn:aws:s3:::state/clusters/clu_1/*"}]}`
	s, token, err := session.New("root-secret", session.Session{ARN: "arn:aws:sts::1:assumed-role/runner/att_1", RolePolicy: everything, Policy: own, Expires: time.Now().Add(time.Hour)})
	require.NoError(t, err)
	temporary := as(s.AccessKey, s.SecretKey, token)
	require.NoError(t, put(temporary, "state", "clusters/clu_1/a"))
	refused(t, put(temporary, "state", "clusters/clu_1/a"), "PreconditionFailed")
	require.NoError(t, get(temporary, "state", "clusters/clu_1/a"))
	refused(t, get(temporary, "state", "clusters/clu_2/secret"), "AccessDenied")
	refused(t, get(temporary, "state", "clusters/clu_1/../clu_2/secret"), "AccessDenied")
	_, err = temporary.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: sdk.String("state"), Key: sdk.String("clusters/clu_1/a")})
	refused(t, err, "AccessDenied")
	_, err = temporary.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: sdk.String("state")})
	refused(t, err, "AccessDenied")
	_, err = temporary.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: sdk.String("state"), Key: sdk.String("clusters/clu_1/b"), CopySource: sdk.String("state/clusters/clu_2/secret")})
	refused(t, err, "AccessDenied")
	refused(t, get(as(s.AccessKey, s.SecretKey, token+"A"), "state", "clusters/clu_1/a"), "InvalidToken")

	over, token, err := session.New("root-secret", session.Session{RolePolicy: everything, Expires: time.Now().Add(-time.Second)})
	require.NoError(t, err)
	refused(t, get(as(over.AccessKey, over.SecretKey, token), "state", "clusters/clu_1/a"), "InvalidToken")
}
