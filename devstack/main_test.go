package devstack_test

import (
	"flag"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/ocpctl/ocpctl/devstack/binaries"
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
	os.Exit(binaries.With(m.Run, &programs, slices.Concat(binaries.Product, binaries.Tools)...))
}
