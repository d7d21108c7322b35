// Package s3 starts the S3 server of the demo and the tests: the program s3gateway, a real S3 server in a module of its own
// (tools/s3gateway). It ends when its standard input closes, so it never outlives the process that started it. ocpctl-server never
// imports this package.
package s3

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/tool"
)

const (
	startTimeout = 20 * time.Second
	stopTimeout  = 5 * time.Second
	probeTimeout = 500 * time.Millisecond
	portTries    = 5
)

// Config configures the server. Dir, AccessKey and SecretKey are required.
type Config struct {
	Program   string    // path of s3gateway; empty: found by Gateway
	Dir       string    // contains the buckets; created if missing
	Port      int       // on 127.0.0.1; 0: a free one
	AccessKey string    // may do everything
	SecretKey string    // also the key of the stand-in STS, whose sessions this server accepts
	Accounts  []Account // other keys
	Buckets   []string  // created if missing
	Region    string    // us-east-1; S3 accepts only signatures for its own region
	Remove    bool      // delete the directory with the server
}

// Account is a permanent key with its permissions.
type Account struct {
	AccessKey, SecretKey string
	ARN                  string
	Policy               string // JSON
}

// Order is the line that the gateway reads from its standard input. It is neither an argument nor an environment variable, because it
// contains keys.
type Order struct {
	Config
	Addr   string // host:port to listen on
	Health string // the path to which only this child responds
}

// Server is a running S3 server.
type Server struct {
	cfg    Config
	url    string
	child  *exec.Cmd
	stdin  io.WriteCloser
	output *tail
	ended  chan struct{} // closed when the child has ended
	once   sync.Once
}

// Start returns when the server has answered ListBuckets and its buckets exist.
func Start(ctx context.Context, cfg Config) (_ *Server, err error) {
	defer must.Catch(&err)
	must.FailIf(cfg.AccessKey == "" || cfg.SecretKey == "" || cfg.Dir == "", "start s3: a directory, an access key and its secret are needed")
	dir, err := filepath.Abs(cfg.Dir)
	must.Wrap(err, "start s3")
	cfg.Dir = dir
	if cfg.Program == "" {
		if cfg.Program, err = Gateway(ctx); err != nil { // before the time limit starts, because it may have to be built
			return nil, fmt.Errorf("start s3: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for try := 1; ; try++ {
		s, err := launch(ctx, cfg)
		if err == nil {
			return s, nil
		}
		// Between finding a free port and binding it another process may have taken it.
		must.FailIf(cfg.Port != 0 || try == portTries || ctx.Err() != nil, "start s3: %w", err)
	}
}

func launch(ctx context.Context, cfg Config) (_ *Server, err error) {
	defer must.Catch(&err)
	port := cfg.Port
	if port == 0 {
		free := must.Get(freePort(ctx))
		port = free
	}
	order := Order{Config: cfg, Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Health: "/ready-" + rand.Text()}
	raw := must.Get(json.Marshal(order))
	s := &Server{cfg: cfg, url: "http://" + order.Addr, output: &tail{}, ended: make(chan struct{})}
	s.child = exec.Command(cfg.Program) // it lives until Stop, not as long as the context of Start
	s.child.Stderr = s.output
	s.stdin = must.Get(s.child.StdinPipe())
	must.Do(s.child.Start())
	go func() {
		_ = s.child.Wait() // its output says how it ended
		close(s.ended)
	}()
	if _, err := s.stdin.Write(append(raw, '\n')); err != nil { // the order contains keys
		_ = s.Stop()
		return nil, fmt.Errorf("%w: %s", err, s.output)
	}
	if err := s.ready(ctx, order.Health); err != nil {
		_ = s.Stop() // the reason why it did not start is the more useful error
		return nil, fmt.Errorf("%w: %s", err, s.output)
	}
	return s, nil
}

func freePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// ready waits for our own child, recognised by a path to which only it responds, then for a real call, and creates the buckets.
func (s *Server) ready(ctx context.Context, health string) (err error) {
	defer must.Catch(&err)
	for {
		select {
		case <-s.ended:
			return errors.New("the server ended")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
		if s.answers(ctx, health) {
			break
		}
	}
	must.Get(s.Client().ListBuckets(ctx, &s3.ListBucketsInput{}))
	for _, name := range s.cfg.Buckets {
		must.Do(s.CreateBucket(ctx, name))
	}
	return nil
}

func (s *Server) answers(ctx context.Context, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout) // another process on that port may never respond
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// URL is the value for AWS_ENDPOINT_URL_S3.
func (s *Server) URL() string { return s.url }

// InRegion starts S3's address in another region, with the same buckets and accounts. Port 0: a free one.
func (s *Server) InRegion(ctx context.Context, region string, port int) (*Server, error) {
	cfg := s.cfg
	cfg.Region, cfg.Port, cfg.Buckets, cfg.Remove = region, port, nil, false
	return Start(ctx, cfg)
}

// Client returns the official client with the server's own keys.
func (s *Server) Client() *s3.Client {
	return s3.New(s3.Options{Region: cmp.Or(s.cfg.Region, "us-east-1"), BaseEndpoint: sdk.String(s.url), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(s.cfg.AccessKey, s.cfg.SecretKey, "")})
}

// KeepVersions enables versioning for a bucket, as an installation's bucket should have it.
func (s *Server) KeepVersions(ctx context.Context, name string) error {
	_, err := s.Client().PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{
		Bucket: &name, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	if err != nil {
		return fmt.Errorf("keep the versions of bucket %s: %w", name, err)
	}
	return nil
}

// CreateBucket creates a bucket unless it exists.
func (s *Server) CreateBucket(ctx context.Context, name string) error {
	_, err := s.Client().CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name})
	var ours *types.BucketAlreadyOwnedByYou
	var exists *types.BucketAlreadyExists
	if err != nil && !errors.As(err, &ours) && !errors.As(err, &exists) {
		return fmt.Errorf("create bucket %s: %w", name, err)
	}
	return nil
}

// Stop stops the server, gracefully for some seconds. The stored data stays in its directory.
func (s *Server) Stop() error {
	s.once.Do(func() {
		_ = s.stdin.Close()
		select {
		case <-s.ended:
		case <-time.After(stopTimeout):
			_ = s.child.Process.Kill()
			<-s.ended
		}
	})
	return nil
}

// tail keeps the last kilobytes of the child's output.
type tail struct {
	mu   sync.Mutex
	last []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if len(t.last) > 4096 {
		t.last = t.last[len(t.last)-4096:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.last))
}

var gateway = tool.Tool{Name: "s3gateway", Module: "tools/s3gateway", Make: "build"}

// Gateway returns the path of the program s3gateway.
func Gateway(ctx context.Context) (string, error) { return gateway.Path(ctx) }
