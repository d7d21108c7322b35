package installer

import (
	"regexp"
	"strconv"
	"strings"
)

// Moment is a point of an install after which more is known to exist.
type Moment string

// The moments after which the install directory is archived again.
const (
	InfrastructureReady Moment = "infrastructure_ready"
	BootstrapComplete   Moment = "bootstrap_complete"
)

// Progress is what one line of output says about an install's progress.
type Progress struct {
	Percent int    // of the whole attempt
	Step    string // for people
	Moment  Moment // usually empty
}

// Between these two percentages the cluster's own operators report progress, only in the installer's log.
const (
	initializing = 68
	settled      = 92
)

var operatorsDone = regexp.MustCompile(`Working towards \S+: \d+ of \d+ done \((\d{1,3})% complete\)`)

// marks are the lines that show progress, in the order of an install. The percentages divide the time of an AWS
// install, half of which is waiting for operators.
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
	{"Destroying the bootstrap resources...", Progress{Percent: 64, Step: "the control plane is up; removing the bootstrap machine", Moment: BootstrapComplete}},
	{"to initialize...", Progress{Percent: initializing, Step: "waiting for the cluster's operators"}},
	{"All cluster operators have completed progressing", Progress{Percent: settled, Step: "all cluster operators are up"}},
	{"Install complete!", Progress{Percent: 95, Step: "the installer has finished"}},
}

// ReadProgress reads the progress from a line of output; ok is false if it shows none.
func ReadProgress(line string) (p Progress, ok bool) {
	for _, m := range marks {
		if strings.Contains(line, m.text) {
			return m.Progress, true
		}
	}
	return ReadOperators(line)
}

// ReadOperators reads the progress of the cluster's operators, which only the installer's own log contains.
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

// ReadComplaint finds the message of an error in a line of output.
func ReadComplaint(line string) (text string, ok bool) {
	for _, level := range []string{"level=error msg=", "level=fatal msg="} {
		if strings.Contains(line, level) {
			return Message(line), true
		}
	}
	return "", false
}

// The installer's messages are shortened; the log has them in full. Errors are wrapped: the beginning says what was tried, the end
// what went wrong.
const (
	messageHead = 150
	messageTail = 350
)

func toReadable(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= messageHead+messageTail {
		return text
	}
	return strings.ToValidUTF8(text[:messageHead]+" … "+text[len(text)-messageTail:], "")
}
