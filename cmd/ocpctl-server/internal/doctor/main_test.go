package doctor_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/ocpctl/ocpctl/internal/devstack/installer"
)

// programs is the folder of the programs that the demo stack runs.
var programs string

func TestMain(m *testing.M) {
	code, err := withPrograms(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withPrograms(run func() int) (int, error) {
	dir, err := os.MkdirTemp("", "ocpctl-programs-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", append([]string{"build", "-o", dir, "./cmd/ocpctl-server", "./cmd/ocpctl-runner"}, installer.Programs()...)...)
	build.Dir = "../../../.."
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	programs = dir
	return run(), nil
}
