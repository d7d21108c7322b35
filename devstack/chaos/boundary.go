package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// The two jobs to which a boundary can belong.
const (
	creating   = "create"
	destroying = "destroy"
)

// boundary is a point between two steps of a cluster's life at which it can be held: right after one write to the cloud, at the start
// of a command, or around one call of a runner to the server or to S3.
type boundary struct {
	ID    string // its name on the command line: create@12, status:record-the-identity-after
	Job   string // creating or destroying
	Group string // its row in the table
	Text  string

	arm func(t *Run, pr int) (pin, error)
}

// pin holds one cluster at a boundary.
type pin struct {
	held    func() bool
	release func() error
	after   func() string // the write after which it is held; "" if there is none
}

// heldTool holds a stand-in program right after its n-th write to the cloud; 0: at its start.
func heldTool(command string, writes int) func(*Run, int) (pin, error) {
	return func(t *Run, pr int) (pin, error) {
		key := command + "/" + faultName(command, nameOf(pr))
		err := t.setFault(key, &installer.Fault{Pause: true, AfterWrites: writes})
		return pin{
			held:    func() bool { return t.trace.pausedAt(key) },
			release: func() error { return t.setFault(key, nil) },
			after:   func() string { return t.trace.lastWrite(key) },
		}, err
	}
}

// heldCall holds a runner's call before the server sees it or after it responded.
func heldCall(line func(*Run) *gate, what string, nth int, after bool) func(*Run, int) (pin, error) {
	return func(t *Run, pr int) (pin, error) {
		g := line(t)
		h := g.arm(call{pr: pr, what: what}, nth, after)
		return pin{
			held: func() bool {
				select {
				case <-h.held:
					return true
				default:
					return false
				}
			},
			release: sync.OnceValue(func() error { g.disarm(h); return nil }),
			after:   func() string { return "" },
		}, nil
	}
}

// surveyed is how many undisturbed lives a survey observes: steps that do not occur in the same number in all of them are no
// boundaries.
const surveyed = 3

// survey runs some clusters undisturbed and makes a boundary of every step that occurred in all of them.
func (t *Run) survey(ctx context.Context) ([]boundary, error) {
	traces, calls := make([][]event, surveyed), make([][3][]string, surveyed)
	ready := make([]int, surveyed)
	var lives errgroup.Group
	for i := range surveyed {
		lives.Go(func() (err error) {
			pr, ready1, err := t.undisturbed(ctx)
			if err != nil {
				return err
			}
			traces[i], calls[i], ready[i] = t.trace.of(nameOf(pr)), [3][]string{t.status.of(pr), t.s3.of(pr)}, ready1
			if t.hub != nil {
				calls[i][2] = t.hub.of(pr)
			}
			return nil
		})
	}
	if err := lives.Wait(); err != nil {
		return nil, err
	}
	t.trace.forget()
	out := fromTrace(fewest(traces))
	out = append(out, fromStatus(calls[0][0])...)
	stored := func(i int) []boundary { return append(fromS3(calls[i][1], ready[i]), fromHub(calls[i][2])...) }
	for _, b := range stored(0) {
		everywhere := true
		for i := 1; i < surveyed; i++ {
			everywhere = everywhere && slices.ContainsFunc(stored(i), func(other boundary) bool { return other.ID == b.ID })
		}
		if everywhere {
			out = append(out, b)
		}
	}
	return out, nil
}

// undisturbed runs one life without faults; ready is how many calls to S3 were made until the cluster was ready.
func (t *Run) undisturbed(ctx context.Context) (pr, ready int, err error) {
	defer must.Catch(&err)
	pr = must.Get(t.GitHub.Open("A life nobody disturbs", person))
	must.Do(t.GitHub.Label(pr, t.label(), person))
	must.Do(t.await(ctx, pr, "READY", t.patience(), isReady))
	ready = len(t.s3.of(pr))
	must.Do(t.destroy(pr))
	must.Do(t.await(ctx, pr, "released", t.patience(), isReleased))
	return pr, ready, sleep(ctx, 100*time.Millisecond) // the trace is read every few milliseconds
}

// fewest takes each command's events from the life with the fewest writes, because a destroyer repeats calls for what takes time.
func fewest(lives [][]event) (out []event) {
	for _, command := range []string{"ccoctl-create", "manifests", "ignition-configs", "create", "destroy", "ccoctl-delete"} {
		var best []event
		for _, life := range lives {
			own := slices.DeleteFunc(slices.Clone(life), func(e event) bool { return e.Command != command })
			if best == nil || len(own) < len(best) {
				best = own
			}
		}
		out = append(out, best...)
	}
	return out
}

// phaseOf returns the job and phase in which a stand-in command runs.
func phaseOf(command string) (job, phase string) {
	switch command {
	case "ccoctl-create":
		return creating, "claiming"
	case "manifests", "ignition-configs":
		return creating, "rendering"
	case "create":
		return creating, "installing"
	case "destroy":
		return destroying, "destroying"
	case "ccoctl-delete":
		return destroying, "ccoctl delete"
	}
	return "", ""
}

func fromTrace(events []event) []boundary {
	var out []boundary
	for _, e := range events {
		job, phase := phaseOf(e.Command)
		if job == "" || strings.HasPrefix(e.What, "end") {
			continue
		}
		b := boundary{ID: fmt.Sprintf("%s@%d", e.Command, e.Writes), Job: job, Group: phase, arm: heldTool(e.Command, e.Writes)}
		if e.What == "start" {
			if e.Command == "create" { // it begins with its preflight, which the first write follows
				continue
			}
			b.Text = "at the start of " + e.Command
		} else {
			service, action, _ := strings.Cut(e.What, ":")
			b.Text = "after " + service + " " + action
			b.Group += " " + service
		}
		out = append(out, b)
	}
	return out
}

func fromStatus(calls []string) []boundary {
	var out []boundary
	seen := map[string]bool{}
	for _, what := range calls {
		if seen[what] {
			continue
		}
		seen[what] = true
		job, rest, _ := strings.Cut(what, " ")
		for _, after := range []bool{false, true} {
			out = append(out, boundary{
				ID: "status:" + dashed(what) + side(after), Job: job, Group: statusPhase(job, rest), Text: rest + describeMoment(after),
				arm: heldCall(func(t *Run) *gate { return t.status }, what, 1, after),
			})
		}
	}
	return out
}

// statusPhase returns the phase of a job in which a call is made.
func statusPhase(job, what string) string {
	switch {
	case what == "record the ccoctl name":
		return "claiming"
	case what == "record the identity":
		return "recording"
	case what == "report the exit" && job == creating:
		return "installing"
	case what == "report the exit":
		return "destroying"
	case strings.HasPrefix(what, "report pass"):
		return "verifying"
	case what == "result" && job == creating:
		return "configuring"
	case what == "result":
		return "verifying"
	case job == creating:
		return "preflight"
	}
	return "restoring"
}

// fromS3 makes boundaries of calls that store something; ready says how many of them came before the cluster was ready. The number of
// archives at the installer's marks varies, so only the first two of each name count: those of the record.
func fromS3(calls []string, ready int) []boundary {
	var out []boundary
	count := map[string]int{}
	for i, what := range calls {
		count[what]++
		method, name, _ := strings.Cut(what, " ")
		fetched := method == "GET" && i >= ready
		if method == "GET" && !fetched || method == "PUT" && count[what] > 2 || fetched && len(out) > 0 && slices.ContainsFunc(out, func(b boundary) bool { return b.Text == "fetching "+name+describeMoment(true) }) {
			continue
		}
		job, group, verb := creating, "configuring", "storing "
		switch {
		case fetched:
			job, group, verb = destroying, "restoring", "fetching "
		case i >= ready:
			job, group = destroying, "verifying"
		case strings.HasSuffix(name, ".tar.zst"), strings.HasSuffix(name, "manifest.json"):
			if group = "recording"; count[what] > 1 {
				group = "installing"
			}
		}
		for _, after := range []bool{false, true} {
			out = append(out, boundary{
				ID: fmt.Sprintf("s3:%s#%d%s", dashed(what), count[what], side(after)), Job: job, Group: group, Text: verb + name + describeMoment(after),
				arm: heldCall(func(t *Run) *gate { return t.s3 }, what, count[what], after),
			})
		}
	}
	return out
}

func dashed(s string) string { return strings.ReplaceAll(strings.ToLower(s), " ", "-") }

func side(after bool) string {
	if after {
		return "-after"
	}
	return "-before"
}

func describeMoment(after bool) string {
	if after {
		return ": done, and the answer not heard"
	}
	return ": on its way, and not done"
}
