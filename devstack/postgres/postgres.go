// Package postgres runs a private PostgreSQL from the binaries on the machine, for the demo and for tests.
//
// It listens only on 127.0.0.1 and trusts every client, so it must never contain anything but a demo or a test. It never touches a
// server that it did not start, and ocpctl-server never imports it.
package postgres

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/devstack/child"
	"github.com/ocpctl/ocpctl/devstack/must"
)

const (
	startPatience = 30 * time.Second
	stopPatience  = 20 * time.Second
	lookAgain     = 20 * time.Millisecond
)

// Config says where the server stores its data and where it listens.
type Config struct {
	Dir  string // contains data/ and postgres.log; created if missing
	Port int    // on 127.0.0.1; 0: a free one
	Fast bool   // do not wait for the disk: committed data survives the server, but not the machine; only for tests
}

// Server is a running PostgreSQL.
type Server struct {
	port   int
	pid    int
	exited <-chan struct{} // closed when the process has ended
}

// Start initialises Dir if it is new and starts a server on it. It first stops a server that a killed parent left running there. The
// server ends with this process, by a fast shutdown.
func Start(ctx context.Context, cfg Config) (_ *Server, err error) {
	defer must.Catch(&err)
	dir, err := filepath.Abs(cfg.Dir)
	must.Wrap(err, "find %s", cfg.Dir)
	h := home{dir: dir, data: filepath.Join(dir, "data"), log: filepath.Join(dir, "postgres.log")}
	bin := must.Get(findOrFetch(ctx, h.major()))
	must.Wrap(os.MkdirAll(h.data, 0o700), "make the data directory")
	must.Do(stopLeftOver(ctx, h.data))
	who := must.Get(account(ctx, bin, h))
	must.Do(h.initialise(ctx, bin, who))
	port := cfg.Port
	if port == 0 {
		port = must.Get(freePort())
	}
	return h.run(ctx, bin, who, port, cfg.Fast)
}

// URL is the URL of one of the server's databases; "postgres" always exists.
func (s *Server) URL(db string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, db)
}

// PID is the server's process id.
func (s *Server) PID() int { return s.pid }

// Stop shuts the server down fast: open transactions are rolled back, everything committed is safe.
func (s *Server) Stop() error {
	select {
	case <-s.exited:
		return nil
	default:
	}
	if err := syscall.Kill(s.pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop PostgreSQL: %w", err)
	}
	select {
	case <-s.exited:
		return nil
	case <-time.After(stopPatience):
	}
	if err := syscall.Kill(s.pid, syscall.SIGQUIT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop PostgreSQL at once: %w", err)
	}
	<-s.exited
	return fmt.Errorf("PostgreSQL %d did not stop within %s and was ended at once", s.pid, stopPatience)
}

// Kill kills the server. Start on the same directory recovers what was committed.
func (s *Server) Kill() error {
	if err := syscall.Kill(s.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill PostgreSQL: %w", err)
	}
	<-s.exited
	return nil
}

// run starts the server and waits until it answers.
func (h home) run(ctx context.Context, bin string, who identity, port int, fast bool) (*Server, error) {
	deadline := time.Now().Add(startPatience)
	for {
		s, err := h.launch(ctx, bin, who, port, fast)
		if err != nil {
			return nil, err
		}
		err = s.answers(ctx, deadline)
		if err == nil {
			return s, nil
		}
		// The processes of a killed server end one by one; its memory is in use until the last one has ended.
		if h.stillInUse() && time.Now().Before(deadline) {
			time.Sleep(10 * lookAgain)
			continue
		}
		return nil, errors.Join(fmt.Errorf("start PostgreSQL on port %d: %w; its log %s ends: %s", port, err, h.log, h.tail()), s.Stop())
	}
}

func (h home) launch(ctx context.Context, bin string, who identity, port int, fast bool) (_ *Server, err error) {
	defer must.Catch(&err)
	log, err := os.OpenFile(h.log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	must.Wrap(err, "open the server's log")
	defer log.Close()
	args := []string{"-D", h.data, "-p", strconv.Itoa(port), "-h", "127.0.0.1", "-k", "", "-c", "max_connections=300", "-c", "timezone=UTC"}
	if fast {
		args = append(args, "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "wal_level=minimal", "-c", "max_wal_senders=0")
	}
	if fast && !runsBenchmarks() {
		// A test's connections run a statement a few times each, and planning it anew each time costs a fifth of a test's processor time.
		args = append(args, "-c", "plan_cache_mode=force_generic_plan")
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(bin, "postgres"), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = h.data, log, log, environment()
	cmd.SysProcAttr = who.attributes()
	exited, err := child.Start(cmd, syscall.SIGINT) // a fast shutdown
	must.Wrap(err, "start PostgreSQL")
	return &Server{port: port, exited: exited, pid: cmd.Process.Pid}, nil
}

// runsBenchmarks reports whether this process measures: then statements are planned as in production.
func runsBenchmarks() bool {
	asked := flag.Lookup("test.bench")
	return asked != nil && asked.Value.String() != ""
}

// answers waits until a connection succeeds; before that, "the database system is starting up" is normal.
func (s *Server) answers(ctx context.Context, deadline time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.exited:
			return errors.New("the server ended at once")
		case <-ctx.Done():
			return err
		case <-time.After(lookAgain):
		}
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
