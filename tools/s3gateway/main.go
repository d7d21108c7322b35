// Command s3gateway is the S3 of the demo and of the tests: versitygw, a real S3 server, with keys and sessions whose policies
// it enforces. It reads one line of JSON from standard input (an s3.Order) and serves until standard input ends, so that it
// never outlives the process that started it. It is a module of its own because a stand-in's dependencies are none of the
// product's.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"

	"github.com/ocpctl/ocpctl/devstack/s3"
)

// grace is what requests under way get when the server is told to stop.
const grace = 300 * time.Millisecond

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves until standard input ends. Signals that reach the whole process group, as Ctrl-C does, are the parent's to
// act upon: it may still have something to store.
func run() error {
	signal.Ignore(os.Interrupt, syscall.SIGHUP, syscall.SIGTERM)
	input := bufio.NewReader(os.Stdin)
	raw, err := input.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	var o s3.Order
	if err := json.Unmarshal(raw, &o); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	if o.Remove {
		defer os.RemoveAll(o.Dir) // a temporary directory that cannot be removed harms nobody
	}
	kept, err := store(o.Dir)
	if err != nil {
		return fmt.Errorf("open the buckets' directory: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	served := make(chan error, 1)
	go func() {
		served <- embedgw.RunVersityGW(ctx, secured{kept}, &embedgw.Config{
			RootUserAccess: o.AccessKey, RootUserSecret: o.SecretKey, IAMService: accounts{owner: o.AccessKey, list: o.Accounts, sessionKey: o.SecretKey}, Ports: []string{o.Addr}, HealthPath: o.Health, Region: o.Region,
			MaxConnections: 10_000, MaxRequests: 10_000, MultipartMaxParts: 10000, Quiet: true, KeepAlive: true,
			VirtualDomain: "s3.", // of any region: what stands before it in a host is the bucket
		})
	}()
	go func() {
		_, _ = io.Copy(io.Discard, input) // its end is the message
		cancel()
	}()
	select {
	case err := <-served:
		if ctx.Err() == nil {
			return fmt.Errorf("serve: %w", err)
		}
	case <-ctx.Done():
		// The gateway's own shutdown waits seconds for idle clients. What it answered is on disk: requests under way get
		// a moment, nobody else is waited for.
		select {
		case <-served:
		case <-time.After(grace):
		}
	}
	return nil
}

// store keeps objects as files and their metadata in extended attributes, or beside them where the file system has none. A
// bucket keeps old versions of its objects from when it is told to (PutBucketVersioning).
func store(dir string) (*posix.Posix, error) {
	buckets, versions, beside := filepath.Join(dir, "buckets"), filepath.Join(dir, "versions"), filepath.Join(dir, "metadata")
	for _, folder := range []string{buckets, versions} {
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return nil, err
		}
	}
	if attributes(dir) {
		return posix.New(buckets, meta.XattrMeta{}, posix.PosixOpts{VersioningDir: versions})
	}
	if err := os.MkdirAll(beside, 0o750); err != nil {
		return nil, err
	}
	sidecar, err := meta.NewSideCar(beside)
	if err != nil {
		return nil, err
	}
	return posix.New(buckets, sidecar, posix.PosixOpts{SideCarDir: beside, VersioningDir: versions})
}

// secured is a store whose requests came over TLS, which ends before this server.
type secured struct{ *posix.Posix }

// GetBucketPolicy leaves out the statements about requests without TLS.
func (s secured) GetBucketPolicy(ctx context.Context, bucket string) ([]byte, error) {
	raw, err := s.Posix.GetBucketPolicy(ctx, bucket)
	var policy struct {
		Version   string
		Statement []map[string]any
	}
	if err != nil || json.Unmarshal(raw, &policy) != nil {
		return raw, err // what cannot be read is refused where it is evaluated
	}
	policy.Statement = slices.DeleteFunc(policy.Statement, func(one map[string]any) bool {
		condition, _ := one["Condition"].(map[string]any)
		is, _ := condition["Bool"].(map[string]any)
		return fmt.Sprint(is["aws:SecureTransport"]) == "false"
	})
	return json.Marshal(policy)
}

// attributes says whether files in dir can have extended attributes, by giving one to a file.
func attributes(dir string) bool {
	f, err := os.CreateTemp(dir, ".probe-")
	if err != nil {
		return false
	}
	defer os.Remove(f.Name())
	defer f.Close()
	return meta.XattrMeta{}.StoreAttribute(f, "", "", "probe", []byte("1")) == nil
}
