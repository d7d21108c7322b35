package attack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// configAttacks use the file .github/ocpctl.yaml, as somebody who may push to the base branch, and as anybody who opens a pull
// request that changes it. They are played in the demo's second repository, whose base branch is theirs.
func configAttacks() []attack {
	return []attack{
		{name: "config/bombs", who: "writer of a repository", tried: "a file of 1 MB, aliases that grow, deep nesting, keys twice, on the base branch", short: true, play: bombsOnBase},
		{name: "config/bombs-in-fork", who: "author of a fork", tried: "the same files in a pull request, which the check reads", play: bombsInFork},
		{name: "config/head", who: "author of a pull request", tried: "a file in the pull request that allows what the base branch's does not", play: fileOfTheHead},
		{name: "config/add-ons", who: "writer of a repository", tried: "manifests, parameters, paths and addresses in the file's add-ons", play: addonsByFile},
	}
}

const configPath = ".github/ocpctl.yaml"

// bombs are files that cost more than their size suggests, or that parsers interpret differently.
func bombs() map[string]string {
	laughs := "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
	for i := 1; i < 10; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	merges := "base: &m0 {ttl: 1h}\n"
	for i := 1; i < 60; i++ {
		merges += fmt.Sprintf("m%d: &m%d\n  <<: [*m%d, *m%d]\n", i, i, i-1, i-1)
	}
	return map[string]string{
		"1 MB of comments": "version: 1\n" + strings.Repeat("# "+strings.Repeat("x", 98)+"\n", 10_400), "1 MB in one value": "defaultProfile: " + strings.Repeat("a", 1<<20) + "\n",
		"1 MB of keys": manyKeys(60_000), "aliases that grow": laughs + "profiles: *a9\n", "aliases within 64 KiB": laughs + strings.Repeat("# "+strings.Repeat("x", 98)+"\n", 600) + "profiles: *a9\n",
		"merges that grow": merges + "<<: *m59\n", "an alias of itself": "profiles: &p [*p]\n", "deep lists": "profiles: " + strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000) + "\n",
		"deep objects": "notify: " + strings.Repeat("{a: ", 15_000) + strings.Repeat("}", 15_000) + "\n", "deep indents": deepIndents(350), "a key twice": "version: 1\nttl: 8h\nttl: 900h\n",
		"a key in two spellings": "ttl: 8h\n\"ttl\": 900h\n", "two documents": "version: 1\n---\nttl: 900h\n", "a tag": "version: 1\nttl: !!binary OTAwaA==\n", "a NUL": "version: 1\nttl: 9\x0000h\n",
		"no UTF-8": "version: 1\nttl: \xff\xfe\n", "UTF-16": "\xfe\xff\x00v\x00:\x00 \x001", "10,000 documents": strings.Repeat("---\nversion: 1\n", 4000), "a long line of quotes": "ttl: " + strings.Repeat("'", 60_000) + "\n",
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%06d: 1234567\n", i)
	}
	return b.String()
}

func deepIndents(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s- a:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

// cost is what the server used during an action.
type cost struct {
	cpu    time.Duration
	memory int // growth of its peak memory in MiB
}

// mostCost is the most that one file may cost the server: reading 64 KiB takes milliseconds.
var mostCost = cost{cpu: 1500 * time.Millisecond, memory: 200}

var peak = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// memory returns the server's peak memory, in MiB.
func (t *target) memory() (int, error) { return memoryOf(t.ServerPID()) }

// memoryOf returns a process's peak memory, in MiB.
func memoryOf(pid int) (_ int, err error) {
	defer must.Catch(&err)
	raw := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))
	found := peak.FindSubmatch(raw)
	must.FailIf(found == nil, "the kernel does not tell the memory of a process that ended")
	kilobytes, err := strconv.Atoi(string(found[1]))
	return kilobytes >> 10, err
}

// costs runs an action and returns what it cost the server.
func (t *target) costs(do func() error) (c cost, err error) {
	defer must.Catch(&err)
	before := must.Get(t.cpu())
	was := must.Get(t.memory())
	must.Do(do())
	after := must.Get(t.cpu())
	now, err := t.memory()
	return cost{after - before, now - was}, err
}

func (c cost) tooMuch() bool { return c.cpu > mostCost.cpu || c.memory > mostCost.memory }

// requestCluster labels a new pull request of the second repository and reports whether a cluster was created.
func (t *target) requestCluster(ctx context.Context, title string) (pr int, cluster bool, err error) {
	defer must.Catch(&err)
	there := t.GitHub.In(github.SecondRepo)
	pr = must.Get(there.Open(title, "maya"))
	must.Do(there.Label(pr, "ocp/"+smallProfile, "maya"))
	must.Do(t.settled(ctx))
	n, err := t.count(ctx, "SELECT count(*) FROM clusters WHERE repo = $1 AND pr_number = $2", github.SecondRepo, pr)
	return pr, n > 0, errors.Join(err, there.Close(pr, "maya"))
}

func bombsOnBase(ctx context.Context, t *target) (result, error) {
	there := t.GitHub.In(github.SecondRepo)
	var most cost
	tried := 0
	for what, content := range bombs() {
		must.Do(there.Commit(configPath, content))
		var cluster bool
		c, err := t.costs(func() (err error) { _, cluster, err = t.requestCluster(ctx, "With "+what); return err })
		must.Wrap(err, "%s", what)
		throughIf(cluster, "the file with %s was taken, and a cluster came", what)
		throughIf(c.tooMuch(), "the file with %s cost the server %s of processor time and %d MiB", what, c.cpu, c.memory)
		most, tried = cost{max(most.cpu, c.cpu), max(most.memory, c.memory)}, tried+1
	}
	must.Do(there.Commit(configPath, "version: 1\n"))
	_, cluster, err := t.requestCluster(ctx, "With a file in order")
	must.FailIf(err != nil || !cluster, "with a file in order there is no cluster either, so nothing was tried: %w", err)
	return held("%d files, all refused; the dearest cost %s of processor time, and memory grew by %d MiB at most", tried, most.cpu, most.memory)
}

func bombsInFork(ctx context.Context, t *target) (result, error) {
	there := t.GitHub.In(github.SecondRepo)
	pr := must.Get(there.OpenFork("Changes the file", "outsider"))
	var most cost
	tried := 0
	for what, content := range bombs() {
		c, err := t.costs(func() error {
			return errors.Join(there.PushFile(pr, configPath, content, "outsider"), t.settled(ctx))
		})
		must.Wrap(err, "%s", what)
		throughIf(c.tooMuch(), "the file with %s cost the server %s of processor time and %d MiB", what, c.cpu, c.memory)
		request, _ := there.PullRequest(pr)
		for _, check := range there.ChecksOf(request.HeadSHA) {
			throughIf(check.Conclusion == "success", "the check of the file with %s succeeded", what)
			if live := liveMarkdown(check.Summary + check.Text); live != "" {
				return through("the check of the file with %s holds %q", what, live)
			}
		}
		most, tried = cost{max(most.cpu, c.cpu), max(most.memory, c.memory)}, tried+1
	}
	alive, err := t.nobody().ask(ctx, "GET", "/healthz", nil)
	throughIf(err != nil || alive.status != 200, "the server does not answer any more: %v", err)
	return held("%d files; the dearest cost %s of processor time, and memory grew by %d MiB at most", tried, most.cpu, most.memory)
}

func fileOfTheHead(ctx context.Context, t *target) (result, error) {
	there := t.GitHub.In(github.SecondRepo)
	must.Do(there.Commit(configPath, "version: 1\nprofiles: [aws-standard]\nforks: deny\n"))
	pr := must.Get(there.Open("Allows itself more", "maya"))
	must.Do(there.PushFile(pr, configPath, "version: 1\nprofiles: [\"*\"]\nforks: approve\nttl: 720h\n", "maya"))
	must.Do(t.settled(ctx))
	must.Do(there.Label(pr, "ocp/"+smallProfile, "maya"))
	must.Do(t.settled(ctx))
	n, err := t.count(ctx, "SELECT count(*) FROM clusters WHERE repo = $1 AND pr_number = $2", github.SecondRepo, pr)
	must.Do(errors.Join(err, there.Close(pr, "maya"), there.Commit(configPath, "version: 1\n")))
	throughIf(n > 0, "the pull request's own file was believed, and there is a cluster")
	return held("the base branch's file counted, and there is no cluster")
}

func addonsByFile(ctx context.Context, t *target) (result, error) {
	there := t.GitHub.In(github.SecondRepo)
	tried := 0
	for what, value := range map[string]string{
		"a path": `["../../../../etc/passwd"]`, "an address": `["https://evil.example/a.yaml"]`, "a template": `["{{.Secret}}"]`, "a file of the catalogue": `["cert-manager.yaml"]`,
		"an object": `[{name: cert-manager, manifests: [{apiVersion: v1, kind: Secret}]}]`, "parameters": `[{name: cert-manager, parameters: {image: evil.example/x}}]`, "a mapping": `{cert-manager: {image: evil.example/x}}`,
		"one twice": `[cert-manager, cert-manager]`, "many": "[" + strings.TrimSuffix(strings.Repeat("cert-manager, ", 50), ", ") + "]", "upper case": `[CERT-MANAGER]`, "a glob": `["*"]`, "nothing": `[""]`, "a number": `[1]`, "a null": `[~]`,
	} {
		must.Do(there.Commit(configPath, "version: 1\naddons: "+value+"\n"))
		_, cluster, err := t.requestCluster(ctx, "Add-ons by "+what)
		must.Wrap(err, "%s", what)
		if tried++; cluster {
			return through("add-ons given by %s brought a cluster", what)
		}
	}
	must.Do(there.Commit(configPath, "version: 1\n"))
	return held("%d ways to say what add-ons are, none of them taken", tried)
}
