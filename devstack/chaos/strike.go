package chaos

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// strike is one kind of fault. It affects either each cluster separately, or everything at once. Both functions return an error
// unless the fault really happened.
type strike struct {
	key, text string

	each func(ctx context.Context, t *Run, c *cell) error

	begin func(ctx context.Context, t *Run) error
	end   func(ctx context.Context, t *Run) error
	lasts time.Duration // between the two, while the clusters are released

	// meanwhile runs after the clusters were released, in parallel with lasts; nil: nothing.
	meanwhile func(ctx context.Context, t *Run, cells []*cell) error
}

const outage = 1200 * time.Millisecond // shorter than retryBase

// strikesOn returns the faults that can befall clusters on a platform.
func strikesOn(cloud string) []strike {
	all := []strike{
		{key: "runner-killed", text: "runner killed", each: killRunner},
		{key: "runner-terminated", text: "runner terminated", each: terminateRunner},
		{key: "controller-killed", text: "controller killed", begin: killServer, end: startServer, lasts: 300 * time.Millisecond},
		{key: "postgres-killed", text: "PostgreSQL restarted", begin: killPostgres, end: startPostgres, lasts: 300 * time.Millisecond},
		{key: "s3-cut", text: "S3 unreachable", begin: cutS3, end: mendS3, lasts: outage},
		{key: "status-cut", text: "Status API away", begin: cutStatus, end: mendStatus, lasts: outage},
		{key: "status-cut-long", text: "away past the lease", begin: cutStatus, end: mendStatus, lasts: lease + leaseGrace + time.Second},
		{key: "keys-expired", text: "keys expired", begin: expireKeys, end: renewKeys, lasts: outage},
		{key: "github-away", text: "GitHub away", begin: cutGitHub, end: mendGitHub, lasts: outage, meanwhile: endUnanswered},
		{key: "github-limited", text: "GitHub limited", begin: spendGitHub, end: refillGitHub, lasts: outage, meanwhile: endUnanswered},
	}
	if isOnHub(cloud) {
		all = append(all, strike{key: "hub-away", text: "hub away", begin: cutHub, end: mendHub, lasts: outage})
	}
	return all
}

// killRunner kills only the runner, so that what it started lives on until that is noticed; or, for every second cell, everything at
// once, like the end of a pod.
func killRunner(ctx context.Context, t *Run, c *cell) error {
	kill := func(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
	if c.whole {
		runners, err := t.Dispatcher()
		if err != nil {
			return err
		}
		kill = func(int) error { return runners.Kill(ctx, c.attempt) }
	}
	return t.endRunner(ctx, c.attempt, kill, 10*time.Second)
}

// terminateRunner does what draining a node does. A runner may take some time to stop an install and store its state.
func terminateRunner(ctx context.Context, t *Run, c *cell) error {
	return t.endRunner(ctx, c.attempt, func(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }, 2*time.Minute)
}

// endRunner ends an attempt's runner, which must be alive, and waits until it has ended.
func (t *Run) endRunner(ctx context.Context, attempt string, end func(pid int) error, within time.Duration) (err error) {
	defer must.Catch(&err)
	pid := must.Get(t.runnerPID(attempt))
	must.FailIf(!alive(pid), "the runner of %s was dead before it was struck", attempt)
	must.Wrap(end(pid), "end the runner of %s", attempt)
	for until := time.Now().Add(within); alive(pid); {
		must.FailIf(time.Now().After(until), "the runner of %s (pid %d) still lives %s after it was struck", attempt, pid, within)
		must.Do(sleep(ctx, 5*time.Millisecond))
	}
	return nil
}

// runnerPID returns the process id of an attempt's runner: the one that the dispatcher stored, or that of its pod's process.
func (t *Run) runnerPID(attempt string) (int, error) {
	if t.Kubernetes {
		return t.podPID(attempt)
	}
	return t.RunnerPID(attempt)
}

// alive reports whether the process runs; a zombie counts as dead.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func killServer(_ context.Context, t *Run) (err error) {
	defer must.Catch(&err)
	pid := t.ServerPID()
	must.Do(t.KillServer())
	must.FailIf(alive(pid), "ocpctl-server (pid %d) survived SIGKILL", pid)
	return nil
}

func startServer(ctx context.Context, t *Run) error { return t.StartServer(ctx) }

func killPostgres(_ context.Context, t *Run) (err error) {
	defer must.Catch(&err)
	pid := t.PG.PID()
	must.Do(t.KillPostgres())
	must.FailIf(alive(pid), "PostgreSQL (pid %d) survived SIGKILL", pid)
	return nil
}

func startPostgres(ctx context.Context, t *Run) error { return t.StartPostgres(ctx) }

func cutS3(ctx context.Context, t *Run) error {
	t.S3Cut.Off()
	return refuses(ctx, t.Ports.S3)
}

func mendS3(_ context.Context, t *Run) error { t.S3Cut.On(); return nil }

func cutStatus(ctx context.Context, t *Run) error {
	t.Status.Off()
	return refuses(ctx, t.Ports.Status)
}

func mendStatus(_ context.Context, t *Run) error { t.Status.On(); return nil }

// refuses checks that a cut connection gives no response.
func refuses(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort("127.0.0.1", fmt.Sprint(port))+"/", nil)
	if err != nil {
		return err
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err == nil {
		answer.Body.Close()
		return fmt.Errorf("port %d still answers though it is cut", port)
	}
	return nil
}

// expireKeys makes the cloud refuse every call as if the session had expired.
func expireKeys(ctx context.Context, t *Run) error {
	t.AWS.Refuse("*", -1, "ExpiredToken")
	t.IBMCloud.Refuse("*", -1, ibmcloud.Expired)
	if t.Hub != nil {
		t.Hub.RefuseTokens(true)
	}
	client := sts.New(sts.Options{
		Region: "us-east-1", BaseEndpoint: awssdk.String(t.AWS.URL()),
		Credentials: credentials.NewStaticCredentialsProvider(devstack.AccessKey, devstack.SecretKey, ""),
	})
	_, err := client.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err == nil || !strings.Contains(err.Error(), "ExpiredToken") {
		return fmt.Errorf("the keys still work though they expired: %v", err)
	}
	return nil
}

func renewKeys(_ context.Context, t *Run) error {
	t.AWS.Lift("*")
	t.IBMCloud.Lift("*")
	if t.Hub != nil {
		t.Hub.RefuseTokens(false)
	}
	return nil
}
