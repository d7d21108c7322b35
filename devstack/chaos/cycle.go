package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// cycle is one cluster's life in a soak.
type cycle struct {
	number   int
	rng      *rand.Rand
	fault    string
	end      string
	cloud    string
	profile  string
	cli      bool // requested at the command line, without a pull request
	ttl      int  // hours; 0: the profile's
	offHours bool // the request at the command line says that it sleeps outside working hours
	night    night
	killIn   string // phase in which its runner is killed, once; empty: none
	killed   bool

	pr      int // 0: none
	name    string
	claimed bool // from a pool
	ready   bool
	gone    bool // released before the day's end
	err     error
	took    time.Duration
}

// newCycle draws a cycle's fault and end, and the cloud that its cluster is on.
func newCycle(seed uint64, n int, clouds []string) *cycle {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	cloud := clouds[n%len(clouds)]
	return &cycle{
		number: n, rng: rng, cloud: cloud, profile: profilesOn[cloud][0],
		fault: mishapsOn(cloud)[rng.IntN(len(mishapsOn(cloud)))], end: []string{"command", "close", "unlabel"}[rng.IntN(3)],
	}
}

// failure says which cycle failed, and how.
func (c *cycle) failure() error {
	if c.err == nil {
		return nil
	}
	return fmt.Errorf("cycle %d (%s on %s, %s, ended by %s%s): %w", c.number, c.name, c.cloud, c.fault, c.end, c.night.text(), c.err)
}

func failures(done []*cycle) error {
	errs := pick.Map(done, func(c *cycle) error { return c.failure() })
	return errors.Join(errs...)
}

// mishapsOn are the possible faults of a cycle on a platform; half of all cycles have none.
func mishapsOn(cloud string) []string {
	drawn := []string{
		"install fails", "bootstrap fails", "installer dies", "ccoctl fails", "ccoctl dies", "destroy dies", "destroy leaves something",
		"ccoctl delete forgets", "runner killed", "runner terminated", "ended mid-install",
	}
	if isOnHub(cloud) {
		drawn = []string{"hub away", "namespace kept", "runner killed", "runner terminated", "ended mid-install"}
	}
	return append(drawn, slices.Repeat([]string{"none"}, len(drawn))...)
}

// live runs one cycle: a pull request, a label, perhaps a fault, an end, and the check that nothing is left.
func (t *Run) live(ctx context.Context, c *cycle) (err error) {
	defer must.Catch(&err)
	must.Do(t.begin(ctx, c))
	must.Do(t.endBy(ctx, c))
	return t.ended(ctx, c)
}

// begin requests the cycle's cluster and waits until it is ready, or given up, unless its end is to come before.
func (t *Run) begin(ctx context.Context, c *cycle) (err error) {
	defer must.Catch(&err)
	if c.name = fmt.Sprintf("cli%04d", c.number); !c.cli {
		c.pr = must.Get(t.GitHub.Open("One of many", person))
		c.name = nameOf(c.pr)
	}
	key, fault := c.plan(c.name)
	if key != "" {
		must.Do(t.setFault(key, &fault))
	}
	must.Do(t.request(ctx, c))
	must.Do(t.nameClaimed(ctx, c))
	if err := t.midway(ctx, c); err != nil || c.fault == "ended mid-install" {
		return err
	}
	// After some failures a retry is useless, and the cluster ends by itself.
	return t.awaitNamed(ctx, c.name, "READY, or given up", t.patience(), func(now cluster) bool {
		c.ready = isReady(now)
		return c.ready || now.Desired == "absent"
	})
}

// request requests the cycle's cluster: by a label, or at the command line.
func (t *Run) request(ctx context.Context, c *cycle) error {
	if c.cli {
		args := []string{"create", c.profile, "--name", c.name, "--team", "platform", "--ttl", fmt.Sprintf("%dh", c.ttl)}
		if c.offHours {
			args = append(args, "--off-hours")
		}
		_, err := t.ocpctl(ctx, "requester", args...)
		return err
	}
	if c.ttl > 0 {
		if err := t.GitHub.Label(c.pr, fmt.Sprintf("ocp-ttl/%d", c.ttl), person); err != nil {
			return err
		}
	}
	return t.GitHub.Label(c.pr, "ocp/"+c.profile, person)
}

// ended waits until the cycle's cluster is released, and checks that nothing is left of it.
func (t *Run) ended(ctx context.Context, c *cycle) error {
	if err := t.awaitNamed(ctx, c.name, "released", t.patience(), isReleased); err != nil {
		return err
	}
	err := t.nothingLeftOf(ctx, c.name)
	if c.pr > 0 {
		err = errors.Join(err, t.oneComment(c.pr))
		if len(t.Servers) > 1 {
			err = errors.Join(err, t.nothingTwice(ctx, c.pr, c.name))
		}
	}
	return err
}

// plan returns the fault of the stand-in programs in a cycle, which happens once.
func (c *cycle) plan(name string) (key string, fault installer.Fault) {
	at := installer.Steps()[c.rng.IntN(len(installer.Steps()))]
	kinds, short := []string{"elastic-ip", "vpc", "bucket", "hosted-zone"}, "InsufficientInstanceCapacity: we currently do not have sufficient m6i.xlarge capacity"
	if c.cloud == "ibmcloud" {
		kinds, short = []string{"floating-ip", "vpc", "instance", "image"}, "failed to provision control-plane machines: cannot_start_capacity"
	}
	command := map[string]string{
		"install fails": "create", "bootstrap fails": "create", "installer dies": "create", "ccoctl fails": "ccoctl-create", "ccoctl dies": "ccoctl-create",
		"destroy dies": "destroy", "destroy leaves something": "destroy", "ccoctl delete forgets": "ccoctl-delete",
	}[c.fault]
	if command == "" {
		return "", fault
	}
	switch c.fault {
	case "install fails":
		fault = installer.Fault{FailAt: "machines", Message: short}
	case "bootstrap fails":
		fault = installer.Fault{FailAt: "bootstrap"}
	case "installer dies":
		fault = installer.Fault{FailAt: at, Kill: true}
	case "ccoctl fails":
		fault = installer.Fault{AfterWrites: 1 + c.rng.IntN(8), Exit: 1}
	case "ccoctl dies":
		fault = installer.Fault{AfterWrites: 1 + c.rng.IntN(8), Kill: true}
	case "destroy dies":
		fault = installer.Fault{AfterWrites: 1 + c.rng.IntN(20), Kill: true}
	case "destroy leaves something":
		fault = installer.Fault{Leave: kinds[c.rng.IntN(len(kinds)):][:1]}
	case "ccoctl delete forgets":
		fault = installer.Fault{Leak: []string{installer.LeakIdentity}}
	}
	fault.Times = 1
	return command + "/" + faultName(command, name), fault
}

// midway kills the runner, or ends the cluster, at a random moment of the create.
func (t *Run) midway(ctx context.Context, c *cycle) error {
	phases := []string{"preflight", "claiming", "rendering", "recording", "installing", "configuring"}
	at := phases[c.rng.IntN(len(phases))]
	sig := map[string]syscall.Signal{"runner killed": syscall.SIGKILL, "runner terminated": syscall.SIGTERM}[c.fault]
	onTheHub := c.fault == "hub away" || c.fault == "namespace kept"
	if sig == 0 && c.fault != "ended mid-install" && !onTheHub {
		return nil
	}
	err := t.awaitNamed(ctx, c.name, "past "+at, t.patience(), func(now cluster) bool {
		return slices.Index(phases, now.Phase) >= slices.Index(phases, at) && now.Attempt != "" || isReady(now)
	})
	if onTheHub && err == nil {
		err = t.hubMishap(ctx, c)
	}
	if err != nil || sig == 0 {
		return err
	}
	now, _ := t.board.named(c.name)
	if pid, err := t.runnerPID(now.Attempt); err == nil {
		_ = syscall.Kill(pid, sig) // it may have ended meanwhile, because the moment is random
	}
	return nil
}

// endBy asks for the end of the cycle's cluster.
func (t *Run) endBy(ctx context.Context, c *cycle) error {
	switch {
	case c.cli || c.end == "command":
		return t.order(ctx, c, "destroy")
	case c.end == "close":
		return t.GitHub.Close(c.pr, person)
	}
	return t.GitHub.Unlabel(c.pr, "ocp/"+c.profile, person)
}

// order gives a command about the cycle's cluster: as a comment on its pull request, or at the command line.
func (t *Run) order(ctx context.Context, c *cycle, verb string, args ...string) error {
	if c.cli {
		_, err := t.ocpctl(ctx, "requester", append([]string{verb, c.name}, args...)...)
		return err
	}
	_, err := t.GitHub.Comment(c.pr, strings.Join(append([]string{"/ocp", verb}, args...), " "), person)
	return err
}

// ocpctl runs the program ocpctl with a token of the issuer and returns its output.
func (t *Run) ocpctl(ctx context.Context, who string, args ...string) (_ string, err error) {
	defer must.Catch(&err)
	token := must.Get(t.Token(who))
	cmd := exec.CommandContext(ctx, filepath.Join(t.Bin, "ocpctl"), args...)
	cmd.Env = []string{"HOME=" + t.Dir, "PATH=" + os.Getenv("PATH"), "OCPCTL_SERVER=" + t.PrivateURL(), "OCPCTL_TOKEN=" + token, "AWS_EC2_METADATA_DISABLED=true"}
	out, err := cmd.Output()
	var refused *exec.ExitError
	if errors.As(err, &refused) {
		err = fmt.Errorf("%w: %s", err, refused.Stderr)
	}
	must.Wrap(err, "ocpctl %s", strings.Join(args, " "))
	return string(out), nil
}
