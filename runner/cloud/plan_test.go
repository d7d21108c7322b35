package cloud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

func TestAPlanIsReadFromTheInstallConfig(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		want   cloud.Plan
	}{
		"compact": {`{controlPlane: {replicas: 3, platform: {aws: {type: m6i.xlarge, zones: [a]}}}, compute: [{replicas: 0, platform: {aws: {type: m6i.large, zones: [a]}}}]}`,
			cloud.Plan{Zones: []string{"a"}, Machines: []cloud.Machines{{Type: "m6i.xlarge", Lasting: 3, Transient: 1}}}},
		"standard of two types": {`{controlPlane: {replicas: 3, platform: {aws: {type: m6i.2xlarge, zones: [a, b, c]}}}, compute: [{replicas: 4, platform: {aws: {type: m6i.large, zones: [c, d]}}}]}`,
			cloud.Plan{Zones: []string{"a", "b", "c", "d"}, Machines: []cloud.Machines{{Type: "m6i.2xlarge", Lasting: 3, Transient: 1}, {Type: "m6i.large", Lasting: 4}}}},
		"what is left out is the installer's": {`{controlPlane: {}, compute: [{name: worker}]}`,
			cloud.Plan{Zones: []string{"spec"}, Machines: []cloud.Machines{{Type: "m6i.xlarge", Lasting: 6, Transient: 1}}}},
		"the platform's own default": {`{platform: {aws: {defaultMachinePlatform: {type: m5.xlarge, zones: [b]}}}, controlPlane: {replicas: 1}, compute: [{replicas: 2, platform: {aws: {type: m5.large}}}]}`,
			cloud.Plan{Zones: []string{"b"}, Machines: []cloud.Machines{{Type: "m5.xlarge", Lasting: 1, Transient: 1}, {Type: "m5.large", Lasting: 2}}}},
		"no YAML": {`[`, cloud.Plan{Zones: []string{"spec"}}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, cloud.ReadPlan("aws", "m6i.xlarge", c.config, []string{"spec"}, false))
		})
	}
}

func TestWorkersOfAPlanMayBeSpotMachines(t *testing.T) {
	plan := cloud.ReadPlan("aws", "m6i.xlarge", `{controlPlane: {replicas: 3}, compute: [{replicas: 2}]}`, []string{"spec"}, true)
	require.Equal(t, []cloud.Machines{{Type: "m6i.xlarge", Lasting: 3, Transient: 1}, {Type: "m6i.xlarge", Lasting: 2, Spot: true}}, plan.Machines)
	require.Equal(t, []string{"m6i.xlarge"}, plan.Types())
}
