package devstack_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"github.com/ocpctl/ocpctl/devstack/installer"
)

// programs are built once for all lives, as make build does.
var programs string

// stacksAtOnce is how many stacks run at once without -parallel: each waits more than it works.
const stacksAtOnce = 4

func TestMain(m *testing.M) {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", strconv.Itoa(max(stacksAtOnce, runtime.GOMAXPROCS(0)))) // it is a number
	}
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
	build := exec.Command("go", append([]string{"build", "-o", dir, "./cmd/ocpctl-server", "./cmd/ocpctl-runner", "./cmd/ocpctl"}, installer.Programs()...)...)
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	programs = dir
	return run(), nil
}
