package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	logsapi "k8s.io/component-base/logs/api/v1"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	scheduleroptions "k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"github.com/ocpctl/ocpctl/tools/kubernetes/credentials"
)

// Options are the flags.
type Options struct {
	Dir             string
	Port            int
	Nodes           int
	CPUs            int
	Memory, Storage string
	Images          string
	Heartbeat       time.Duration
	NodeGrace       time.Duration
	Toleration      int
}

const (
	logName = "kubernetes.log"
	admin   = "admin"
	// startTimeout is generous, because tests share their processors with others.
	startTimeout = 2 * time.Minute
)

// running are the controllers: those that pods, Jobs and Deployments need, and those that remove what is over.
var running = []string{
	"job-controller", "deployment-controller", "replicaset-controller", "garbage-collector-controller", "ttl-after-finished-controller",
	"pod-garbage-collector-controller", "namespace-controller", "serviceaccount-controller", "serviceaccount-token-controller",
	"root-ca-certificate-publisher-controller", "resourcequota-controller", "disruption-controller", "node-lifecycle-controller",
	"taint-eviction-controller", "clusterrole-aggregation-controller",
}

// cluster is what the components share.
type cluster struct {
	Options
	creds  *credentials.Directory
	tokens map[string]string
	etcd   string // URL
	server string // URL
	ended  chan error
}

// start starts everything and returns the administrator's kubeconfig when pods can be created, and a channel that says why a
// component has ended.
func start(ctx context.Context, o Options) (string, <-chan error, error) {
	c := &cluster{Options: o, ended: make(chan error, 3)}
	if err := c.prepare(ctx); err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("it was not ready after %s", startTimeout))
	defer cancel()
	for _, step := range []func(context.Context) error{c.startEtcd, c.startAPIServer, c.startControllers, c.startScheduler, c.startNodes, c.usable} {
		if err := step(ctx); err != nil {
			return "", nil, errors.Join(err, context.Cause(ctx))
		}
	}
	return c.creds.File(credentials.AdminKubeconfig), c.ended, nil
}

func (c *cluster) prepare(ctx context.Context) error {
	creds, err := credentials.Open(filepath.Join(c.Dir, "pki"))
	if err != nil {
		return err
	}
	c.creds = creds
	users := []credentials.User{{Name: admin, Groups: []string{"system:masters"}}}
	for n := range c.Nodes {
		users = append(users, credentials.User{Name: "system:node:" + nodeName(n), Groups: []string{"system:nodes"}})
	}
	if c.tokens, err = creds.WriteTokens(users); err != nil {
		return err
	}
	if err := c.choosePort(ctx); err != nil {
		return err
	}
	c.server = "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port))
	return creds.WriteKubeconfig(creds.File(credentials.AdminKubeconfig), c.server, admin, c.tokens[admin])
}

// choosePort prefers that of the previous run, which kubeconfigs that were copied name.
func (c *cluster) choosePort(ctx context.Context) error {
	file := filepath.Join(c.Dir, "port")
	if raw, err := os.ReadFile(file); c.Port == 0 && err == nil {
		last, err := strconv.Atoi(string(raw))
		if err == nil && portIsFree(ctx, "127.0.0.1", last) {
			c.Port = last
		}
	}
	if c.Port == 0 {
		port, err := freePort(ctx, "127.0.0.1")
		if err != nil {
			return err
		}
		c.Port = port
	}
	return os.WriteFile(file, []byte(strconv.Itoa(c.Port)), 0o600)
}

func portIsFree(ctx context.Context, ip string, port int) bool {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

func freePort(ctx context.Context, ip string) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// startEtcd serves those alone who have a certificate, because containers share the machine's network.
func (c *cluster) startEtcd(ctx context.Context) error {
	cfg := embed.NewConfig()
	cfg.Dir, cfg.LogLevel, cfg.LogOutputs = filepath.Join(c.Dir, "etcd"), "error", []string{"stderr"}
	tls := transport.TLSInfo{CertFile: c.creds.File(credentials.Etcd + ".crt"), KeyFile: c.creds.File(credentials.Etcd + ".key"),
		TrustedCAFile: c.creds.File(credentials.CA), ClientCertAuth: true}
	cfg.ClientTLSInfo, cfg.PeerTLSInfo = tls, tls
	var urls [2]url.URL
	for i := range urls {
		port, err := freePort(ctx, "127.0.0.1")
		if err != nil {
			return err
		}
		urls[i] = url.URL{Scheme: "https", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = urls[:1], urls[:1]
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = urls[1:], urls[1:]
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.UnsafeNoFsync = true // the machine's crash may lose a demo
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	c.etcd = urls[0].String()
	select {
	case <-server.Server.ReadyNotify():
		return nil
	case err := <-server.Err():
		return fmt.Errorf("start etcd: %w", err)
	case <-ctx.Done():
		return fmt.Errorf("start etcd: %w", ctx.Err())
	}
}

// startAPIServer makes the command of the controllers first: it sets a default that the API server's command reads.
func (c *cluster) startAPIServer(ctx context.Context) error {
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged // each component configures the logs
	controllerManager = controllers.NewControllerManagerCommand()
	file := c.creds.File
	audit, err := c.audit()
	if err != nil {
		return err
	}
	c.execute("kube-apiserver", apiserver.NewAPIServerCommand(), append(audit,
		"--etcd-servers="+c.etcd, "--etcd-cafile="+file(credentials.CA),
		"--etcd-certfile="+file(credentials.EtcdClient+".crt"), "--etcd-keyfile="+file(credentials.EtcdClient+".key"),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none", "--secure-port="+strconv.Itoa(c.Port),
		"--tls-cert-file="+file(credentials.APIServer+".crt"), "--tls-private-key-file="+file(credentials.APIServer+".key"),
		"--client-ca-file="+file(credentials.CA), "--token-auth-file="+file(credentials.Tokens), "--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction", // beside those that are on by default: quotas, limits, service accounts, pod security
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+file(credentials.ServiceAccountKey),
		"--service-account-signing-key-file="+file(credentials.ServiceAccountKey), "--service-cluster-ip-range=10.123.0.0/24",
		"--kubelet-certificate-authority="+file(credentials.CA), "--kubelet-preferred-address-types=InternalIP",
		"--kubelet-client-certificate="+file(credentials.KubeletClient+".crt"), "--kubelet-client-key="+file(credentials.KubeletClient+".key"),
		"--default-not-ready-toleration-seconds="+strconv.Itoa(c.Toleration), "--default-unreachable-toleration-seconds="+strconv.Itoa(c.Toleration),
		"--profiling=false",
	))
	return c.until(ctx, c.serves)
}

// controllerManager is made before the API server's command and executed after it.
var controllerManager *cobra.Command

func (c *cluster) startControllers(context.Context) error {
	c.execute("kube-controller-manager", controllerManager, []string{
		"--kubeconfig=" + c.creds.File(credentials.AdminKubeconfig), "--use-service-account-credentials=true", "--leader-elect=false", "--secure-port=0", "--profiling=false",
		"--service-account-private-key-file=" + c.creds.File(credentials.ServiceAccountKey), "--root-ca-file=" + c.creds.File(credentials.CA),
		"--controllers=" + strings.Join(running, ","), "--node-monitor-period=1s", "--node-monitor-grace-period=" + c.NodeGrace.String(),
	})
	return nil
}

// execute runs a component's command until the process ends.
func (c *cluster) execute(name string, command *cobra.Command, args []string) {
	command.SetArgs(args)
	go func() {
		err := command.ExecuteContext(context.Background())
		c.ended <- fmt.Errorf("%s has ended: %w", name, err)
	}()
}

// startScheduler does not use the scheduler's command, because signal handlers can be set up once in a process.
func (c *cluster) startScheduler(context.Context) error {
	o := scheduleroptions.NewOptions()
	set := pflag.NewFlagSet("kube-scheduler", pflag.ContinueOnError)
	for _, flags := range o.Flags.FlagSets {
		set.AddFlagSet(flags)
	}
	if err := set.Parse([]string{"--kubeconfig=" + c.creds.File(credentials.AdminKubeconfig), "--leader-elect=false", "--secure-port=0"}); err != nil {
		return err
	}
	background := context.Background()
	configuration, s, err := scheduler.Setup(background, o)
	if err != nil {
		return fmt.Errorf("start the scheduler: %w", err)
	}
	go func() {
		c.ended <- fmt.Errorf("kube-scheduler has ended: %w", scheduler.Run(background, configuration, s))
	}()
	return nil
}
