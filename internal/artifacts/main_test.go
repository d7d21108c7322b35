package artifacts_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/artifacts"
)

// newStore returns a store on a bucket of its own, and a plain client to look behind its back with.
func newStore(t testing.TB, change ...func(*artifacts.Config)) (*artifacts.Store, *s3.Client, string) {
	t.Helper()
	s3test.Setenv(t)
	cfg, err := config.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	settings := artifacts.Config{Bucket: s3test.Bucket(t), TempDir: t.TempDir()}
	for _, f := range change {
		f(&settings)
	}
	s, err := artifacts.New(t.Context(), settings)
	require.NoError(t, err)
	return s, client, settings.Bucket
}
