// Package dispatch starts runners, finds them again, and stops them.
//
// Process does it with local processes: a directory per attempt, a session per runner, files instead of memory, so
// that a server killed at any moment finds its runners again. It must never start an attempt twice, and must never
// call a runner ended while anything it started still lives.
package dispatch

// Job is one attempt to be started.
type Job struct {
	Attempt string // id; the key: starting it twice is starting it once
	Cluster string
	Number  int
	Kind    string
	Token   string // the attempt's JWT; handed over in a 0600 file
}

// Sighting is what is known of an attempt's runner. Unknown is not absent: it decides nothing.
type Sighting string

// The sightings, spelt as lifecycle spells them.
const (
	Unknown    Sighting = ""        // it could not be told
	NotStarted Sighting = "absent"  // never started, and seen so
	Running    Sighting = "running" // it, or something it started, is alive
	Ended      Sighting = "ended"   // it was started, and nothing of it is left
)
