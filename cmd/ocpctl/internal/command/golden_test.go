package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/command"
)

func compact(into *bytes.Buffer, raw []byte) error { return json.Compact(into, raw) }

// trail is a whole audit trail of two lines.
const trail = `{"seq":1,"at":"2025-03-01T10:00:00Z","actor":"maya","action":"accepted","metadata":"{}","previous":"0000000000000000000000000000000000000000000000000000000000000000","hash":"HASH1"}
`

// typed are the lines that people type: each is run for people, and as JSON where it answers with something.
var typed = map[string][]string{
	"create":      {"create aws-minimal-test --name team-a-smoke-01 --ttl 2d --owner team-a --cost-center cc-1234 --environment test --region us-east-1 --version 4.20.3 --base-domain labs.example.com --team team-a --tag RequestSource=cli"},
	"create-run":  {"create --name team-a-smoke-01 --reuse run --slot e2e --run-name e2e-7xk2p --run-uid 6a1b2c3d-0000-4000-8000-000000000003 -o field=clusterId", "create --run-kind Job"},
	"dry-run":     {"create --name team-a-smoke-01 --ttl 48h --dry-run"},
	"what-if":     {"create aws-minimal-test --dry-run --as maya --as-role requester --team platform --workers 2"},
	"create-wait": {"create --name team-a-smoke-01 --wait"},
	"list":        {"list", "list -o wide", "list -o name", "list --all --status ready --team team-a --limit 2", "list -o yaml", "list -o field=items.name", "list -o field=name"},
	"status":      {"status team-a-smoke-01", "status team-a-smoke-01 -o field=destroyAt", "get --cluster-id " + cluster, "status team-a-smoke-01 -o wide"},
	"wait":        {"wait team-a-smoke-01"},
	"explain":     {"explain team-a-smoke-01"},
	"timeline":    {"timeline team-a-smoke-01"},
	"logs":        {"logs team-a-smoke-01 --lines 0", "logs team-a-smoke-01 -f"},
	"jobs":        {"jobs --status FAILED", "jobs job_01J9ZQ0M7V3N6WZ6M4C8Q2K5RV"},
	"tests":       {"tests team-a-smoke-01", "tests team-a-smoke-01 -o wide"},
	"extend":      {"extend team-a-smoke-01 4h", "extend --cluster-id " + cluster + " --until 2025-03-02T14:00:00Z"},
	"hold":        {"hold team-a-smoke-01 8h --reason debugging", "unhold team-a-smoke-01"},
	"scale":       {"scale-workers team-a-smoke-01 --replicas 3", "scale-workers --cluster-id " + cluster + " --replicas 0 --wait"},
	"sleep":       {"sleep team-a-smoke-01 --for 12h --reason weekend"},
	"wake":        {"wake team-a-smoke-01 --wait"},
	"refresh":     {"refresh team-a-smoke-01", "refresh --cluster-id " + cluster + " --wait"},
	"transfer":    {"transfer team-a-smoke-01 --team payments --owner ana --reason handover"},
	"destroy":     {"destroy team-a-smoke-01 --reason done", "delete --cluster-id " + cluster},
	"retry":       {"retry pr41-shop --reason freed", "abandon pr41-shop --reason INC-1234"},
	"kubeconfig":  {"kubeconfig team-a-smoke-01", "kubeconfig team-a-smoke-01 --role view --lifetime 1h --renew --static", "kubeconfig team-a-smoke-01 --link --role edit", "credential team-a-smoke-01 --role view"},
	"access":      {"access list team-a-smoke-01", "access list team-a-smoke-01 -o wide", "access revoke team-a-smoke-01 acc_01J9ZQ0M7V3N6WZ6M4C8Q2K5S4 --reason lost"},
	"open":        {"open team-a-smoke-01", "open team-a-smoke-01 --page"},
	"outputs":     {"outputs team-a-smoke-01"},
	"share":       {"share team-a-smoke-01 --team payments --access use", "share team-a-smoke-01 --team payments --role view", "unshare team-a-smoke-01 --principal https://issuer.example.com#ana", "shares team-a-smoke-01"},
	"use": {"use team-a-smoke-01", "use team-a-smoke-01 --wait", "release team-a-smoke-01", "release team-a-smoke-01 --use use_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT",
		"use team-a-smoke-01 --run-name e2e-7xk2p --run-uid 6a1b2c3d-0000-4000-8000-000000000003 -o name", "release team-a-smoke-01 --run-name e2e-7xk2p --run-uid 6a1b2c3d-0000-4000-8000-000000000003 -o name",
		"use team-a-smoke-01 --run-name e2e-7xk2p -o name"},
	"break-glass": {"break-glass pr41-shop --reason INC-1234", "break-glass pr41-shop --link", "break-glass pr41-shop --kubeconfig --reason INC-1234", "break-glass pr41-shop --kubeconfig --link", "redeem https://ocpctl.example.com/links/cXV1eHF1dXg"},
	"approvals":   {"approvals", "approvals apr_01J9ZQ0M7V3N6WZ6M4C8Q2K5RW", "approvals team-a-smoke-01", "approve apr_01J9ZQ0M7V3N6WZ6M4C8Q2K5RW", "approve team-a-smoke-01", "refuse team-a-smoke-01 --reason later"},
	"whoami":      {"whoami", "account unlink github:maya"},
	"catalog":     {"catalog profiles", "catalog profiles aws-minimal-test", "catalog teams", "catalog quotas", "catalogue status"},
	"report":      {"report usage --by costCenter --from 28d --to 2025-03-01", "report forecast", "report forecast --by repository -o wide", "report actual --from 2025-03-01", "report summary --from 30d --team team-a"},
	"audit":       {"audit list --actor maya --from 7d", "audit verify"},
	"account":     {"account list", "account room", "account show aws-one", "account prove aws-one"},
	"pool":        {"pool list", "pool show stock", "pool advise stock", "pool pause stock --reason again", "pool resize stock many"},
	"admin":       {"admin deliveries list --state failed", "admin deliveries show 17", "admin deliveries replay 17 --reason again", "admin findings --all", "admin orphans --class released", "admin orphans -o wide", "admin orphans approve orp_01J9ZQ0M7V3N6WZ6M4C8Q2K5S3 --dry-run", "admin orphans exempt orp_01J9ZQ0M7V3N6WZ6M4C8Q2K5S3 --reason kept", "admin scan --account 123456789012 --reason x", "admin scans", "admin scans scn_01J9ZQ0M7V3N6WZ6M4C8Q2K5S1", "admin orphans orp_01J9ZQ0M7V3N6WZ6M4C8Q2K5S2", "admin reload-catalogue", "admin labels acme/shop --reason rollout", "admin freeze --region us-east-1 --until 4h --reason outage", "admin freeze --account 210987654321 --until 3d --drain --drain-by 2h --reason closed", "admin freeze --reason outage", "admin brakes", "admin thaw frz_01J9ZQ0M7V3N6WZ6M4C8Q2K5S3", "admin thaw"},
	"context":     {"context list", "version", "version --check"},
}

func TestEveryCommandSaysTheSameAsLastTime(t *testing.T) {
	asked := map[string]bool{}
	for name, lines := range typed {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, line := range lines {
				d := newService(t)
				d.recordRun(&got, asked, strings.Fields(line))
				if !strings.Contains(line, " -o ") && !slices.Contains([]string{"logs", "kubeconfig", "open", "break-glass"}, name) {
					d.recordRun(&got, asked, append(strings.Fields(line), "-o", "json"))
				}
			}
			golden(t, name+".txt", got.String())
		})
	}
	t.Run("and so every operation of the document is asked", func(t *testing.T) {
		d := newService(t)
		d.delivers(asked)
		for path, item := range d.Doc.Paths.Map() {
			for _, operation := range item.Operations() {
				if !slices.Contains(operation.Tags, "status") && operation.OperationID != "reportTests" { // the actions do that

					require.True(t, asked[operation.OperationID], "no command asks %s %s", operation.OperationID, path)
				}
			}
		}
	})
}

// The server's document and the flag name the same tables.
func TestTheTablesOfASummaryAreThoseOfTheDocument(t *testing.T) {
	d := newService(t)
	table := d.Doc.Paths.Find("/api/v1/reports/summary").Get.Parameters.GetByInAndName("query", "table")
	last := len(command.SummaryTables) - 1
	require.Equal(t, "For csv: "+strings.Join(command.SummaryTables[:last], ", ")+" or "+command.SummaryTables[last]+".", table.Description)
}

// delivers runs what stands in files of its own: its golden words would be paths.
func (d *service) delivers(asked map[string]bool) {
	delete(d.env, "OCPCTL_TOKEN")
	d.env["OCPCTL_AUTH"] = "aws"
	d.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	d.Setenv("AWS_SECRET_ACCESS_KEY", "demo-secret")
	d.Setenv("AWS_REGION", "us-east-1")
	d.Setenv("AWS_CONFIG_FILE", filepath.Join(d.TempDir(), "none"))
	require.EqualValues(d, 0, d.run("audit", "export"), d.err.String())
	require.EqualValues(d, 0, d.run("report", "chargeback"), d.err.String())
	require.EqualValues(d, 0, d.run("report", "focus"), d.err.String())
	dir := d.TempDir()
	d.givesBundle(bundleName, "bundle")
	require.EqualValues(d, 0, d.run("logs", "team-a-smoke-01", "--bundle", "--file", filepath.Join(dir, bundleName)), d.err.String())
	require.NoError(d, os.MkdirAll(filepath.Join(dir, "profiles"), 0o755))
	require.NoError(d, os.WriteFile(filepath.Join(dir, "profiles", "new.yaml"), []byte("name: new\n"), 0o644))
	require.EqualValues(d, 1, d.run("catalog", "validate", dir))
	require.Contains(d, d.out.String(), "profiles/new.yaml:3: regions[0].name: there is no us-esat-1; did you mean us-east-1?\n")
	require.EqualValues(d, 0, d.run("catalog", "what-if", dir))
	require.Contains(d, d.out.String(), "412 requests, 7 now refused\n\nrules names/no-two: 7 requests of 2 principals now refused\n")
	require.Contains(d, d.out.String(), "Maya, aws-minimal-test, team platform: Not two.")
	for _, a := range d.Asked() {
		asked[a.Operation] = true
	}
}

// recordRun runs a line and writes down what was typed, said and asked.
func (d *service) recordRun(got *strings.Builder, asked map[string]bool, args []string) {
	if slices.Contains(args, "redeem") {
		d.env["OCPCTL_SERVER"] = d.URL
		args[1] = d.URL + "/links/cXV1eHF1dXg"
	}
	code := d.run(args...)
	fmt.Fprintf(got, "$ ocpctl %s\n%s", d.plain(strings.Join(args, " ")), d.plain(d.out.String()))
	if text := d.plain(d.err.String()); text != "" {
		fmt.Fprintf(got, "--- beside it\n%s", text)
	}
	fmt.Fprintf(got, "--- %d\n", code)
	for _, a := range d.Asked() {
		asked[a.Operation] = true
		fmt.Fprintln(got, strings.TrimSpace(a.Method+" "+a.Path+" "+a.Body))
		for _, name := range []string{"Idempotency-Key", "If-Match"} {
			if value, given := a.Header[name]; given {
				fmt.Fprintf(got, "  %s: %s\n", name, value[0])
			}
		}
	}
	got.WriteString("\n")
}
