package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/ocpctl/ocpctl/devstack/child"
	"github.com/ocpctl/ocpctl/devstack/listen"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// api is the running API of a cluster.
type api struct {
	addr, token string
	client      *http.Client
	processes   []process
}

type process struct {
	cmd    *exec.Cmd
	exited <-chan struct{}
}

// end kills the processes: nothing in them is needed any more.
func (a *api) end() {
	for _, p := range a.processes {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.exited
	}
}

// freeAddr returns an address at which nothing listens.
func freeAddr(ctx context.Context) (string, error) {
	listener, err := listen.On(ctx, "", "a cluster")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// serve starts etcd and the API server as the bootstrap machine does, and waits until the API is ready.
func (c *Cluster) serve(ctx context.Context) (err error) {
	defer must.Catch(&err)
	etcd, peers, addr := must.Get(freeAddr(ctx)), must.Get(freeAddr(ctx)), must.Get(freeAddr(ctx))
	c.api = &api{addr: addr, token: rand.Text()}
	defer func() {
		if err != nil {
			c.api.end()
		}
	}()
	tokens := filepath.Join(c.Dir, "tokens.csv")
	must.Do(os.WriteFile(tokens, []byte(c.api.token+",cluster,cluster,system:masters\n"), 0o600))
	must.Do(c.start("etcd", "--data-dir="+filepath.Join(c.Dir, "etcd"), "--listen-client-urls=http://"+etcd, "--advertise-client-urls=http://"+etcd,
		"--listen-peer-urls=http://"+peers, "--initial-advertise-peer-urls=http://"+peers, "--initial-cluster=default=http://"+peers, "--unsafe-no-fsync", "--log-level=error"))
	_, port, err := net.SplitHostPort(addr)
	must.Do(err)
	file := func(name string) string { return must.Get(c.file(name)) }
	must.Do(c.start("kube-apiserver", "--etcd-servers=http://"+etcd, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port="+port, "--endpoint-reconciler-type=none",
		"--tls-cert-file="+file("kube-apiserver-lb-server.crt"), "--tls-private-key-file="+file("kube-apiserver-lb-server.key"),
		"--client-ca-file="+file("kube-apiserver-complete-client-ca-bundle.crt"), "--token-auth-file="+tokens, "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+file("service-account.pub"),
		"--service-account-signing-key-file="+file("service-account.key"), "--service-cluster-ip-range=172.30.0.0/16", "--disable-admission-plugins=ServiceAccount",
		"--profiling=false"))
	roots := x509.NewCertPool()
	bundle := must.Get(os.ReadFile(file("kube-apiserver-lb-ca-bundle.crt")))
	must.FailIf(!roots.AppendCertsFromPEM(bundle), "the bundle of the API's authority has no certificate")
	c.api.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "api." + c.Cloud.Domain(), MinVersion: tls.VersionTLS12}}}
	must.Do(until(ctx, func() (bool, error) {
		for _, p := range c.api.processes {
			select {
			case <-p.exited:
				return false, fmt.Errorf("%s has ended; %s.log says why", p.cmd.Args[0], p.cmd.Args[0])
			default:
			}
		}
		return c.api.call(ctx, http.MethodGet, "/readyz", nil) == nil, nil
	}))
	c.Log("the cluster's API is up")
	c.set(addr, nil)
	return nil
}

// start starts a program that ends with this process.
func (c *Cluster) start(program string, args ...string) (err error) {
	defer must.Catch(&err)
	log := must.Get(os.Create(filepath.Join(c.Dir, program+".log")))
	defer log.Close()
	cmd := exec.Command(filepath.Join(c.Programs, program), args...)
	cmd.Stdout, cmd.Stderr = log, log
	exited := must.Get(child.Start(cmd, syscall.SIGKILL))
	c.api.processes = append(c.api.processes, process{cmd, exited})
	return nil
}

// call sends a request as a member of system:masters. A nil body has none.
func (a *api) call(ctx context.Context, method, path string, body any) (err error) {
	defer must.Catch(&err)
	var sent io.Reader
	if body != nil {
		sent = bytes.NewReader(must.Get(json.Marshal(body)))
	}
	req := must.Get(http.NewRequestWithContext(ctx, method, "https://"+a.addr+path, sent))
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", map[string]string{http.MethodPost: "application/json", http.MethodPatch: "application/merge-patch+json"}[method])
	resp := must.Get(a.client.Do(req))
	defer resp.Body.Close()
	raw := must.Get(io.ReadAll(resp.Body))
	if resp.StatusCode >= http.StatusMultipleChoices {
		return &refusal{method + " " + path, resp.StatusCode, string(raw)}
	}
	return nil
}

// refusal is an answer of the API that is no success.
type refusal struct {
	what   string
	status int
	said   string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s: %d: %s", r.what, r.status, r.said) }
