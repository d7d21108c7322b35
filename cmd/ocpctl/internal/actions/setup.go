package actions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ocpctl/ocpctl/internal/buildinfo"
)

// The variables that workflows/setup-ocpctl/run.sh sets for this program.
const (
	actionVersion = "OCPCTL_ACTION_VERSION" // the release of the actions
	program       = "OCPCTL_PROGRAM"        // the ocpctl that later steps use
)

// checkVersion checks that this program is not older than the action that calls it.
func (s *step) checkVersion() error {
	if action := s.Env(actionVersion); buildinfo.Older(s.Version, action) {
		return fmt.Errorf("this action is of release %s, but ocpctl is %s. Leave the input version of setup-ocpctl empty, or set it to %s or later", action, s.Version, action)
	}
	return nil
}

// setUpProgram makes ocpctl available to the job's next steps. The script has put it where it is, and called it.
func (s *step) setUpProgram(ctx context.Context) error {
	s.Bool("cache") // of the action.yml
	check := s.checkInputs
	if !s.hasServer() { // a later step may name it
		check = func(context.Context) error { return errors.Join(s.Err(), s.checkVersion()) }
	}
	if err := check(ctx); err != nil {
		return err
	}
	path := s.Env(program)
	if path == "" {
		own, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
		path = own
	}
	if err := s.AddPath(filepath.Dir(path)); err != nil {
		return err
	}
	if err := s.Export(program, path); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.log, "ocpctl %s is ready for the next steps.\n", s.Version)
	if err != nil {
		return err
	}
	return s.setOutputs("version", s.Version, "path", path)
}
