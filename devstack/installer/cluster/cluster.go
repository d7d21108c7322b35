// Package cluster plays a cluster that the real installer creates (package real): its API is a real etcd and a real kube-apiserver, started
// with the keys and certificates that its bootstrap machine reads from the ignition in S3, and a few objects in it tell the installer what
// the operators of a cluster tell. There are no machines.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Config is what a cluster is made of.
type Config struct {
	Programs string       // folder with etcd and kube-apiserver
	Dir      string       // an empty folder
	Client   *http.Client // reaches the cloud as a machine in it does
	Version  string       // of OpenShift
	Cloud    Cloud
	Log      func(line string) // what happens; it is not the installer's log
}

// Cloud is what happens of the cluster in the cloud.
type Cloud interface {
	Domain() string
	UserData(ctx context.Context) (string, error)         // of the bootstrap machine, in base64; empty: it does not run
	Nodes(ctx context.Context) (map[string]string, error) // by name: provider id and kind
	Run(ctx context.Context) error                        // the operators' work
}

// Cluster is one such cluster. It begins with its bootstrap machine, and ends with Stop.
type Cluster struct {
	Config
	begin sync.Once
	run   context.Context
	stop  context.CancelFunc
	done  chan struct{}

	mu   sync.Mutex
	addr string // of its API; empty: there is none yet
	why  error  // why there is none

	files map[string][]byte // of the ignition
	api   *api
}

// errNoMachine is why a cluster has no API.
var errNoMachine = errors.New("connection refused: the bootstrap machine does not run yet")

// New returns a cluster that does nothing until somebody asks for its API.
func New(ctx context.Context, cfg Config) *Cluster {
	c := &Cluster{Config: cfg, done: make(chan struct{}), why: errNoMachine}
	c.run, c.stop = context.WithCancel(ctx)
	return c
}

// Address returns where the cluster's API is, if the host and port are the API's.
func (c *Cluster) Address(hostPort string) (addr string, known bool, err error) {
	if hostPort != "api."+c.Cloud.Domain()+":6443" {
		return "", false, nil
	}
	c.begin.Do(func() {
		go func() {
			defer close(c.done)
			if err := c.live(c.run); err != nil && c.run.Err() == nil {
				c.Log("the cluster failed: " + err.Error())
				c.set("", err)
			}
		}()
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.addr, true, c.why
}

func (c *Cluster) set(addr string, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addr, c.why = addr, why
}

// Stop ends the cluster's processes.
func (c *Cluster) Stop() {
	c.stop()
	c.begin.Do(func() { close(c.done) })
	<-c.done
}

// askEvery is how often the cluster looks at the cloud.
const askEvery = 300 * time.Millisecond

// until asks until the answer is yes.
func until(ctx context.Context, ask func() (bool, error)) error {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		if yes, err := ask(); yes || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// live is the cluster's life from the start of its bootstrap machine.
func (c *Cluster) live(ctx context.Context) (err error) {
	defer must.Catch(&err)
	var userData string
	must.Do(until(ctx, func() (bool, error) {
		userData, err = c.Cloud.UserData(ctx)
		return userData != "", err
	}))
	c.files = must.Get(c.readIgnition(ctx, userData))
	c.Log(fmt.Sprintf("the bootstrap machine has read %d files", len(c.files)))
	must.Do(c.serve(ctx))
	defer c.api.end()
	must.Do(c.bootstrap(ctx))
	must.Do(until(ctx, func() (bool, error) {
		machine, err := c.Cloud.UserData(ctx)
		return machine == "", err
	}))
	if err := c.Cloud.Run(ctx); err != nil {
		c.Log("the operators failed: " + err.Error())
		must.Do(c.fail(ctx, err.Error()))
	} else {
		must.Do(c.complete(ctx))
	}
	<-ctx.Done()
	return nil
}

// file stores one of the ignition's files and returns its path.
func (c *Cluster) file(name string) (path string, err error) {
	raw, there := c.files["/opt/openshift/tls/"+name]
	if !there {
		return "", fmt.Errorf("the bootstrap machine's ignition has no file tls/%s", name)
	}
	path = filepath.Join(c.Dir, name)
	return path, os.WriteFile(path, raw, 0o600)
}
