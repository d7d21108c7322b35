// Package s3test gives tests the stack's S3: one server for all tests of a package, a bucket for each test.
package s3test

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/s3"
)

// The keys of every server that this package starts.
const (
	AccessKey = "AKIADEMO0000EXAMPLE1"
	SecretKey = "demo-secret-access-key"
)

// shared is the process's server. It is never stopped: its child ends with the process and deletes its directory.
var shared = sync.OnceValues(func() (*s3.Server, error) {
	dir, err := os.MkdirTemp("", "ocpctl-s3-")
	if err != nil {
		return nil, err
	}
	return s3.Start(context.Background(), s3.Config{Dir: dir, AccessKey: AccessKey, SecretKey: SecretKey, Remove: true})
})

// Shared returns the server that all tests of this process use. A test that wants to break one starts its own with s3.Start.
func Shared(t testing.TB) *s3.Server {
	t.Helper()
	s, err := shared()
	require.NoError(t, err)
	return s
}

// Prefix begins the names of the buckets that tests make for themselves.
const Prefix = "test-"

// Bucket creates an empty bucket on the shared server and returns its name.
func Bucket(t testing.TB) string {
	t.Helper()
	name := Prefix + strings.ToLower(rand.Text())
	require.NoError(t, Shared(t).CreateBucket(t.Context(), name))
	return name
}

// Setenv points the SDK's default chain to the shared server for the duration of the test.
func Setenv(t testing.TB) {
	t.Helper()
	for name, value := range map[string]string{"AWS_ENDPOINT_URL_S3": Shared(t).URL(), "AWS_ACCESS_KEY_ID": AccessKey, "AWS_SECRET_ACCESS_KEY": SecretKey,
		"AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"} {
		t.Setenv(name, value)
	}
}
