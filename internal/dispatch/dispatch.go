// Package dispatch starts runners, finds them again, and stops them.
//
// Process uses local processes: a directory per attempt, a session per runner, files instead of memory, so that a restarted server
// finds its runners again. Package kubernetes below it uses one Job per attempt. A dispatcher must never start an attempt twice, and
// never report a runner as ended while anything it started is alive; package dispatchtest has the tests that both pass.
package dispatch

import (
	"fmt"
	"time"
)

// KindScan is the kind of a job that looks through a cloud account. It belongs to no cluster: its id stands in Attempt.
const KindScan = "scan"

// KindProve is the kind of a job that looks whether clusters can be made in an account, with the identity that makes them. Else it is like a scan.
const KindProve = "prove"

// Job is one attempt to start, or one scan.
type Job struct {
	Attempt string // id; starting the same one again has no effect, unless it was forgotten after its end
	Cluster string // id; empty for a scan
	Number  int    // 1 or more; of a scan: how many runners it has had
	Kind    string
	Token   string // the attempt's JWT; passed on in a file that only the runner can read

	// The rest describes the attempt to dispatchers that label what they start, and choose resources by it.
	Job      string        // id of the public job
	Team     string        // of the cluster
	Profile  string        // of the cluster
	Platform string        // the cloud: aws, ibmcloud
	Deadline time.Duration // limit of the installer's own work, from the profile; zero: none

	ServiceAccounts map[string]string // of its cloud account, by kind of runner; empty: those of the dispatcher
}

// Sighting is what is known about an attempt's runner. Unknown does not mean absent, and decides nothing.
type Sighting string

// The sightings, spelt as in package lifecycle.
const (
	Unknown    Sighting = ""        // it could not be determined
	NotStarted Sighting = "absent"  // known never to have been started
	Missing    Sighting = "missing" // there is nothing of it: it was never started, or what was started has been deleted
	Running    Sighting = "running" // it, or something that it started, is alive, or may still come alive
	Ended      Sighting = "ended"   // it was started, and nothing of it is left
)

// Observation is what a dispatcher reports about an attempt's runner.
type Observation struct {
	Sighting Sighting
	Trouble  *Trouble // why it does not start, or how it died; nil: nothing unusual is known
}

// Trouble says what is wrong with a runner, with the fields of a failed attempt. The same trouble always has the same text.
type Trouble struct {
	Code    string // one word, as in docs/runbooks/failed-create.md
	Message string // what happened, as part of a sentence
	Whose   string // whose problem it is: ocpctl, cloud
	Next    string // what to do about it, as part of a sentence
}

// Refusal is the error of a start that was refused, and not merely unanswered: repeating it changes nothing until somebody acts.
type Refusal struct {
	Trouble Trouble
	Err     error
}

// Error implements error.
func (r *Refusal) Error() string { return r.Trouble.Message + ": " + r.Err.Error() }

// Unwrap returns the dispatcher's error.
func (r *Refusal) Unwrap() error { return r.Err }

// IsOfAccount reports that jobs of a kind belong to a cloud account, and to no cluster.
func IsOfAccount(kind string) bool { return kind == KindScan || kind == KindProve }

// Check returns what is wrong with a job: only scans and proofs have no cluster.
func (j Job) Check() error {
	if IsOfAccount(j.Kind) != (j.Cluster == "") {
		return fmt.Errorf("the job %s of kind %q names the cluster %q; a scan or proof has none, and everything else has one", j.Attempt, j.Kind, j.Cluster)
	}
	return nil
}

// Arguments returns the runner's command line for the job.
func (j Job) Arguments(statusURL, tokenFile, workDir, installers string) []string {
	if IsOfAccount(j.Kind) {
		return []string{"--server", statusURL, "--scan", j.Attempt, "--token-file", tokenFile}
	}
	return []string{"--server", statusURL, "--attempt", j.Attempt, "--token-file", tokenFile, "--work-dir", workDir, "--installers", installers}
}

// Alone returns an error if another attempt than the job's is among the living attempts of its cluster, or another runner of a scan is
// alive.
func Alone(job Job, living []int) error {
	for _, number := range living {
		if number != job.Number && job.Cluster == "" {
			return fmt.Errorf("runner %d of scan %s is still alive; it has to end first", number, job.Attempt)
		}
		if number != job.Number {
			return fmt.Errorf("the runner of attempt %d of cluster %s is still alive; it has to end first", number, job.Cluster)
		}
	}
	return nil
}
