package devstack_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestZZ(t *testing.T) {
	l := newLife(t, time.Hour)
	pr, err := l.GitHub.Open("On IBM Cloud", "maya")
	require.NoError(t, err)
	require.NoError(t, l.GitHub.Label(pr, ibmLabel, "maya"))
	time.Sleep(25 * time.Second)
	fmt.Println(l.clusters())
	_ = exec.Command("pkill", "-QUIT", "-f", l.Bin+"/ocpctl-runner").Run()
	time.Sleep(time.Second)
	out, _ := exec.Command("sh", "-c", "cat "+l.Dir+"/work/*/runner.log").CombinedOutput()
	_ = os.WriteFile("/tmp/h/zzrunner.log", out, 0o600)
}
