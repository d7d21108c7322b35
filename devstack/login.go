package devstack

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/devstack/child"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Login is the stand-in for the OAuth server and the console of every cluster of a stack.
type Login struct {
	Address string
	process *os.Process
	exited  <-chan struct{}
}

// StartLogin starts it, at a free port if the port is 0. It ends with this process.
func (h *Stack) StartLogin(ctx context.Context, port int) (l *Login, err error) {
	defer must.Catch(&err)
	if port == 0 {
		port = must.Get(FreePort())
	}
	l = &Login{Address: addr(port)}
	cmd := exec.Command(filepath.Join(h.Bin, "oc"), "standin-login", l.Address)
	cmd.Env = append(append(os.Environ(), h.cloud()...), h.standIns()...)
	log := must.Get(os.OpenFile(h.path("login.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	l.exited = must.Get(child.Start(cmd, syscall.SIGKILL))
	l.process = cmd.Process
	for ctx.Err() == nil {
		conn, err := net.Dial("tcp", l.Address)
		if err == nil {
			return l, conn.Close()
		}
		select {
		case <-l.exited:
			return nil, fmt.Errorf("the login server ended; see %s", log.Name())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil, ctx.Err()
}

// Stop ends it.
func (l *Login) Stop() {
	_ = l.process.Kill() // it may have ended
	<-l.exited
}
