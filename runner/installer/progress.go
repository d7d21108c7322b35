package installer

import (
	"regexp"
	"strconv"
	"strings"
)

// Moment is a point of an install at which more is known to exist than before.
type Moment string

// The moments after which the install directory is archived again.
const (
	InfrastructureReady Moment = "infrastructure_ready"
	BootstrapComplete   Moment = "bootstrap_complete"
)

// Progress is what one line of output tells about how far an install is.
type Progress struct {
	Percent int    // of the whole attempt
	Step    string // for people
	Moment  Moment // usually empty
}

// Between these two the cluster's own operators tell how far they are, in the installer's log alone.
const (
	initializing = 68
	settled      = 92
)

var operatorsDone = regexp.MustCompile(`Working towards \S+: \d+ of \d+ done \((\d{1,3})% complete\)`)

// marks are the lines that tell something, in the order of an install (openshift.md §3).
// The percentages share out the time an AWS install takes, of which half is waiting for operators.
var marks = []struct {
	text string
	Progress
}{
	{"Creating infrastructure resources...", Progress{Percent: 12, Step: "creating the infrastructure"}},
	{"Reconciling IAM roles", Progress{Percent: 15, Step: "creating roles for the machines"}},
	{"Network infrastructure is ready", Progress{Percent: 28, Step: "the network is ready"}},
	{"Creating Route53 records for control plane load balancer", Progress{Percent: 30, Step: "writing DNS records"}},
	{"Control-plane machines are ready", Progress{Percent: 38, Step: "the control plane's machines are running", Moment: InfrastructureReady}},
	{"for the Kubernetes API at", Progress{Percent: 40, Step: "waiting for the Kubernetes API"}},
	{"msg=API v", Progress{Percent: 50, Step: "the Kubernetes API is up"}},
	{"for bootstrapping to complete", Progress{Percent: 52, Step: "waiting for the bootstrap to complete"}},
	{"Destroying the bootstrap resources...", Progress{Percent: 64, Step: "the control plane stands; removing the bootstrap machine", Moment: BootstrapComplete}},
	{"to initialize...", Progress{Percent: initializing, Step: "waiting for the cluster's operators"}},
	{"All cluster operators have completed progressing", Progress{Percent: settled, Step: "all cluster operators are up"}},
	{"Install complete!", Progress{Percent: 95, Step: "the installer is done"}},
}

// ReadProgress tells what a line of output says about progress; ok is false where it says nothing.
func ReadProgress(line string) (p Progress, ok bool) {
	for _, m := range marks {
		if strings.Contains(line, m.text) {
			return m.Progress, true
		}
	}
	return ReadOperators(line)
}

// ReadOperators tells how far the cluster's operators say they are; only the installer's own log has it.
func ReadOperators(line string) (p Progress, ok bool) {
	found := operatorsDone.FindStringSubmatch(line)
	if found == nil {
		return Progress{}, false
	}
	done, _ := strconv.Atoi(found[1]) // at most three digits
	return Progress{Percent: initializing + min(done, 100)*(settled-initializing)/100, Step: "the cluster's operators are " + found[1] + "% complete"}, true
}

const consoleText = "Access the OpenShift web-console here: "

// ReadConsole finds the console's URL in a line of output.
func ReadConsole(line string) (url string, ok bool) {
	_, rest, ok := strings.Cut(line, consoleText)
	url, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
	return strings.Trim(url, `"`), ok && url != ""
}

// ReadComplaint finds the words of an error in a line of output.
func ReadComplaint(line string) (words string, ok bool) {
	for _, level := range []string{"level=error msg=", "level=fatal msg="} {
		if strings.Contains(line, level) {
			return Message(line), true
		}
	}
	return "", false
}

// What the installer said is kept readable; the log holds all of it. Errors are wrapped: what was tried stands at the
// beginning, what went wrong at the end.
const (
	messageHead = 150
	messageTail = 350
)

func readable(words string) string {
	words = strings.Join(strings.Fields(words), " ")
	if len(words) <= messageHead+messageTail {
		return words
	}
	return strings.ToValidUTF8(words[:messageHead]+" … "+words[len(words)-messageTail:], "")
}
