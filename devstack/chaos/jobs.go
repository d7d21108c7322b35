package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/kubernetes"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// podPID returns the process id, on this machine, of the runner in an attempt's pod.
func (t *Run) podPID(attempt string) (int, error) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, dir := range dirs {
		raw, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue // it has ended
		}
		args := strings.Split(string(raw), "\x00")
		at := slices.Index(args, "--attempt")
		if filepath.Base(args[0]) != "ocpctl-runner" || at < 0 || at+1 >= len(args) || args[at+1] != attempt {
			continue
		}
		var pid int
		_, err = fmt.Sscanf(filepath.Base(dir), "%d", &pid)
		return pid, err
	}
	return 0, fmt.Errorf("find the runner of %s: no pod of it runs here", attempt)
}

// forgotten removes what is left of all runners, as the server does an hour after the end of each, and waits until no object of them is
// left in the API: every Job, pod and secret must go with its attempt.
func (t *Run) forgotten(ctx context.Context) (err error) {
	defer must.Catch(&err)
	runners := must.Get(t.Dispatcher())
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		kept := must.Get(runners.Kept(ctx))
		var refused error
		for _, attempt := range kept {
			if err := runners.Forget(ctx, attempt); err != nil {
				refused = err // its pod may still be ending
			}
		}
		left := must.Get(t.objects(ctx))
		if len(left) == 0 {
			return nil
		}
		if err := sleep(ctx, glance); err != nil {
			return errors.Join(fmt.Errorf("%d objects of runners are left in Kubernetes, the first is %s", len(left), left[0]), refused)
		}
	}
}

// objects lists the runners' Jobs, pods and secrets.
func (t *Run) objects(ctx context.Context) (names []string, err error) {
	for _, path := range []string{"/apis/batch/v1/namespaces/%s/jobs", "/api/v1/namespaces/%s/pods", "/api/v1/namespaces/%s/secrets"} {
		path = fmt.Sprintf(path, kubernetes.Namespace)
		var list struct {
			Items []struct{ Metadata struct{ Name string } }
		}
		if err := t.Kube.Admin(ctx, "GET", path+"?labelSelector=ocpctl/attempt-id", nil, &list); err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			names = append(names, filepath.Base(path)+"/"+item.Metadata.Name)
		}
	}
	return names, nil
}

// printCalls prints how many calls of the Kubernetes API the servers made for each attempt, and pods' start times.
func (t *Run) printCalls(ctx context.Context) (err error) {
	defer must.Catch(&err)
	calls := must.Get(t.apiCalls())
	var attempts, total int
	must.Wrap(t.pool.QueryRow(ctx, "SELECT count(*) FROM attempts").Scan(&attempts), "count attempts")
	var parts []string
	for _, call := range slices.Sorted(maps.Keys(calls)) {
		total += calls[call]
		parts = append(parts, fmt.Sprintf("%s %.1f", call, float64(calls[call])/float64(max(attempts, 1))))
	}
	t.say("Kubernetes API: %d attempts, %.1f calls each: %s", attempts, float64(total)/float64(max(attempts, 1)), strings.Join(parts, ", "))
	return nil
}

// apiCalls counts the servers' calls by verb and resource, as the API server logged them.
func (t *Run) apiCalls() (_ map[string]int, err error) {
	defer must.Catch(&err)
	files := must.Get(filepath.Glob(filepath.Join(t.Dir, "kubernetes", "audit*.log")))
	calls := map[string]int{}
	for _, name := range files {
		file := must.Get(os.Open(name))
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e struct {
				Stage, Verb string
				User        struct{ Username string }
				ObjectRef   struct{ Resource string }
			}
			if json.Unmarshal(lines.Bytes(), &e) == nil && e.Stage == "ResponseComplete" && strings.HasSuffix(e.User.Username, ":ocpctl-server") {
				calls[e.Verb+" "+e.ObjectRef.Resource]++
			}
		}
		_ = file.Close() // it was only read
		must.Wrap(lines.Err(), "read %s", name)
	}
	return calls, nil
}
