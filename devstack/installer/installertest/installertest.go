// Package installertest gives tests a stand-in AWS, an S3 server and the stand-in installer as a program.
package installertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	s3sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/binaries"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/s3"
	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
)

// PullSecret is accepted by the installer, and occurs in no other file.
const PullSecret = `{"auths":{"registry.example.com":{"auth":"cHVsbC1tZTpzZWNyZXQ="}}}`

// World is one test's cloud.
type World struct {
	IBM    *ibmcloud.Server // only in a world of StartIBMCloud, which has nothing of AWS
	AWS    *aws.Server
	S3     *s3.Server
	Faults string // path of the file with the faults
	Binary string
}

var folder string

// Main runs a package's tests with a folder that has the programs.
func Main(m *testing.M) { os.Exit(binaries.With(m.Run, &folder, binaries.Tools...)) }

// Start starts an empty cloud for this test, and points the SDK's default chain to it.
func Start(t testing.TB) *World {
	t.Helper()
	return StartWithin(t, nil)
}

// StartWithin is Start with permissions boundaries that exist, by ARN.
func StartWithin(t testing.TB, boundaries map[string]string) *World {
	t.Helper()
	server, err := aws.Start(context.Background(), aws.Config{AccessKey: s3test.AccessKey, SecretKey: s3test.SecretKey, Settle: 10 * time.Millisecond, Buckets: s3test.Shared(t).URL(), TagBuckets: true, Boundaries: boundaries})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	w := &World{AWS: server, S3: s3test.Shared(t), Binary: filepath.Join(folder, "openshift-install"), Faults: filepath.Join(t.TempDir(), "faults.json")}
	s3test.Setenv(t)
	t.Setenv("AWS_ENDPOINT_URL", server.URL())
	t.Setenv(installer.AWSVariable, server.URL())
	w.emptyS3(t)
	return w
}

// emptyS3 deletes the buckets that the programs made in earlier tests: S3 is the process's, unlike the rest of the cloud.
func (w *World) emptyS3(t testing.TB) {
	t.Helper()
	client := w.S3.Client()
	buckets, err := client.ListBuckets(t.Context(), &s3sdk.ListBucketsInput{})
	require.NoError(t, err)
	for _, b := range buckets.Buckets {
		if strings.HasPrefix(*b.Name, s3test.Prefix) {
			continue
		}
		objects := s3sdk.NewListObjectsV2Paginator(client, &s3sdk.ListObjectsV2Input{Bucket: b.Name})
		for objects.HasMorePages() {
			page, err := objects.NextPage(t.Context())
			require.NoError(t, err)
			for _, o := range page.Contents {
				_, err := client.DeleteObject(t.Context(), &s3sdk.DeleteObjectInput{Bucket: b.Name, Key: o.Key})
				require.NoError(t, err)
			}
		}
		_, err := client.DeleteBucket(t.Context(), &s3sdk.DeleteBucketInput{Bucket: b.Name})
		require.NoError(t, err)
	}
}

// InstallConfig returns a small cluster's install-config, with Mint credentials and the given number of workers.
func InstallConfig(name, region string, workers int) string {
	return fmt.Sprintf(`apiVersion: v1
baseDomain: labs.example.com
metadata:
  name: %s
credentialsMode: Mint
controlPlane:
  name: master
  replicas: 3
  platform: {aws: {type: m6i.xlarge, zones: [%sa]}}
compute:
- name: worker
  replicas: %d
  platform: {aws: {type: m6i.large, zones: [%sa]}}
platform:
  aws:
    region: %s
    lbType: NLB
    propagateUserTags: true
    userTags: {ClusterId: clu_%s, ManagedBy: cluster-control-plane}
publish: External
pullSecret: '%s'
sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKP7vVURcuRhHiWITRQplXKSZbgoSBWpCsPVQZRc557B
`, name, region, workers, region, region, name, PullSecret)
}

// Dir creates an install directory with an install-config.
func Dir(t testing.TB, config string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "install")
	require.NoError(t, os.MkdirAll(dir, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "install-config.yaml"), []byte(config), 0o600))
	return dir
}

// Result is how a call of the program ended.
type Result struct {
	Code           int // -1: killed
	Stdout, Stderr string
}

// Command prepares a call of the program. TMPDIR is the test's own.
func (w *World) Command(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(w.Binary, append(args, "--dir", dir)...)
	cmd.Env = w.env(t)
	return cmd
}

func (w *World) env(t testing.TB) []string {
	t.Helper()
	return append(os.Environ(), "OCPCTL_STANDIN_PACE=5ms", "OCPCTL_STANDIN_FAULTS="+w.Faults, "TMPDIR="+t.TempDir())
}

// Tool calls a program beside the installer, "ccoctl" or "oc", in a working directory.
func (w *World) Tool(t testing.TB, name, dir string, args ...string) Result {
	t.Helper()
	return w.ended(t, w.tool(t, name, dir, args))
}

// Feed is Tool with input.
func (w *World) Feed(t testing.TB, name, dir, input string, args ...string) Result {
	t.Helper()
	cmd := w.tool(t, name, dir, args)
	cmd.Stdin = strings.NewReader(input)
	return w.ended(t, cmd)
}

// tool prepares a call of a program. As from a runner, oc gets no variable of a cloud.
func (w *World) tool(t testing.TB, name, dir string, args []string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(filepath.Join(filepath.Dir(w.Binary), name), args...)
	cmd.Dir, cmd.Env = dir, w.env(t)
	if name == "oc" {
		cmd.Env = slices.DeleteFunc(cmd.Env, func(pair string) bool {
			return strings.HasPrefix(pair, "AWS_") || strings.HasPrefix(pair, "IBMCLOUD_") || strings.HasPrefix(pair, "IC_API_KEY=")
		})
	}
	return cmd
}

// Run calls the program with a command line like "create cluster" and waits until it ends.
func (w *World) Run(t testing.TB, dir, command string, flags ...string) Result {
	t.Helper()
	return w.ended(t, w.Command(t, dir, append(strings.Fields(command), flags...)...))
}

// ended runs a program with the world's faults and waits until it ends.
func (w *World) ended(t testing.TB, cmd *exec.Cmd) Result {
	t.Helper()
	if cmd.Env == nil {
		cmd.Env = w.env(t)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	guard := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // a destroy may loop for ever
	defer guard.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return Result{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

// Must is Run for a call that has to succeed.
func (w *World) Must(t testing.TB, dir, command string, flags ...string) Result {
	t.Helper()
	r := w.Run(t, dir, command, flags...)
	require.Zero(t, r.Code, r.Stderr)
	return r
}

// Left returns everything that mentions one of the texts, from the stand-ins' own state: "vpc vpc-0a… demo-x1y2z-vpc".
func (w *World) Left(t testing.TB, texts ...string) []string {
	t.Helper()
	var left []string
	if w.IBM != nil {
		return w.leftOnIBMCloud(texts)
	}
	buckets, err := w.S3.Client().ListBuckets(context.Background(), &s3sdk.ListBucketsInput{})
	require.NoError(t, err)
	for _, text := range texts {
		for _, r := range w.AWS.Resources(text) {
			left = append(left, r.Type+" "+r.ID+" "+r.Name)
		}
		for _, b := range buckets.Buckets {
			if name := awssdk.ToString(b.Name); strings.Contains(name, text) {
				left = append(left, "bucket "+name)
			}
		}
	}
	return left
}
