package command_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/command"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
)

// columns are the principals of the table, in their order: of the cluster's team, admin of every team, admin of its team, auditor,
// of another team, admin of another team, with a share to see, with a share to use, without a role; then an expired token and none.
var columns = []string{"member", "admin", "lead", "auditor", "stranger", "chief", "sees", "uses", "roleless", "expired", "nobody"}

// blind are those who may not know that the cluster exists.
var blind = []string{"stranger", "chief", "roleless", "expired", "nobody"}

// act is a line somebody types.
type act struct {
	line  string
	want  string // exit codes in the columns' order; one for all
	does  bool   // where it ends with 0 something was changed, or at least written to the trail
	local bool   // the server is not asked
	gives bool   // where it ends with 0 it may print a secret: that is what it is for
}

// acts are what everybody tries: every command there is. "{cluster}" is a ready cluster of the member's team, "{approval}" what
// big-one of the same team waits for, "{link}" the member's link to a kubeconfig, and "{access}" the one that the member has.
var acts = []act{
	{line: "create aws-minimal-test --name mine", want: "0 6 0 3 0 0 3 3 3 3 3", does: true},
	{line: "create aws-minimal-test --name mine --dry-run", want: "0 6 0 3 0 0 3 3 3 3 3"},
	{line: "create aws-minimal-test --name mine --team platform", want: "0 0 0 3 6 6 3 3 3 3 3", does: true},
	{line: "create aws-minimal-test --name {name}", want: "5 6 5 3 5 5 3 3 3 3 3"},
	{line: "list", want: "0 0 0 0 0 0 0 0 3 3 3"},
	{line: "list --all --team platform", want: "0 0 0 0 0 0 0 0 3 3 3"},
	{line: "status {cluster}", want: "0 0 0 0 4 4 0 0 3 3 3"},
	{line: "wait {cluster}", want: "0 0 0 0 4 4 0 0 3 3 3"},
	{line: "explain {cluster}", want: "0 0 0 0 4 4 0 0 3 3 3"},
	{line: "timeline {cluster}", want: "0 0 0 0 4 4 0 0 3 3 3"},
	{line: "logs {cluster}", want: "0 0 0 0 4 4 0 0 3 3 3"},
	{line: "logs --job {job} {cluster}", want: "0 0 0 0 4 4 0 0 3 3 3"},
	{line: "tests {cluster}", want: "0 0 0 0 4 4 0 0 3 3 3"},
	{line: "jobs", want: "0 0 0 0 0 0 0 0 3 3 3"},
	{line: "jobs --cluster {cluster}", want: "0 0 0 0 4 4 0 0 3 3 3"},
	{line: "jobs {job}", want: "0 0 0 0 4 4 0 0 3 3 3"},
	{line: "extend {cluster} 1h", want: "0 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "hold {cluster} 1h --reason x", want: "0 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "unhold {cluster}", want: "0 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "scale-workers {cluster} --replicas 1", want: "0 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "sleep {cluster}", want: "0 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "wake {cluster}", want: "0 0 0 3 4 4 3 3 3 3 3"},    // it is awake,
	{line: "refresh {cluster}", want: "5 5 5 3 4 4 3 3 3 3 3"}, // it has no add-ons
	{line: "transfer {cluster} --team platform --owner rob", want: "0 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "transfer {cluster} --team security", want: "6 0 6 3 4 4 3 3 3 3 3", does: true},
	{line: "destroy {cluster} --yes", want: "0 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "retry {cluster} --reason x", want: "5 5 5 3 4 4 3 3 3 3 3"},
	{line: "abandon {cluster} --reason x --yes", want: "3 5 5 3 4 4 3 3 3 3 3"},

	{line: "kubeconfig {cluster}", want: "0 0 0 3 4 4 3 0 3 3 3", does: true},
	{line: "kubeconfig {cluster} --static", want: "0 0 0 3 4 4 3 0 3 3 3", does: true, gives: true},
	{line: "kubeconfig {cluster} --role admin", want: "0 0 0 3 4 4 3 3 3 3 3", does: true}, // the share is for edit
	{line: "credential {cluster} --role edit", want: "0 0 0 3 4 4 3 0 3 3 3", does: true, gives: true},
	{line: "access list {cluster}", want: "0 0 0 0 4 4 0 0 3 3 3"},
	{line: "access revoke {cluster} {access}", want: "0 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "kubeconfig {cluster} -f {home}/kubeconfig", want: "0 0 0 3 4 4 3 0 3 3 3", does: true},
	{line: "kubeconfig {cluster} --link", want: "0 0 0 3 4 4 3 0 3 3 3", does: true},
	{line: "shell {cluster} -- true", want: "0 0 0 3 4 4 3 0 3 3 3", does: true},
	{line: "open {cluster}", want: "0 0 0 3 4 4 3 0 3 3 3", does: true},
	{line: "open {cluster} --page", want: "0 0 0 0 4 4 0 0 3 3 3"},
	{line: "outputs {cluster}", want: "0 0 0 0 4 4 0 0 3 3 3", does: true},
	{line: "share {cluster} --principal saml:somebody", want: "0 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "unshare {cluster} --principal {sees}", want: "0 0 0 3 4 4 0 3 3 3 3", does: true},
	{line: "shares {cluster}", want: "0 0 0 0 4 4 0 0 3 3 3"},
	{line: "use {cluster}", want: "6 6 6 3 4 4 3 6 3 3 3"}, // people have no turns
	{line: "release {cluster}", want: "0 0 0 0 4 4 0 0 3 3 3"},
	{line: "break-glass {cluster} --reason x", want: "0 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "break-glass {cluster} --link", want: "5 5 5 3 4 4 3 3 3 3 3"},
	{line: "break-glass {cluster} --kubeconfig --reason x", want: "0 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "break-glass {cluster} --kubeconfig --link", want: "5 5 5 3 4 4 3 3 3 3 3"},
	{line: "redeem {link}", want: "0 4 4 4 4 4 4 4 4 3 3", does: true, gives: true},

	{line: "approvals", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "approvals {approval}", want: "0 0 0 0 4 4 3 3 3 3 3"},
	{line: "approvals --all --cluster {waiting}", want: "0 0 0 0 4 4 3 3 3 3 3"},
	{line: "approve {approval}", want: "3 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "approve {waiting}", want: "3 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "refuse {approval} --reason x", want: "3 0 0 3 4 4 3 3 3 3 3", does: true},
	{line: "whoami", want: "0 0 0 0 0 0 0 0 0 3 3"},
	{line: "account unlink {account}", want: "0 0 4 4 4 4 4 4 4 3 3", does: true},

	{line: "catalog profiles", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "catalog profiles aws-standard", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "account list", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "account room", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "account show none", want: "4 4 4 4 4 4 3 3 3 3 3"},
	{line: "account prove none", want: "4 4 4 4 4 4 3 3 3 3 3"},
	{line: "pool list", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "pool show none", want: "4 4 4 4 4 4 3 3 3 3 3"},
	{line: "pool advise none", want: "4 4 4 4 4 4 3 3 3 3 3"},
	{line: "pool pause none --reason x", want: "3 4 3 3 3 3 3 3 3 3 3"},
	{line: "pool resume none --reason x", want: "3 4 3 3 3 3 3 3 3 3 3"},
	{line: "pool drain none --reason x --yes", want: "3 4 3 3 3 3 3 3 3 3 3"},
	{line: "pool resize none 1 --reason x", want: "3 4 3 3 3 3 3 3 3 3 3"},
	{line: "catalog teams", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "catalog quotas", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "catalog status", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "catalog validate {catalogue}", want: "3 0 3 3 3 3 3 3 3 3 3"},
	{line: "catalog what-if {catalogue}", want: "3 0 3 3 3 3 3 3 3 3 3", does: true},
	{line: "create aws-minimal-test --name mine --dry-run --as github:maya --as-role platform_admin", want: "3 6 3 3 3 3 3 3 3 3 3"},
	{line: "report usage", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "report forecast", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "report actual", want: "4 4 4 4 4 4 3 3 3 3 3"}, // no bill was read
	{line: "report chargeback", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "report focus", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "report summary", want: "0 0 0 0 0 0 3 3 3 3 3"},
	{line: "report summary --csv failures", want: "0 0 0 0 0 0 3 3 3 3 3"},

	{line: "audit list", want: "3 0 0 0 3 0 3 3 3 3 3"},
	{line: "audit list --cluster {cluster}", want: "3 0 0 0 3 4 3 3 3 3 3"},
	{line: "audit export", want: "3 0 0 0 3 0 3 3 3 3 3"},
	{line: "audit verify", want: "3 0 3 0 3 3 3 3 3 3 3"},
	{line: "admin deliveries list", want: "3 0 3 0 3 3 3 3 3 3 3"},
	{line: "admin deliveries show {delivery}", want: "3 0 3 0 3 3 3 3 3 3 3", does: true},
	{line: "admin deliveries replay {delivery} --reason x", want: "3 0 3 3 3 3 3 3 3 3 3", does: true},
	{line: "admin findings", want: "3 0 0 0 3 0 3 3 3 3 3"},
	{line: "admin orphans approve orp_none --dry-run", want: "3 4 3 3 3 3 3 3 3 3 3"},
	{line: "admin orphans approve orp_none --reason x --yes", want: "3 4 3 3 3 3 3 3 3 3 3"},
	{line: "admin orphans exempt orp_none --reason x", want: "3 4 3 3 3 3 3 3 3 3 3"},
	{line: "admin orphans", want: "3 0 0 0 3 0 3 3 3 3 3"},
	{line: "admin orphans --csv", want: "3 0 0 0 3 0 3 3 3 3 3"},
	{line: "admin scans", want: "3 0 3 0 3 3 3 3 3 3 3"},
	{line: "admin scans scn_none", want: "3 4 3 4 3 3 3 3 3 3 3"},
	{line: "admin orphans orp_none", want: "3 4 4 4 3 4 3 3 3 3 3"},
	{line: "admin scan", want: "3 5 3 3 3 3 3 3 3 3 3"},
	{line: "admin labels acme/shop --no-wait", want: "3 0 3 3 3 3 3 3 3 3 3", does: true},
	{line: "admin labels other/thing", want: "3 4 3 3 3 3 3 3 3 3 3"},
	{line: "admin labels shop", want: "3 6 3 3 3 3 3 3 3 3 3"},
	{line: "admin brakes", want: "3 0 3 3 3 3 3 3 3 3 3"},
	{line: "admin freeze --until never --reason x", want: "3 6 3 3 3 3 3 3 3 3 3"},
	{line: "admin thaw frz_none", want: "3 4 3 3 3 3 3 3 3 3 3"},
	{line: "admin reload-catalogue", want: "3 0 3 3 3 3 3 3 3 3 3", does: true},

	{line: "login --server {server} --auth token-file --token-file {token}", want: "0 0 0 0 0 0 0 0 0 3 3"},
	{line: "login --server {server} --auth token-file --token-file {token} --no-check", want: "0", local: true},
	{line: "context list", want: "0", local: true},
	{line: "context use {context}", want: "0", local: true},
	{line: "logout {context}", want: "0", local: true},
	{line: "completion bash", want: "0", local: true},
	{line: "version", want: "0", local: true},
	{line: "action create-cluster", want: "2", local: true},  // outside an action; inside one, it types the lines above
	{line: "version --check", want: "0 0 0 0 0 0 0 0 0 0 3"}, // who has no way to sign in has chosen no server
	{line: "help", want: "0", local: true},
	{line: "audit verify --file {export}", want: "0", local: true},

	{line: "__complete status s", want: "0"},
	{line: "__complete status clu_", want: "0"},
	{line: "__complete approve a", want: "0"},
	{line: "__complete create --team p", want: "0"},
	{line: "__complete account unlink g", want: "0"},
}

// commands are all there is to type: what holds no other command.
func commands(t *testing.T) (all []string, root *cobra.Command) {
	root = command.Root(command.World{Env: func(string) string { return "" }})
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			walk(below)
		}
		if !c.HasSubCommands() {
			all = append(all, c.CommandPath())
		}
	}
	walk(root)
	require.Greater(t, len(all), 40)
	return all, root
}

func TestEveryCommandHasARow(t *testing.T) {
	all, root := commands(t)
	rows := map[string]bool{}
	for _, a := range acts {
		found, _, err := root.Find(strings.Fields(a.line))
		require.NoError(t, err, a.line)
		rows[found.CommandPath()] = true
	}
	for _, path := range all {
		require.True(t, rows[path], "no row says who may type %s", path)
	}
}

// codes are a row's exit codes, one for each column.
func (a act) codes() []string {
	if want := strings.Fields(a.want); len(want) > 1 {
		return want
	}
	return slices.Repeat([]string{a.want}, len(columns))
}

func TestEveryCommandEndsForEverybodyAsItsRowSays(t *testing.T) {
	o := newOffice(t)
	for _, a := range acts {
		want := a.codes()
		require.Len(t, want, len(columns), a.line)
		var got []string
		for _, who := range columns {
			got = append(got, o.cell(a, who))
		}
		require.Equal(t, want, got, "ocpctl %s: %v", a.line, columns)
	}
}

// next is how a refusal goes on: what to do, or whom to ask.
var next = regexp.MustCompile(`Ask |Add |Name |See |make a new one|Choose another |Load |Request |Destroy it first|choose one of|The list of|Accepted: |ocpctl (list|login|approvals)|lists your|Retry|next: `)

// records are where it is written down that something was asked and refused.
var records = []string{"audit_events", "audit_head", "cluster_requests", "request_checks", "request_keys"}

// cell types a line as one of the cast and says how it ended. What it changed is taken back.
func (o *office) cell(a act, who string) string {
	o.Helper()
	before := o.files()
	code, said := o.as(who, a.line, o.names)
	got := fmt.Sprintf("ocpctl %s by %s ended with %d: %s", a.line, who, code, said)
	o.keepsSecrets(said, got, a.gives && code == 0)
	if a.local {
		require.Zero(o, o.asked.Load(), got)
	}
	if changed := o.rows.Changed(); code == 0 {
		require.Equal(o, a.does, len(changed) > 0, "%s\nchanged: %v", got, changed)
	} else {
		require.Subset(o, records, changed, got)
		require.Regexp(o, next, said, "a refusal says what to do")
		require.Equal(o, before, o.files(), got)
	}
	if slices.Contains(blind, who) || code == 4 {
		o.seesNothing(a, who, said)
	}
	o.rows.Restore(o.rows.Changed())
	o.tidy(before)
	return fmt.Sprint(code)
}

// keepsSecrets looks for what must not be read over somebody's shoulder.
func (o *office) keepsSecrets(said, got string, given bool) {
	o.Helper()
	secrets := []string{o.names["{link}"]}
	if !given {
		secrets = append(secrets, servicetest.Password, servicetest.ClientKey, servicetest.TokenSignature)
	}
	for _, bearer := range o.bearers {
		if bearer != "" {
			secrets = append(secrets, bearer, bearer[strings.LastIndex(bearer, ".")+1:])
		}
	}
	for _, secret := range secrets {
		require.NotContains(o, said, secret, "%s", got)
		require.NotContains(o, said, base64.StdEncoding.EncodeToString([]byte(secret)), "%s", got)
	}
}

// seesNothing holds what somebody heard who may not know of the member's things against what is heard of things that are nowhere:
// word for word the same, request by request.
func (o *office) seesNothing(a act, who, said string) {
	o.Helper()
	const none = "_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT"
	for _, thing := range []struct{ name, is, isNot string }{
		{"{cluster}", o.names["{cluster}"], "clu" + none}, {"{cluster}", "shop", "pear"}, {"{waiting}", "big-one", "big-two"},
		{"{job}", o.names["{job}"], "job" + none}, {"{access}", o.names["{access}"], "acc" + none}, {"{approval}", o.names["{approval}"], "apr" + none},
		{"{link}", o.names["{link}"], strings.Repeat("x", 43)}, {"{account}", "github:maya", "github:nobody"}, {"{delivery}", "7001", "7099"},
	} {
		if !strings.Contains(a.line, thing.name) {
			continue
		}
		var heard []string
		for _, ref := range []string{thing.is, thing.isNot} {
			names := maps.Clone(o.names)
			names[thing.name] = ref
			code, said := o.as(who, a.line, names)
			heard = append(heard, fmt.Sprint(code, " ", strings.ReplaceAll(said, ref, "<it>")))
		}
		require.Equal(o, heard[1], heard[0], "ocpctl %s by %s", a.line, who)
	}
	for name, typed := range o.names { // nobody hears anything new from their own words
		if strings.Contains(a.line, name) {
			said = strings.ReplaceAll(said, typed, "")
		}
	}
	for _, theirs := range []string{o.names["{cluster}"], o.names["{job}"], o.names["{approval}"], "shop", "big-one", "maya", "Maya"} {
		if slices.Contains(blind, who) {
			require.NotContains(o, said, theirs, "ocpctl %s by %s", a.line, who)
		}
	}
}
