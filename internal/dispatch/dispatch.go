// Package dispatch starts runners, finds them again, and stops them.
//
// Process uses local processes: a directory per attempt, a session per runner, files instead of memory, so that a restarted server
// finds its runners again. It must never start an attempt twice, and never report a runner as ended while anything it started is
// alive.
package dispatch

// Job is one attempt to start.
type Job struct {
	Attempt string // id; starting the same one again has no effect
	Cluster string
	Number  int
	Kind    string
	Token   string // the attempt's JWT; passed on in a 0600 file
}

// Sighting is what is known about an attempt's runner. Unknown does not mean absent, and decides nothing.
type Sighting string

// The sightings, spelt as in package lifecycle.
const (
	Unknown    Sighting = ""        // it could not be determined
	NotStarted Sighting = "absent"  // known never to have been started
	Running    Sighting = "running" // it, or something that it started, is alive
	Ended      Sighting = "ended"   // it was started, and nothing of it is left
)
