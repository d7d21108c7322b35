package command_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

func TestWhatTheCommandLineCannotSayEndsWithTwo(t *testing.T) {
	for line, text := range map[string]string{
		"lst":                                       `"lst" is not a command of ocpctl. Did you mean list?`,
		"creat --name x":                            `"creat" is not a command of ocpctl. Did you mean create?`,
		"access revok a b":                          `"revok" is not a command of ocpctl access. Did you mean revoke?`,
		"catalog foo":                               `"foo" is not a command of ocpctl catalog.`,
		"list --bogus":                              "unknown flag: --bogus",
		"list -o xml":                               `--output: "xml" is not supported. Accepted: json, yaml, name, wide, field=NAME, e.g. field=destroyAt.`,
		"list --limit -1":                           "0 shows all",
		"status":                                    "no cluster given. Give its name or id: ocpctl status CLUSTER",
		"status a b":                                `unexpected argument "b"`,
		"status --cluster-id a b":                   `unexpected argument "b"`,
		"create":                                    "--name: Required.",
		"create --name x --ttl soon":                `"soon" is not a duration. Give 90m, 4h, 1h30m, 2d, or a number of hours`,
		"create --name x --ttl never":               "every cluster has an end",
		"create --name x --tag y":                   `--tag: "y" is not a tag. Accepted: key=value.`,
		"create --name x --ssh-key /nowhere":        "--ssh-key: It cannot be read: no such file or directory.",
		"create --name x --timeout soon --wait":     `"soon" is not a duration above zero. Give 90m`,
		"create --name x --timeout 0s --wait":       `"0s" is not a duration above zero`,
		"extend a":                                  "no duration given. Give 90m, 4h",
		"extend a 4h --until 2025-03-02":            "give a duration or --until, not both",
		"extend a --until tomorrow":                 `"tomorrow" is not a time`,
		"hold a 4h":                                 "--reason: Required.",
		"share a":                                   "--team or --with: Required. Accepted: one of the two.",
		"share a --team b --access all":             `--access: "all" is not an access right. Accepted: see, use.`,
		"share a --team b --role root":              `--role: "root" is not a role. Accepted: view, edit, admin.`,
		"share a --team b --access see --role view": "--role: Who only sees the cluster has no role in it. Accepted: --access use.",
		"access revoke":                             "no cluster given. Give its name or id: ocpctl access revoke CLUSTER [ACCESS]",
		"transfer a":                                "--team: Required.",
		"scale-workers a":                           "--replicas: Required.",
		"scale-workers a --replicas -1":             "--replicas: -1 is negative.",
		"logs a --lines 9999":                       "--lines must be 0 to 5000",
		"wait a --for=done":                         "Accepted: ready, destroyed, scaled, refreshed, asleep.",
		"abandon a --reason  ":                      "flag needs an argument",
		"refuse a":                                  "--reason: Required.",
		"break-glass a":                             "--reason: Required.",
		"kubeconfig a --keep-context":               "--keep-context needs --merge",
		"kubeconfig a --print --merge":              "none of the others can be",
		"kubeconfig a --output json":                `takes a file to write, and "json" is an output format`,
		"redeem https://x/links/":                   "this is not a one-time link",
		"redeem https://other.example.com/links/a":  "the link is for other.example.com, but the server is",
		"catalog validate /nowhere":                 "/nowhere is not a catalogue",
		"report usage --from x --to y":              `--from: "x" is not a time`,
		"report summary --csv users":                `--csv: "users" is not a table`,
		"report summary --csv leaks -o json":        "It cannot be combined with --csv.",
		"audit verify --part":                       "--part and --head need --file",
		"audit verify --file - --head 7":            `--head "7" is not a head`,
		"completion tcsh":                           "Accepted: bash, zsh, fish, powershell.",
		"login --server http://ocpctl.example.com --auth magic": "--auth: \"magic\" is not a sign-in method.",
		"--context dev list": `"dev" does not exist`,
	} {
		t.Run(line, func(t *testing.T) {
			d := newService(t)
			if strings.HasPrefix(line, "--context") {
				delete(d.env, "OCPCTL_SERVER")
			}
			require.Equal(t, exit.Usage, d.run(strings.Fields(line)...), d.err.String())
			require.Contains(t, d.err.String(), text)
			require.Empty(t, d.out.String())
			require.Empty(t, d.Asked(), "the server is not asked")
		})
	}
}

func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
	d := newService(t)
	require.Equal(t, exit.Usage, d.run("create", "--ttl", "0", "--tag", "x", "--ssh-key", "/nowhere"))
	for _, field := range []string{"--ttl", "--tag", "--ssh-key", "--name"} {
		require.Contains(t, d.err.String(), "\n  "+field+": ")
	}
}

func TestWhatTheServerSaysBecomesACode(t *testing.T) {
	for status, code := range map[int]exit.Code{400: 2, 401: 3, 403: 3, 404: 4, 409: 5, 412: 5, 422: 6, 500: 1} {
		d := newService(t)
		d.Refuse("createCluster", status, map[string]any{"title": http.StatusText(status), "status": status, "detail": "It is refused.", "errors": []any{
			map[string]any{"field": "region", "detail": "mars is not on the profile's list.", "accepted": []string{"us-east-1", "eu-west-1"}},
			map[string]any{"field": "ttl", "detail": "300 is above the profile's maximum.", "accepted": []string{"1 to 72"}},
		}})
		require.Equal(t, code, d.run("create", "--name", "x"), status)
		require.Contains(t, d.err.String(), "ocpctl: It is refused.\n  region: mars is not on the profile's list. Accepted: us-east-1, eu-west-1.\n  ttl: 300")
		require.NotContains(t, d.err.String(), "--idempotency-key", "the server answered; nothing is in doubt")
	}
}

func TestNobodyWhoIsNotSignedInIsLeftAlone(t *testing.T) {
	d := newService(t)
	delete(d.env, "OCPCTL_TOKEN")
	require.Equal(t, exit.Denied, d.run("list"))
	require.Contains(t, d.err.String(), "run ocpctl login --server "+d.URL+", or set OCPCTL_TOKEN or OCPCTL_TOKEN_FILE, or OCPCTL_AUTH=aws")
	delete(d.env, "OCPCTL_SERVER")
	require.Equal(t, exit.Denied, d.run("list"))
	require.Contains(t, d.err.String(), "ocpctl login --server https://…, or set OCPCTL_SERVER")
	d.env["OCPCTL_SERVER"], d.env["OCPCTL_TOKEN"] = d.URL, "an-old-token"
	require.Equal(t, exit.Denied, d.run("list"))
	require.NotContains(t, d.err.String(), "an-old-token")
	require.Contains(t, d.err.String(), "or choose another way with ocpctl login")
}

func TestReleasesThatDoNotWorkTogetherSaySo(t *testing.T) {
	d := newService(t)
	d.Release("v3.1.0", "v2.0.0")
	require.Equal(t, exit.Other, d.run("version", "--check"))
	require.Contains(t, d.err.String(), "this is ocpctl v1.2.3, but the server is v3.1.0 and needs ocpctl v2.0.0 or later. Update ocpctl")
	d.Release("v0.9.0", "v0.1.0")
	require.Equal(t, exit.Other, d.run("version", "--check"))
	require.Contains(t, d.err.String(), "the server is v0.9.0, but this ocpctl (v1.2.3) needs a server of v1.0.0 or later. Use ocpctl v0.9.0")
	d.Release("", "") // from before a server said so
	require.Equal(t, exit.OK, d.run("version", "--check"))
	require.Contains(t, d.out.String(), "an older one, which does not say its version")
}

func TestADryRunThatIsRefusedEndsWithSix(t *testing.T) {
	d := newService(t)
	d.Answer("dryRun", map[string]any{"allowed": false, "message": "It would be refused.", "checks": []any{
		map[string]any{"name": "quota", "result": "fail", "message": "you have 3 of 3", "next": "Destroy one."}}})
	require.Equal(t, exit.Refused, d.run("create", "--name", "x", "--dry-run"))
	require.Contains(t, d.out.String(), "✗ quota: you have 3 of 3\n      next: Destroy one.\n")
	require.NotContains(t, d.out.String(), "$0.00", "there is no price of what is not had")
	require.Empty(t, d.err.String(), "it was said already")
}

func TestAQuestionAboutSomebodyElseIsADryRun(t *testing.T) {
	d := newService(t)
	require.Equal(t, exit.Usage, d.run("create", "--name", "x", "--as", "maya"))
	require.Contains(t, d.err.String(), "give --dry-run with it")
	require.Equal(t, exit.Usage, d.run("create", "--name", "x", "--dry-run", "--fork"))
	require.Contains(t, d.err.String(), "give --as PERSON")
}

func TestWhatAPartOfACheckSaysIsSaidOnce(t *testing.T) {
	d := newService(t)
	full := map[string]any{"name": "team live", "result": "fail", "message": "You have 3 of 3.", "next": "Destroy one."}
	d.Answer("dryRun", map[string]any{"allowed": false, "message": "Refused.", "checks": []any{
		map[string]any{"name": "quota", "result": "fail", "message": "You have 3 of 3.", "next": "Destroy one.", "summarizes": true, "checks": []any{full}}}})
	require.Equal(t, exit.Refused, d.run("create", "--name", "x", "--dry-run"))
	require.Contains(t, d.out.String(), "  ✗ quota\n    ✗ team live: You have 3 of 3.\n        next: Destroy one.\n")
}

func TestACreateThatNobodyAnsweredCanBeAskedAgain(t *testing.T) {
	d := newService(t)
	d.Handle("createCluster", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		require.NoError(t, err)
		conn.Close()
	})
	require.Equal(t, exit.Other, d.run("create", "--name", "x"))
	require.Contains(t, d.err.String(), "Repeat the command with --idempotency-key 6f1e6f0e-3b1c-4c55-9d53-0d2c8c4f2f11 to avoid a second cluster")
	asked := d.Asked()
	require.Len(t, asked, 6)
	for _, a := range asked {
		require.Equal(t, "6f1e6f0e-3b1c-4c55-9d53-0d2c8c4f2f11", a.Header.Get("Idempotency-Key"), "each try carries the one key")
	}
}

func TestAWaitThatEndsBadlyPrintsTheClusterToo(t *testing.T) {
	failed := map[string]any{"status": "FAILED", "phase": "create_failed", "failReason": "VPCLimitExceeded", "failMessage": "there are 5 of 5 VPCs", "failWhose": "quota"}
	d := newService(t)
	d.change("getCluster", failed)
	require.Equal(t, exit.Failed, d.run("wait", "team-a-smoke-01"))
	require.Contains(t, d.out.String(), "team-a-smoke-01  FAILED create failed\n")
	require.Contains(t, d.err.String(), "team-a-smoke-01 will not be ready: VPCLimitExceeded.\nSee: ocpctl explain clu_")
	require.Equal(t, 1, strings.Count(d.out.String()+d.err.String(), "there are 5 of 5 VPCs"), "a failure is written in full once")
	require.Equal(t, exit.Failed, d.run("create", "--name", "x", "--wait", "-o", "json"))
	require.Contains(t, d.err.String(), "team-a-smoke-01 will not be ready: there are 5 of 5 VPCs")
	require.Contains(t, d.out.String(), `"idempotencyKey": "6f1e6f0e`)

	d = newService(t)
	d.change("getCluster", map[string]any{"status": "CREATING", "phase": "installing"})
	require.Equal(t, exit.TimedOut, d.run("wait", "team-a-smoke-01", "--timeout", "1ms"))
	require.Contains(t, d.out.String(), "CREATING installing")
	require.Contains(t, d.err.String(), "keep waiting with: ocpctl wait team-a-smoke-01 --for=ready")
}

func TestAScalingThatWasGivenUpEndsWithEight(t *testing.T) {
	d := newService(t)
	d.change("getJob", map[string]any{"status": "FAILED", "type": "SCALE_WORKERS", "errorCode": "MachinesStuck", "errorMessage": "no machine came up"})
	require.Equal(t, exit.Failed, d.run("scale", "team-a-smoke-01", "--replicas", "5", "--wait"))
	require.Contains(t, d.err.String(), "the workers were not scaled: no machine came up (MachinesStuck)")
	d.change("getJob", map[string]any{"status": "FAILED", "type": "CONFIGURE", "errorCode": "AddonsMissing", "errorMessage": "cert-manager never came up"})
	require.Equal(t, exit.Failed, d.run("refresh", "team-a-smoke-01", "--wait"))
	require.Contains(t, d.err.String(), "not all add-ons were installed: cert-manager never came up (AddonsMissing)")

	d.Asked()
	d.err.reset()
	require.Equal(t, exit.Failed, d.run("wait", "team-a-smoke-01", "--for=refreshed"))
	require.Contains(t, d.err.String(), "not all add-ons were installed: cert-manager never came up (AddonsMissing)")
	require.Contains(t, d.out.String(), "team-a-smoke-01  READY")
	for _, asked := range d.Asked() {
		require.True(t, asked.Operation != "listJobs" || strings.Contains(asked.Path, "type=CONFIGURE"), asked.Path)
	}
	require.Equal(t, exit.Failed, d.run("wait", "team-a-smoke-01", "--for=scaled"))
	require.Equal(t, exit.OK, d.run("wait", "team-a-smoke-01"), "its first job is another one")
	d.Answer("listJobs", map[string]any{"items": []any{}})
	require.Equal(t, exit.OK, d.run("wait", "team-a-smoke-01", "--for=scaled"), "it was never scaled")
}

func TestABrokenOffWaitLeavesTheClusterAlone(t *testing.T) {
	d := newService(t)
	d.change("getCluster", map[string]any{"status": "CREATING", "phase": "installing"})
	ctx, cancel := context.WithCancel(context.Background())
	inner := d.world.Now
	d.world.Now = func() time.Time { // the first line of progress asks for the time
		if strings.Contains(d.out.String()+d.err.String(), "accepted") {
			cancel()
		}
		return inner()
	}
	require.Equal(t, exit.Interrupted, d.runIn(ctx, "create", "--name", "team-a-smoke-01", "--wait"))
	require.Contains(t, d.err.String(), "Stopped waiting; team-a-smoke-01 continues. Wait again with: ocpctl wait team-a-smoke-01 --for=ready")
	for _, a := range d.Asked() {
		require.Contains(t, []string{"createCluster", "watchClusters", "getCluster"}, a.Operation)
	}
}

func TestTheTrailIsVerifiedOffline(t *testing.T) {
	d := newService(t)
	d.env = map[string]string{"HOME": t.TempDir()}
	whole := filepath.Join("testdata", "trail.ndjson")
	require.Equal(t, exit.OK, d.run("audit", "verify", "--file", whole), d.err.String()+d.out.String())
	require.Contains(t, d.out.String(), "The audit trail is intact.")
	require.Empty(t, d.Asked(), "no server is needed")

	raw, err := os.ReadFile(whole)
	require.NoError(t, err)
	d.in = strings.Replace(string(raw), `"actor":"maya"`, `"actor":"will"`, 1)
	require.Equal(t, exit.Other, d.run("audit", "verify", "--file", "-", "-o", "json"))
	require.Contains(t, d.out.String(), `"kind": "changed"`)
	lines := strings.SplitAfter(string(raw), "\n")
	d.in = strings.Join(lines[1:], "")
	require.Equal(t, exit.Other, d.run("audit", "verify", "--file", "-"))
	require.Equal(t, exit.OK, d.run("audit", "verify", "--file", "-", "--part"))
	d.in = lines[0]
	head := "3:" + strings.Split(strings.Split(lines[2], `"hash":"`)[1], `"`)[0]
	require.Equal(t, exit.Other, d.run("audit", "verify", "--file", "-", "--head", head))
	require.Contains(t, d.out.String(), "cut")
}

func TestAClusterThatIsGoneIsDestroyedAndWaitedForWithoutAnError(t *testing.T) {
	d := newService(t)
	d.change("getCluster", map[string]any{"status": "DESTROYED", "phase": "released", "desired": "absent", "releasedAt": "2025-03-01T11:00:00Z"})
	for _, line := range []string{"destroy team-a-smoke-01", "destroy team-a-smoke-01 --wait", "wait team-a-smoke-01 --for=destroyed"} {
		require.Equal(t, exit.OK, d.run(strings.Fields(line)...), "%s: %s", line, d.err.String())
		require.Contains(t, d.out.String()+d.err.String(), "gone since", line)
		require.Contains(t, d.out.String()+d.err.String(), "2025-03-01 11:00", line)
		require.NotContains(t, d.out.String()+d.err.String(), "will be", line)
	}
}

func TestATurnIsWaitedForWhileTheServerIsAway(t *testing.T) {
	d := newService(t)
	times := 0
	d.Handle("getUse", func(w http.ResponseWriter, _ *http.Request) {
		if times++; times < 3 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id": "use_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT", "clusterId": "clu_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT", "state": "granted", "askedAt": "2025-03-01T11:50:00Z"}`)
	})
	require.Equal(t, exit.OK, d.run("use", "team-a-smoke-01", "--wait"), d.err.String())
	require.Equal(t, 3, times)
	require.Equal(t, 1, strings.Count(d.err.String(), "The server cannot be reached; retrying."))
}
