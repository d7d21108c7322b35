package profiles

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestWorkersMayBeSpotMachines(t *testing.T) {
	c, err := Load(priced(t, "attempts: 2", "attempts: 2\nspot: workers"))
	require.NoError(t, err)
	p, _ := c.Get("aws-standard")
	require.Equal(t, []string{SpotWorkers, SleepNever}, []string{p.Spot, p.Sleep}, "although its workers can be scaled")
	region := regionOf(t, c, "aws-standard")
	require.Equal(t, []int{113, 148, 89_951}, []int{region.HourlyCents, *region.OnDemand, *region.WorkerMicros}, "three workers for 7.68 cents instead of 19.2")
	require.Empty(t, c.PriceDoubts())

	c, err = Load(priced(t, "c]}", "c], hourlyCents: 226}", "attempts: 2", "attempts: 2\nspot: workers"))
	require.NoError(t, err)
	require.Equal(t, 295, *regionOf(t, c, "aws-standard").OnDemand, "in the proportions of the list")
	require.Nil(t, regionOf(t, catalogue(t), "aws-standard").OnDemand)
}

func TestSpotMachinesAreRefusedWhereTheyCannotBe(t *testing.T) {
	for name, c := range map[string]struct{ profile, old, new, want string }{
		"the control plane": {"aws-standard", "attempts: 2", "attempts: 2\nspot: all",
			"spot: all is not supported: OpenShift allows no control plane on spot machines, because etcd loses its quorum when AWS takes them back; accepted: workers"},
		"another word": {"aws-standard", "attempts: 2", "attempts: 2\nspot: masters", `spot: "masters"; accepted: one of workers`},
		"on IBM Cloud": {"ibm-standard", "attempts: 2", "attempts: 2\nspot: workers", "spot: given on ibmcloud, whose installer cannot order spot machines; accepted: none, or platform: aws"},
		"no workers":   {"aws-minimal-test", "attempts: 2", "attempts: 2\nspot: workers", "spot: workers without workers"},
		"a single try": {"aws-standard", "attempts: 2", "attempts: 1\nspot: workers", "attempts: 1 with spot: workers, whose last try is on demand; accepted: 2 or more"},
		"stopped":      {"aws-standard", "attempts: 2", "attempts: 2\nspot: workers\nsleep: {mode: stopped}", "sleep.mode: stopped with spot: workers: AWS ends spot machines instead of stopping them"},
		"asleep at night": {"aws-standard", "attempts: 2", "attempts: 2\nspot: workers\noffHours: {default: true}",
			"offHours: given for clusters that cannot sleep; accepted: none, or a profile without spot: AWS ends spot machines instead of stopping them"},
		"asleep when idle": {"aws-standard", "attempts: 2", "attempts: 2\nspot: workers\nidle: {tellAfter: 1h, sleepAfter: 2h}", "idle.sleepAfter: given for clusters that cannot sleep; accepted: none, or a profile without spot"},
		"no price":         {"aws-standard", "attempts: 2\n", "attempts: 2\nspot: workers\n", "has no price in us-east-1 of: m6i.4xlarge spot instances"},
	} {
		t.Run(name, func(t *testing.T) {
			files := embeddedFiles(t)
			path := "profiles/" + c.profile + ".yaml"
			body := string(files[path].Data)
			require.Contains(t, body, c.old)
			body = strings.Replace(body, c.old, c.new, 1)
			if name == "no price" {
				body = strings.Replace(body, "workers: {replicas: 3, instanceType: m6i.xlarge", "workers: {replicas: 3, instanceType: m6i.4xlarge", 1)
			}
			files[path] = &fstest.MapFile{Data: []byte(body)}
			_, err := Load(files)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestAPoolKeepsNoStoppedSpotMachines(t *testing.T) {
	files := poolFiles(t, strings.Replace(aPool, "aws-minimal-test", "aws-standard", 1)+"running: 1\n")
	const profile = "profiles/aws-standard.yaml"
	files[profile] = &fstest.MapFile{Data: []byte(strings.Replace(string(files[profile].Data), "attempts: 2", "attempts: 2\nspot: workers", 1))}
	_, err := Load(files)
	require.ErrorContains(t, err, "running: 1 of 2 for clusters that cannot sleep; accepted: none, or a profile without spot: AWS ends spot machines instead of stopping them")
}
