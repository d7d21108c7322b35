// Package ocpctl_test holds the rules of who may import whom, and why.
package ocpctl_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/ocpctl/ocpctl/"

// area says what a folder (and what lies below it, unless a longer path is listed) may import of ours. Its floor is higher than
// that of everything it imports: no import points back up.
type area struct {
	path  string
	floor int
	may   []string // a trailing "/..." means: and below
	why   string
}

var areas = []area{
	// What everybody stands on: it knows nothing of clusters.
	{"internal/buildinfo", 0, nil, "imported by every program"},
	{"internal/blockkit", 0, nil, "what the product sends and what the stand-in of Slack accepts are checked by the same rules"},
	{"internal/replymail", 0, nil, "what mail programs make of a comment is the same for the stand-in of GitHub and for the tests of what is read"},
	{"internal/limit", 0, nil, "imported by both listeners"},
	{"internal/commands", 0, nil, "what can be typed is read by the server and by the command line, and knows no cluster"},
	{"internal/price", 0, nil, "what a cluster costs is computed in one place, which everybody may ask and which asks nobody"},
	{"internal/price/list", 0, nil, "a price list is a file, and knows nobody who buys"},
	{"internal/focus", 0, nil, "a file format knows charges, and not where they come from"},
	{"internal/cur", 0, nil, "what the cloud billed is read from S3 alone: it knows no database and no cluster"},
	{"internal/secret", 0, nil, "imported by everybody"},
	{"internal/source", 0, nil, "imported by both listeners"},
	{"internal/workhours", 0, nil, "a schedule is read by the clock of a place, and knows no cluster"},
	{"internal/tagkey", 0, nil, "whoever refuses a tag and whoever deletes by it read the same list"},
	{"internal/token", 0, nil, "imported by both sides"},
	{"internal/tekton", 1, []string{"internal/secret"}, "a client of Kubernetes asks how PipelineRuns stand, and knows nobody who wants to know"},
	{"internal/tracing", 0, nil, "what set something off travels through every floor, and through the runner"},
	{"internal/tracing/export", 1, nil, "programs alone send spans, so that nothing else brings the SDK along"},
	{"internal/artifacts", 0, nil, "S3 alone: it knows no database"},
	{"internal/contract", 0, nil, "plain structs of the Status API, for the server and the runner"},
	{"internal/cloudtags", 0, nil, "a list of tagged resources: it deletes nothing and knows no cluster"},
	{"internal/dispatch", 1, []string{"internal/secret"}, "it starts runners and knows nothing of clusters"},
	{"internal/dispatch/kubernetes", 2, []string{"internal/dispatch", "internal/buildinfo"}, "Jobs are one way to start runners; nobody but the wiring knows which way is used"},
	{"internal/dispatch/dispatchtest", 2, []string{"internal/dispatch"}, "tests that every dispatcher passes know none of them"},
	{"internal/download", 0, nil, "imported by the API and the pages"},
	{"migrations", 0, nil, "SQL alone"},
	{"deploy/terraform/policies", 0, nil, "the policies that Terraform applies, for the stand-in AWS that enforces them; they know nobody"},
	{"deploy/ibmcloud/policies", 0, nil, "the access that administrators give on IBM Cloud, for the stand-in that enforces it; it knows nobody"},
	{"docs", 0, nil, "pages for people, carried inside the program; they know nobody"},
	{"store/auditchain", 0, nil, "whoever holds a copy of the trail verifies it without a database; it shares nothing with the SQL that made it"},
	{"app/auth/awsproof", 0, nil, "the CLI signs with it and must not bring the server along"},
	{"app/api/client", 0, nil, "a program that only talks to a server stays small"},

	// Rules: values in, decisions out.
	{"lifecycle", 1, []string{"internal/price", "internal/workhours"}, "it is pure: it decides from values alone"},
	{"profiles", 1, []string{"internal/price/list", "internal/tagkey", "internal/workhours"}, "profiles know nobody who reads them"},
	{"runner/csr", 0, nil, "what a node may have certificates for is decided by plain comparison, without a cluster"},
	{"internal/orphans", 2, []string{"internal/contract", "internal/tagkey", "lifecycle", "runner/names"}, "whose a resource is follows from what it shows, and from no database"},
	{"runner/names", 1, []string{"internal/tagkey"}, "server and runner check names by the same rules, so it can belong to neither"},
	{"chatops/slack", 1, []string{"internal/secret"}, "a client of Slack carries texts and knows no store"},
	{"chatops/slack/inbound", 1, []string{"internal/secret"}, "what Slack sends is read before anybody knows what it means"},
	{"policy", 2, []string{"lifecycle", "internal/price", "profiles", "internal/tagkey"}, "a verdict is computed from values, never from a database"},
	{"policy/rules", 3, []string{"policy", "profiles"}, "rules look at the values they are given; a verdict asks them without knowing what they are written in"},
	{"policy/catalogue", 4, []string{"policy", "policy/rules", "profiles"}, "what is in force is read from files alone, and knows nobody who is judged by it"},
	{"chatops", 3, []string{"lifecycle", "internal/commands", "internal/price", "policy"}, "texts for people are made from values"},
	{"chatops/blocks", 4, []string{"chatops", "chatops/slack", "lifecycle", "policy"}, "what is seen in Slack is made from values, and nobody is asked"},
	{"chatops/blocks/blockstest", 0, nil, "golden files of blocks are read the same everywhere, and know nobody who makes blocks"},
	{"chatops/chatopstest", 2, []string{"lifecycle", "internal/price"}, "clusters for tests are values, and know nobody who shows them"},
	{"chatops/messages", 4, []string{"chatops", "lifecycle", "internal/commands", "policy"}, "what is said is made from values, and nobody is asked"},
	{"chatops/github", 4, []string{"chatops", "lifecycle", "policy", "internal/secret"}, "a client of GitHub carries texts and knows no store"},

	// State.
	{"internal/queue", 1, []string{"internal/tracing"}, "River's client and the jobs of the product; it knows no table"},
	{"store/internal/pg", 2, []string{"internal/queue", "internal/tracing", "lifecycle"}, "a database connection, and no table but the audit trail's"},
	{"store/internal/usage", 3, []string{"store/internal/pg", "lifecycle", "internal/price"}, "what is used is counted in one place"},
	{"store/internal/rows", 4, []string{"store/internal/pg", "store/internal/usage", "internal/queue", "lifecycle", "internal/price"}, "what the parts of the store share"},
	{"store/internal/fence", 5, []string{"store/internal/pg", "store/internal/usage", "store/internal/rows", "lifecycle"}, "only an open attempt's runner may change what is known of its cluster"},
	{"store/access", 6, []string{"store/internal/...", "internal/queue", "lifecycle"}, "who may open a cluster is written down before anybody can"},
	{"store/attempts", 6, []string{"store/internal/...", "internal/queue", "internal/tracing", "lifecycle"}, "the parts of the store know what they share, and not each other"},
	{"store/costs", 6, []string{"store/internal/...", "internal/price", "lifecycle"}, "what clusters cost is kept as it was counted and billed"},
	{"store/inbox", 6, []string{"store/internal/...", "internal/queue", "internal/tracing", "lifecycle"}, "a delivery is stored before anybody reads it"},
	{"store/measures", 6, []string{"store/internal/...", "internal/queue", "lifecycle"}, "what metrics count changes nothing"},
	{"store/notices", 6, []string{"store/internal/...", "internal/queue", "lifecycle"}, "who is told of what is written down before anybody is told"},
	{"store/outbox", 6, []string{"store/internal/...", "internal/queue", "lifecycle"}, "what is written outside is written down before"},
	{"store/inspect", 6, []string{"store/internal/pg", "migrations"}, "what a database is can be asked before it has tables"},
	{"store/people", 6, []string{"store/internal/...", "internal/queue", "lifecycle"}, "who somebody is does not depend on what they have"},
	{"store/pullrequests", 6, []string{"store/internal/...", "internal/queue", "lifecycle"}, "what GitHub said is kept as it was said"},
	{"store/reports", 6, []string{"store/internal/...", "internal/queue", "lifecycle", "internal/price"}, "what is counted and found changes nothing"},
	{"store/runs", 6, []string{"store/internal/...", "internal/queue", "lifecycle"}, "what is known of a pipeline's run does not depend on who said it"},
	{"store/statistics", 6, []string{"lifecycle", "store/internal/..."}, "what is counted over many clusters changes nothing"},
	{"store/sweeps", 6, []string{"store/internal/...", "internal/queue", "internal/price", "lifecycle"}, "what was seen in an account is kept as it was seen, and deletes nothing"},
	{"store/testreports", 6, []string{"store/internal/...", "lifecycle"}, "what tests said of a cluster changes nothing about the cluster"},
	{"store", 7, []string{"store/...", "internal/queue", "internal/tracing", "lifecycle", "internal/price", "migrations"}, "the only area with SQL; it keeps verdicts as they come and calls nobody"},
	{"internal/metrics", 8, []string{"store/...", "lifecycle", "internal/buildinfo", "internal/secret"}, "what is measured is read from rows and from this process, and decides nothing"},
	{"internal/intake", 8, []string{"lifecycle", "store/...", "internal/artifacts", "internal/contract", "runner/names"}, "what runners report becomes rows in one place, for the API and for the spool"},
	{"internal/cleanup", 8, []string{"lifecycle", "store/...", "internal/contract", "internal/tagkey", "runner/names"}, "what is removed of an orphan is planned from values alone, and shown before it is done"},
	{"internal/recovery", 8, []string{"lifecycle", "store/...", "internal/artifacts", "internal/cloudtags", "internal/contract", "internal/tagkey", "runner/names"}, "what the bucket and the cloud show becomes rows; it never starts or deletes anything"},
	{"internal/notifier", 9, []string{"internal/queue", "internal/price", "store/...", "lifecycle", "profiles", "chatops", "chatops/blocks", "chatops/slack"}, "who hears of what is found out in one place, behind the store: it meets neither the application nor the controller"},

	// The runner.
	{"runner", 3, []string{"runner/...", "internal/artifacts", "internal/contract", "internal/secret", "internal/tagkey", "internal/tracing"}, "a pod with cloud credentials has no database"},
	{"runner/status", 1, []string{"internal/contract", "internal/secret", "internal/tracing"}, "every kind of runner talks to the server in one way"},
	{"runner/platform", 2, []string{"runner/cloud", "runner/names", "internal/contract", "internal/secret"}, "what differs between clouds is known before one is called"},
	{"runner/sweep", 3, []string{"runner/cloud", "runner/platform", "runner/status", "internal/contract", "internal/secret", "internal/tracing"}, "it reads a cloud that it is given, and knows no cluster and no installer"},
	{"runner/cloud/cloudtest", 4, []string{"runner", "runner/cloud", "internal/contract"}, "one suite for all clouds asks what package runner relies on"},
	{"runner/cloud/parts", 1, []string{"internal/contract"}, "how a part of a sweep ends does not depend on whose cloud it is in"},
	{"runner/cloud/pace", 0, nil, "how fast an account may be asked does not depend on whose cloud it is in"},
	{"runner/cloud/aws/inventory", 2, []string{"runner/cloud", "runner/cloud/pace", "runner/cloud/parts", "internal/contract", "internal/tagkey"}, "it looks for what the code that deletes and the code that counts have missed, so it shares no query with them"},
	{"runner/cloud/aws/count", 2, []string{"runner/cloud", "internal/contract"}, "a count that shares a line with what deletes is blind where that is blind"},
	{"runner/cloud/ibmcloud/access", 1, []string{"runner/cloud"}, "credentials and addresses are the same for everybody who calls IBM Cloud"},
	{"runner/cloud/ibmcloud/answer", 0, nil, "it reads what IBM Cloud answers, and asks nothing itself"},
	{"runner/cloud/ibmcloud/inventory", 2, []string{"runner/cloud", "runner/cloud/pace", "runner/cloud/parts", "runner/cloud/ibmcloud/access", "runner/cloud/ibmcloud/answer", "internal/contract", "internal/tagkey"}, "it looks for what the code that deletes and the code that counts have missed, so it shares no query with them"},
	{"runner/cloud/ibmcloud/count", 2, []string{"runner/cloud", "runner/cloud/ibmcloud/access", "runner/cloud/ibmcloud/answer", "internal/contract"}, "a count that shares a line with what deletes is blind where that is blind"},

	// The application.
	{"app", 9, []string{"policy", "internal/price", "policy/catalogue", "profiles", "chatops", "chatops/messages", "store/...", "internal/artifacts", "lifecycle", "internal/secret"}, "the application never meets the controller: the half that faces the internet needs no cloud or cluster credentials"},
	{"app/credentials", 10, []string{"app", "runner/names", "chatops", "chatops/messages", "policy", "store/...", "internal/artifacts", "internal/secret", "lifecycle"}, "what opens a cluster is handed out in one place"},
	{"app/admin", 10, []string{"app", "policy", "policy/catalogue", "profiles", "internal/cleanup", "store/...", "chatops", "chatops/messages"}, "what concerns the whole installation stands apart from what concerns one cluster"},
	{"app/costs", 10, []string{"app", "policy", "policy/catalogue", "profiles", "store/...", "chatops/messages", "internal/cur", "internal/focus", "internal/price", "internal/price/list", "internal/queue"}, "what clusters cost is reported in one place, for every entry point and every file"},
	{"app/notify", 10, []string{"app", "policy", "chatops/messages", "internal/commands", "store/..."}, "what channels hear of is subscribed in one place, for commands and for repositories' files"},
	{"app/createform", 10, []string{"app", "policy", "profiles", "chatops/messages"}, "what a form asks follows from the catalogue alone, and every form asks the same"},
	{"app/auth", 10, []string{"app", "app/auth/awsproof", "internal/buildinfo", "policy", "profiles", "internal/limit", "internal/secret"}, "who asks does not depend on what exists: roles come from identities and claims, and what must be remembered is handed in"},
	{"app/pulls", 11, []string{"app", "app/credentials", "policy", "policy/catalogue", "profiles", "chatops", "chatops/messages", "store/...", "lifecycle"}, "pull requests are one entry point among several: the core does not know them"},
	{"app/slack", 11, []string{"app", "app/admin", "app/createform", "app/credentials", "app/notify", "policy", "policy/catalogue", "profiles", "chatops", "chatops/blocks", "chatops/messages", "chatops/slack", "chatops/slack/inbound", "store/...", "lifecycle"}, "Slack is one entry point among several: the core does not know it"},
	{"app/runs", 10, []string{"policy", "chatops/messages", "internal/tekton", "store/...", "lifecycle"}, "what a run's end means for its clusters is found out in one place, whether an event or a look says so"},
	{"app/hooks", 12, []string{"internal/queue", "internal/tracing", "app", "app/pulls", "app/runs", "app/slack", "policy", "profiles", "chatops/...", "store/...", "internal/artifacts", "lifecycle", "internal/limit", "internal/secret", "internal/source"}, "webhooks lead to the application"},
	{"app/socketmode", 12, []string{"internal/secret", "internal/tracing"}, "it carries requests from a socket to what it is given, and interprets none"},
	{"app/web/plot", 0, nil, "a chart is drawn from values alone"},
	{"app/web", 12, []string{"internal/cleanup", "internal/tracing", "app/web/plot", "app", "app/admin", "app/costs", "app/createform", "app/credentials", "internal/price", "app/auth", "policy", "profiles", "chatops", "chatops/messages", "store/...", "lifecycle", "docs", "internal/download"}, "pages show what the application returns, and the runbooks"},
	{"app/api", 12, []string{"internal/cleanup", "internal/metrics", "app", "app/admin", "app/costs", "app/credentials", "internal/price", "app/auth", "app/auth/awsproof", "policy", "profiles", "chatops/...", "store/...", "internal/artifacts", "internal/intake", "lifecycle", "internal/contract", "runner/names", "internal/download", "internal/limit", "internal/source", "internal/tagkey", "internal/token", "internal/tracing"}, "the only entry point that runners know"},
	{"controller", 9, []string{"internal/cleanup", "internal/cloudtags", "internal/recovery", "internal/queue", "store/...", "internal/artifacts", "internal/intake", "lifecycle", "profiles", "chatops/...", "internal/contract", "internal/dispatch", "internal/orphans", "internal/token"}, "the controller never meets the application: they meet in the store"},

	// Programs and the development stack.
	{"deploy", 13, nil, "what an installation is made from, which doctor compares with what is there; its tests compare it with the code"},
	{"cmd/ocpctl-server/internal/config", 13, []string{"app/hooks", "chatops/github", "chatops/slack", "internal/dispatch", "internal/dispatch/kubernetes", "internal/secret", "internal/source", "internal/tagkey", "internal/tekton", "lifecycle", "policy", "profiles", "runner/names", "store/outbox"}, "what the server is told is read and checked in one place, which starts nothing"},
	{"cmd/ocpctl-server/internal/doctor", 14, []string{"cmd/ocpctl-server/internal/config", "app/auth", "app/socketmode", "chatops/github", "chatops/slack", "deploy", "internal/artifacts", "internal/buildinfo", "internal/dispatch/kubernetes", "internal/secret", "internal/tekton", "internal/token", "policy/catalogue", "profiles", "store/inspect"}, "it looks at what the server depends on, with the clients that the server uses, and changes nothing"},
	{"cmd/ocpctl", 13, []string{"app/api/client", "internal/commands", "app/auth/awsproof", "internal/price", "store/auditchain", "internal/buildinfo"}, "it knows the API and how its amounts are counted: it stays small, starts at once, and what it shows is what the server said"},
	{"internal/devstack", 13, []string{"..."}, "the development stack stands on everything"},
	{"cmd", 14, []string{"..."}, "programs wire everything by hand"},
	{"test", 14, []string{"..."}, "tests of the whole"},
}

// outside says which area alone may import a dependency.
var outside = []struct {
	dependency string
	only       []string
	why        string
}{
	{"github.com/jackc/pgx", []string{"store", "internal/queue", "internal/devstack", "test", "app/hooks", "cmd"}, "SQL stands in the store alone; internal/queue and cmd hand the pool to River's client, benchmarks compare with a bare INSERT"},
	{"github.com/aws/aws-sdk-go-v2/service/ec2", []string{"runner/cloud/aws", "runner/cloud/aws/count", "internal/devstack"}, "it takes a minute to compile"},
	{"github.com/IBM/", []string{"runner/cloud/ibmcloud"}, "only the runner calls IBM Cloud: the SDKs take half a minute to compile"},
	{"cel.dev/cel-go", []string{"policy/rules"}, "what rules are written in is nobody else's matter"},
	{"k8s.io/", []string{"internal/dispatch/kubernetes"}, "it is slow to compile, and the server's other parts know no Kubernetes"},
	{"k8s.io/client-go/kubernetes", nil, "the typed clientset takes minutes to compile; a dispatcher makes ten different calls"},
	{"go.opentelemetry.io/otel/sdk", []string{"internal/tracing/export"}, "programs alone send spans"},
	{"go.opentelemetry.io/otel/exporters", []string{"internal/tracing/export"}, "it brings gRPC along"},
	{"go.opentelemetry.io/otel", []string{"internal/tracing"}, "the rest of the product knows causes and spans of ours"},
}

// guarded are areas that one file alone may enter.
var guarded = []struct{ area, file, why string }{
	{"runner/cloud/aws/count", "runner/cloud/aws/client.go", "it is there to be asked for a whole pass; a deletion looks for itself"},
	{"runner/cloud/ibmcloud/count", "runner/cloud/ibmcloud/client.go", "it is there to be asked for a whole pass; a deletion looks for itself"},
}

func TestTheWallsStand(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "tools" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || filepath.Dir(path) == "." {
			return nil
		}
		checkFile(t, path)
		return nil
	})
	require.NoError(t, err)
}

func checkFile(t *testing.T, path string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	require.NoError(t, err)
	folder := filepath.ToSlash(filepath.Dir(path))
	in, known := areaOf(folder)
	if !known {
		t.Errorf("%s stands in no area; add its folder to the walls with a reason", path)
		return
	}
	isTest := strings.HasSuffix(path, "_test.go")
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if ours, ok := strings.CutPrefix(name, module); ok {
			if !isTest && ours != folder && !below(ours, in.path, in) && !permitted(ours, in.may) {
				t.Errorf("%s imports %s; %s may not, because %s", path, ours, in.path, in.why)
			}
			if other, found := areaOf(ours); !isTest && found && other.path != in.path && other.floor >= in.floor && !(within(ours, in.path) || within(in.path, other.path)) {
				t.Errorf("%s (floor %d) imports %s (floor %d): no import points up", path, in.floor, ours, other.floor)
			}
			for _, d := range guarded {
				if ours == d.area && filepath.ToSlash(path) != d.file && !isTest {
					t.Errorf("%s imports %s; only %s may, because %s", path, ours, d.file, d.why)
				}
			}
			if !isTest && strings.HasPrefix(ours, "internal/devstack") && in.path == "cmd" && !strings.HasPrefix(folder, "cmd/ocpctl-demo") {
				t.Errorf("%s imports %s; only the demo program may, because a stand-in is no part of the product", path, ours)
			}
			continue
		}
		for _, o := range outside {
			if strings.HasPrefix(name, o.dependency) && !isTest && !slices.ContainsFunc(o.only, func(r string) bool { return within(folder, r) }) {
				t.Errorf("%s imports %s, which only %v may, because %s", path, name, o.only, o.why)
			}
		}
	}
}

// areaOf finds the area with the longest path that holds the folder.
func areaOf(folder string) (area, bool) {
	var best area
	found := false
	for _, r := range areas {
		if within(folder, r.path) && (!found || len(r.path) > len(best.path)) {
			best, found = r, true
		}
	}
	return best, found
}

// below: an area may import its own subfolders that are no area of their own.
func below(ours, areaPath string, in area) bool {
	other, known := areaOf(ours)
	return known && other.path == in.path && within(ours, areaPath)
}

func permitted(ours string, may []string) bool {
	for _, m := range may {
		if m == "..." || m == ours {
			return true
		}
		if base, ok := strings.CutSuffix(m, "/..."); ok && within(ours, base) {
			return true
		}
	}
	return false
}

func within(folder, areaPath string) bool {
	return folder == areaPath || strings.HasPrefix(folder, areaPath+"/")
}
