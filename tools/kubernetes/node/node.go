package node

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	noop "go.opentelemetry.io/otel/trace/noop"
	"k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/kubelet"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/server"
	"k8s.io/kubernetes/pkg/kubelet/util"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/kubernetes/pkg/volume/util/subpath"
	"k8s.io/mount-utils"

	"github.com/ocpctl/ocpctl/tools/kubernetes/cri"
)

// bootID differs in every run, as after a reboot.
var bootID = rand.Text()

// Main is the whole life of a process that is a node.
func Main() error {
	input := json.NewDecoder(os.Stdin)
	var cfg Config
	if err := input.Decode(&cfg); err != nil {
		return fmt.Errorf("read the node's configuration: %w", err)
	}
	if err := isolate(cfg); err != nil {
		return fmt.Errorf("node %s: %w", cfg.Name, err)
	}
	if err := start(context.Background(), cfg); err != nil {
		return fmt.Errorf("node %s: %w", cfg.Name, err)
	}
	_, err := io.Copy(io.Discard, os.Stdin) // its end is that of the node
	return err
}

// isolate gives the node what other processes of the machine do not see, and forgets the containers of the previous run.
func isolate(cfg Config) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := syscall.Mount("tmpfs", "/var/log", "tmpfs", 0, ""); err != nil { // where a kubelet links logs
		return fmt.Errorf("cover /var/log: %w", err)
	}
	return os.RemoveAll(filepath.Join(cfg.Dir, "containers"))
}

// start starts the kubelet, which runs until the process ends.
func start(ctx context.Context, cfg Config) error {
	if cfg.Rootless { // then the kubelet does without what it may not read or set
		if err := utilfeature.DefaultMutableFeatureGate.Set("KubeletInUserNamespace=true"); err != nil {
			return err
		}
	}
	flags, configuration, err := settings(cfg)
	if err != nil {
		return err
	}
	deps, err := dependencies(ctx, cfg, flags, configuration)
	if err != nil {
		return err
	}
	capabilities.Initialize(capabilities.Capabilities{})
	k, err := kubelet.NewMainKubelet(ctx, configuration, deps, &flags.ContainerRuntimeOptions, cfg.IP, types.NodeName(cfg.Name), nil, "", "",
		flags.CertDirectory, flags.RootDirectory, configuration.PodLogsDir, "", "", true, nil, nil, "", false, false,
		metav1.Duration{}, 1, -1, map[string]string{v1.LabelHostname: cfg.Name}, 0, false)
	if err != nil {
		return fmt.Errorf("make the kubelet: %w", err)
	}
	k.BirthCry()
	k.StartGarbageCollection()
	go k.Run(deps.PodConfig.Updates())
	go k.ListenAndServe(configuration, deps.TLSOptions, deps.Auth, deps.TracerProvider)
	return nil
}

// settings are a kubelet's defaults, but for what concerns cgroups, and quicker where people would wait.
func settings(cfg Config) (*options.KubeletFlags, *kubeletconfig.KubeletConfiguration, error) {
	flags := options.NewKubeletFlags()
	flags.RootDirectory, flags.CertDirectory = filepath.Join(cfg.Dir, "kubelet"), filepath.Join(cfg.Dir, "pki")
	c, err := options.NewKubeletConfiguration()
	if err != nil {
		return nil, nil, err
	}
	c.PodLogsDir = filepath.Join(cfg.Dir, "logs")
	c.Address, c.Port, c.ReadOnlyPort = cfg.IP, int32(cfg.Port), 0
	c.TLSCertFile, c.TLSPrivateKeyFile = cfg.CertFile, cfg.KeyFile
	c.Authentication.X509.ClientCAFile = cfg.ClientCA
	c.Authentication.Anonymous.Enabled, c.Authentication.Webhook.Enabled = false, true
	c.Authorization.Mode = kubeletconfig.KubeletAuthorizationModeWebhook
	c.CgroupsPerQOS, c.EnforceNodeAllocatable, c.CPUCFSQuota = false, []string{}, false
	c.EvictionHard, c.ImageGCHighThresholdPercent = map[string]string{}, 100 // the disk is the machine's, not ours to clean
	c.MakeIPTablesUtilChains, c.EnableControllerAttachDetach, c.FailSwapOn = false, false, false
	c.NodeLeaseDurationSeconds = max(1, int32(4*cfg.Heartbeat/time.Second))
	c.NodeStatusUpdateFrequency.Duration = cfg.Heartbeat
	c.SyncFrequency.Duration = 10 * time.Second
	c.VolumeStatsAggPeriod.Duration = 2 * time.Second
	for _, dir := range []string{flags.RootDirectory, flags.CertDirectory, c.PodLogsDir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, nil, err
		}
	}
	return flags, c, nil
}

func dependencies(ctx context.Context, cfg Config, flags *options.KubeletFlags, configuration *kubeletconfig.KubeletConfiguration) (*kubelet.Dependencies, error) {
	client, err := clientcmd.BuildConfigFromFlags("", cfg.Kubeconfig)
	if err != nil {
		return nil, err
	}
	client.QPS, client.Burst = 50, 100 // a kubelet's own defaults
	heartbeat := rest.CopyConfig(client)
	heartbeat.QPS, heartbeat.Timeout = -1, cfg.Heartbeat
	calls, err := kubernetes.NewForConfig(client)
	if err != nil {
		return nil, err
	}
	heartbeats, err := kubernetes.NewForConfig(heartbeat)
	if err != nil {
		return nil, err
	}
	auth, _, err := kubeletapp.BuildAuth(types.NodeName(cfg.Name), calls, *configuration)
	if err != nil {
		return nil, err
	}
	plugins, err := kubeletapp.ProbeVolumePlugins(ctx, utilfeature.DefaultFeatureGate)
	if err != nil {
		return nil, err
	}
	events := record.NewBroadcaster(record.WithContext(ctx))
	events.StartRecordingToSink(&corev1.EventSinkImpl{Interface: calls.CoreV1().Events("")})
	host, port, err := net.SplitHostPort(net.JoinHostPort(cfg.APIHost, cfg.APIPort))
	if err != nil {
		return nil, errors.New("the address of the API server is missing")
	}
	mounter := mount.New("")
	runtime := cri.New(cri.Config{Dir: filepath.Join(cfg.Dir, "containers"), Images: cfg.Images, PodIP: cfg.IP, Rootless: cfg.Rootless,
		Env: []string{"KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port, "KUBERNETES_SERVICE_PORT_HTTPS=" + port}})
	return &kubelet.Dependencies{
		Auth: auth, KubeClient: calls, HeartbeatClient: heartbeats, EventClient: calls.CoreV1(),
		OSInterface: kubecontainer.RealOS{}, CAdvisorInterface: hardware{cfg}, ContainerManager: manager{ContainerManager: cm.NewStubContainerManager(), storage: cfg.Storage},
		RemoteRuntimeService: runtime, RemoteImageService: cfg.Images,
		Mounter: mounter, Subpather: subpath.New(mounter), HostUtil: hostutil.NewHostUtil(), VolumePlugins: plugins,
		TLSOptions:     &server.TLSOptions{Config: &tls.Config{MinVersion: tls.VersionTLS12, ClientAuth: tls.RequestClientCert}, CertFile: cfg.CertFile, KeyFile: cfg.KeyFile},
		Recorder:       events.NewRecorder(legacyscheme.Scheme, v1.EventSource{Component: "kubelet", Host: cfg.Name}),
		TracerProvider: noop.NewTracerProvider(), PodStartupLatencyTracker: util.NewPodStartupLatencyTracker(), NodeStartupLatencyTracker: util.NewNodeStartupLatencyTracker(),
	}, nil
}
