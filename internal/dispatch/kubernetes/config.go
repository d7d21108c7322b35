package kubernetes

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// What the runner's image holds, and where the Job mounts the rest.
const (
	Program    = "/usr/bin/ocpctl-runner" // the image's program
	Installers = "/installers"            // the image's directory of <version>/openshift-install, ccoctl and oc
	WorkDir    = "/work"                  // emptyDir

	tokenDir  = "/var/run/ocpctl"
	tokenFile = "token"
	tempDir   = "/tmp"
)

const (
	// LeastGrace is the shortest termination grace period: a runner gives its installer 70 s to end and then saves the state, which
	// may take up to two minutes.
	LeastGrace = 200 * time.Second
	// LeastDeadline is the shortest deadline of a Job that creates: the installer's own limits are 20 + 30 + 40 + 10 minutes, and its
	// preparations come on top.
	LeastDeadline = 2 * time.Hour
	// beyond is added to the profile's deadline for the installer's own work. It covers what the runner does besides: extracting the
	// programs (3 × 15 min), ccoctl (15 min), rendering (10 min), gathering logs (10 min), waiting for add-ons (30 min) or counting what
	// is left, and the snapshots (5 min).
	beyond = 2 * time.Hour

	defaultTimeout = 10 * time.Second
	defaultKeep    = 7 * 24 * time.Hour
)

// Config says how Jobs are made.
type Config struct {
	Namespace    string
	Image        string
	Installation string // id of this installation; several may share a namespace
	StatusURL    string // URL of the Status API for runners
	OpenShift    bool   // the SCC restricted-v2 chooses user and group; otherwise the image's user and group 65532 are used

	PullSecrets     []string             // of the image
	ServiceAccounts map[string]string    // by kind of attempt; every kind that is started needs one
	Resources       map[string]Resources // by profile, platform or kind of attempt, in this order; DefaultResources otherwise
	PriorityClasses map[string]string    // by kind of attempt; none: the cluster's default
	NodeSelector    map[string]string
	Tolerations     []corev1.Toleration
	Env             []string // KEY=value
	Labels          map[string]string
	Annotations     map[string]string

	Deadlines map[string]time.Duration // least deadline of a Job by kind of attempt; none: LeastDeadline
	Grace     time.Duration            // termination grace period; zero: LeastGrace
	WorkSize  resource.Quantity        // of the work directory; zero: 20Gi
	TempSize  resource.Quantity        // of /tmp; zero: 5Gi
	Keep      time.Duration            // when Kubernetes deletes finished Jobs that the server did not; zero: 7 days
	Timeout   time.Duration            // of one call of the API; zero: 10 s
	Now       func() time.Time         // nil: time.Now
}

// Resources are requests and limits of one runner.
type Resources struct{ Requests, Limits corev1.ResourceList }

// DefaultResources suit an installation on AWS.
func DefaultResources() Resources {
	return Resources{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi"), corev1.ResourceEphemeralStorage: resource.MustParse("6Gi"),
		},
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")},
	}
}

func (c *Config) complete() error {
	if c.Namespace == "" || c.Image == "" || c.Installation == "" || c.StatusURL == "" {
		return errors.New("dispatch to Kubernetes: namespace, image, installation and status URL are required")
	}
	if c.Grace == 0 {
		c.Grace = LeastGrace
	}
	if c.Grace < LeastGrace {
		return fmt.Errorf("dispatch to Kubernetes: a termination grace period of %s is too short for a runner to save its state; give %s or more", c.Grace, LeastGrace)
	}
	if c.WorkSize.IsZero() {
		c.WorkSize = resource.MustParse("20Gi")
	}
	if c.TempSize.IsZero() {
		c.TempSize = resource.MustParse("5Gi")
	}
	if c.Keep == 0 {
		c.Keep = defaultKeep
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	return nil
}

// deadline is how long a Job may exist: beyond everything that the runner limits itself.
func (c *Config) deadline(kind string, installer time.Duration) time.Duration {
	return max(c.Deadlines[kind], LeastDeadline, installer+beyond)
}

func (c *Config) resources(profile, platform, kind string) Resources {
	for _, name := range []string{profile, platform, kind} {
		if r, ok := c.Resources[name]; ok {
			return r
		}
	}
	return DefaultResources()
}
