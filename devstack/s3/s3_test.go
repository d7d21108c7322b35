package s3_test

import (
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/s3"
	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
)

func refused(t *testing.T, err error, code string) {
	t.Helper()
	var api smithy.APIError
	require.ErrorAs(t, err, &api)
	require.Equal(t, code, api.ErrorCode())
}

func TestServerKeepsObjectsAcrossARestart(t *testing.T) {
	before, err := os.Getwd()
	require.NoError(t, err)
	ctx := t.Context()
	cfg := s3.Config{Dir: t.TempDir(), AccessKey: s3test.AccessKey, SecretKey: s3test.SecretKey, Buckets: []string{"cluster-ops-artifacts"}}
	first, err := s3.Start(ctx, cfg)
	require.NoError(t, err)
	_, err = first.Client().PutObject(ctx, &awss3.PutObjectInput{Bucket: sdk.String("cluster-ops-artifacts"), Key: sdk.String("clusters/clu_1/manifest.json"), Body: strings.NewReader("{}"),
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256, Metadata: map[string]string{"infra": "demo-c9772"}})
	require.NoError(t, err)
	require.NoError(t, first.Stop())
	require.NoError(t, first.Stop(), "stopping twice is harmless")
	_, err = first.Client().ListBuckets(ctx, &awss3.ListBucketsInput{}, func(o *awss3.Options) { o.RetryMaxAttempts = 1 })
	require.ErrorContains(t, err, "connection refused")

	second, err := s3.Start(ctx, cfg)
	require.NoError(t, err)
	defer second.Stop()
	out, err := second.Client().GetObject(ctx, &awss3.GetObjectInput{Bucket: sdk.String("cluster-ops-artifacts"), Key: sdk.String("clusters/clu_1/manifest.json"), ChecksumMode: types.ChecksumModeEnabled})
	require.NoError(t, err)
	body, err := io.ReadAll(out.Body)
	require.NoError(t, err)
	require.Equal(t, "{}", string(body))
	require.Equal(t, "demo-c9772", out.Metadata["infra"])
	require.NotEmpty(t, *out.ChecksumSHA256)
	after, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, before, after, "the gateway's working directory is its own")
}

func TestConditionalWritesHaveOneWinner(t *testing.T) {
	bucket, c := s3test.Bucket(t), s3test.Shared(t).Client()
	put := func() error {
		_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: &bucket, Key: sdk.String("once"), Body: strings.NewReader("x"), IfNoneMatch: sdk.String("*")})
		return err
	}
	errs := make(chan error, 8)
	for range cap(errs) {
		go func() { errs <- put() }()
	}
	won := 0
	for range cap(errs) {
		err := <-errs
		if err == nil {
			won++
			continue
		}
		refused(t, err, "PreconditionFailed")
	}
	require.Equal(t, 1, won)
}

func TestWrongSecretIsRefused(t *testing.T) {
	s3test.Setenv(t)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "guessed")
	cfg, err := config.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	_, err = awss3.NewFromConfig(cfg, func(o *awss3.Options) { o.UsePathStyle = true }).ListBuckets(t.Context(), &awss3.ListBucketsInput{})
	refused(t, err, "SignatureDoesNotMatch")
}

func TestSharedServerGivesEveryTestItsOwnBucket(t *testing.T) {
	require.NotEqual(t, s3test.Bucket(t), s3test.Bucket(t))
	require.Same(t, s3test.Shared(t), s3test.Shared(t))
	s3test.Setenv(t)
	cfg, err := config.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	out, err := awss3.NewFromConfig(cfg, func(o *awss3.Options) { o.UsePathStyle = true }).ListBuckets(t.Context(), &awss3.ListBucketsInput{})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(out.Buckets), 2)
}

func TestStartTellsWhyItCannot(t *testing.T) {
	_, err := s3.Start(t.Context(), s3.Config{Dir: t.TempDir()})
	require.ErrorContains(t, err, "access key")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	_, err = s3.Start(t.Context(), s3.Config{Dir: t.TempDir(), Port: number, AccessKey: "a", SecretKey: "b"})
	require.ErrorContains(t, err, "address already in use")
}
