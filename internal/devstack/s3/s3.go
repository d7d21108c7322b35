// Package s3 starts the S3 of the demo and of the tests: the program s3gateway, which is a real S3 server in a module of its own
// (tools/s3gateway). It ends when its standard input closes, so it never outlives the process that started it, however that
// one ends. ocpctl-server never imports this package.
package s3

import (
	"bytes"
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
)

const (
	startTimeout = 20 * time.Second
	stopTimeout  = 5 * time.Second
	probeTimeout = 500 * time.Millisecond
	portTries    = 5
)

// Config says where the server lives. Dir, AccessKey and SecretKey are needed.
type Config struct {
	Program   string    // the s3gateway; empty: found as Gateway finds it
	Dir       string    // holds the buckets; made when it is missing
	Port      int       // on 127.0.0.1; 0: a free one
	AccessKey string    // may do everything
	SecretKey string    // also the key of the stand-in STS, whose sessions are known here
	Accounts  []Account // who else has a key
	Buckets   []string  // made when they are missing
	Remove    bool      // the directory goes with the server
}

// Account is a key that lasts, with what it may.
type Account struct {
	AccessKey, SecretKey string
	ARN                  string
	Policy               string // JSON
}

// Order is the line that the gateway reads from its standard input. It is no argument and no variable, because it holds keys.
type Order struct {
	Config
	Addr   string // host:port to listen on
	Health string // the path that only this child answers
}

// Server is a running S3 server.
type Server struct {
	cfg    Config
	url    string
	child  *exec.Cmd
	stdin  io.WriteCloser
	output *tail
	ended  chan struct{} // closed when the child is gone
	once   sync.Once
}

// Start returns when the server has answered ListBuckets and its buckets exist.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.AccessKey == "" || cfg.SecretKey == "" || cfg.Dir == "" {
		return nil, errors.New("start s3: a directory, an access key and its secret are needed")
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("start s3: %w", err)
	}
	cfg.Dir = dir
	if cfg.Program == "" {
		if cfg.Program, err = Gateway(ctx); err != nil { // before the clock starts: it may have to be built
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
		if cfg.Port != 0 || try == portTries || ctx.Err() != nil {
			return nil, fmt.Errorf("start s3: %w", err)
		}
	}
}

func launch(ctx context.Context, cfg Config) (*Server, error) {
	port := cfg.Port
	if port == 0 {
		free, err := freePort(ctx)
		if err != nil {
			return nil, err
		}
		port = free
	}
	order := Order{Config: cfg, Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Health: "/ready-" + rand.Text()}
	raw, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, url: "http://" + order.Addr, output: &tail{}, ended: make(chan struct{})}
	s.child = exec.Command(cfg.Program) //nolint:noctx // it lives until Stop, not as long as the context of Start
	s.child.Stderr = s.output
	if s.stdin, err = s.child.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.child.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = s.child.Wait() // how it ended is in its output
		close(s.ended)
	}()
	if _, err := s.stdin.Write(append(raw, '\n')); err != nil { // the order holds keys
		_ = s.Stop()
		return nil, fmt.Errorf("%w: %s", err, s.output)
	}
	if err := s.ready(ctx, order.Health); err != nil {
		_ = s.Stop() // the reason it did not start is the error to tell
		return nil, fmt.Errorf("%w: %s", err, s.output)
	}
	return s, nil
}

func freePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close() //nolint:errcheck // it was never used
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// ready waits for our own child, known by a path that only it answers, then for a real call, and makes the buckets.
func (s *Server) ready(ctx context.Context, health string) error {
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
	if _, err := s.Client().ListBuckets(ctx, &s3.ListBucketsInput{}); err != nil {
		return err
	}
	for _, name := range s.cfg.Buckets {
		if err := s.CreateBucket(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) answers(ctx context.Context, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout) // somebody else's port may never answer
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

// URL is what AWS_ENDPOINT_URL_S3 must hold.
func (s *Server) URL() string { return s.url }

// Client is the official client with the server's own keys.
func (s *Server) Client() *s3.Client {
	return s3.New(s3.Options{Region: "us-east-1", BaseEndpoint: sdk.String(s.url), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(s.cfg.AccessKey, s.cfg.SecretKey, "")})
}

// KeepVersions makes a bucket keep every version of its objects, as the bucket of an installation should.
func (s *Server) KeepVersions(ctx context.Context, name string) error {
	_, err := s.Client().PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{
		Bucket: &name, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	if err != nil {
		return fmt.Errorf("keep the versions of bucket %s: %w", name, err)
	}
	return nil
}

// CreateBucket makes a bucket unless we have it.
func (s *Server) CreateBucket(ctx context.Context, name string) error {
	_, err := s.Client().CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name})
	var ours *types.BucketAlreadyOwnedByYou
	var exists *types.BucketAlreadyExists
	if err != nil && !errors.As(err, &ours) && !errors.As(err, &exists) {
		return fmt.Errorf("create bucket %s: %w", name, err)
	}
	return nil
}

// Stop ends the server, politely for some seconds. What it stored stays in its directory.
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

// tail keeps the last kilobytes of what the child prints.
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
