package artifacts_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"

	"github.com/ocpctl/ocpctl/store/artifacts"
)

// TestMain starts one real S3 server for the whole package: the gateway keeps its state in package variables.
func TestMain(m *testing.M) { os.Exit(withS3(m)) }

func withS3(m *testing.M) int {
	dir, err := os.MkdirTemp("", "artifacts-s3-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	endpoint, err := serveS3(dir)
	if err != nil {
		panic(err)
	}
	for key, value := range map[string]string{
		"AWS_ENDPOINT_URL_S3": endpoint, "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID": "AKIATESTEXAMPLE00001", "AWS_SECRET_ACCESS_KEY": "test-secret-access-key",
	} {
		os.Setenv(key, value)
	}
	return m.Run()
}

func serveS3(dir string) (endpoint string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address := listener.Addr().String()
	listener.Close()
	root, side := filepath.Join(dir, "data"), filepath.Join(dir, "meta")
	for _, each := range []string{root, side} {
		if err := os.Mkdir(each, 0o750); err != nil {
			return "", err
		}
	}
	sidecar, err := meta.NewSideCar(side)
	if err != nil {
		return "", err
	}
	backend, err := posix.New(root, sidecar, posix.PosixOpts{SideCarDir: side})
	if err != nil {
		return "", err
	}
	go embedgw.RunVersityGW(context.Background(), backend, &embedgw.Config{ // ends with the test binary
		RootUserAccess: "AKIATESTEXAMPLE00001", RootUserSecret: "test-secret-access-key", Ports: []string{address},
		MaxConnections: 100, MaxRequests: 100, MultipartMaxParts: 10000, Quiet: true, KeepAlive: true,
	})
	for range 500 {
		if resp, err := http.Get("http://" + address); err == nil {
			resp.Body.Close()
			return "http://" + address, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "", fmt.Errorf("no S3 at %s", address)
}

// newStore returns a store on a bucket of its own.
func newStore(t testing.TB, change ...func(*artifacts.Config)) (*artifacts.Store, *s3.Client, string) {
	t.Helper()
	cfg, err := config.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	bucket := fmt.Sprintf("b%d", time.Now().UnixNano())
	_, err = client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket})
	require.NoError(t, err)
	settings := artifacts.Config{Bucket: bucket, TempDir: t.TempDir()}
	for _, f := range change {
		f(&settings)
	}
	s, err := artifacts.New(t.Context(), settings)
	require.NoError(t, err)
	return s, client, bucket
}
