//go:build auditors

package auditors_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/binaries"
	"github.com/ocpctl/ocpctl/devstack/chaos"
	"github.com/ocpctl/ocpctl/devstack/gateway"
)

// After a soak the janitor lists what was there before, and what was planted meanwhile.
func TestAJanitorOfTheFieldFindsAfterASoakOnlyWhatWasPlanted(t *testing.T) {
	programs := t.TempDir()
	require.NoError(t, binaries.Build(t.Context(), programs, slices.Concat(binaries.Product, binaries.Tools)...))
	run, err := chaos.Start(t.Context(), chaos.Config{Dir: t.TempDir(), Bin: programs, Out: t.Output()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, run.Stop()) })
	account := janitorOf(t, gateway.Config{AWS: run.AWS.URL(), S3: run.Stack.S3.URL()}, run.Secrets.CloudKey, "aws-resources-list")
	before := account.list(t)
	require.NoError(t, chaos.Soak(t.Context(), run, chaos.SoakOptions{Cycles: 12, Seed: 32}))
	var planted []string
	for _, r := range []aws.Resource{
		{Service: "ec2", Type: "volume", State: "available", Tags: map[string]string{"kubernetes.io/cluster/pr1-shop-x7k2p": "owned"}, Attrs: map[string]string{"size": "1"}},
		{Service: "ec2", Type: "elastic-ip", Region: "us-west-2"},
		{Service: "iam", Type: "role", Name: "pr1-shop-x7k2p-worker-role"},
	} {
		made, err := run.AWS.Plant(r)
		require.NoError(t, err)
		planted = append(planted, made.ID[strings.LastIndex(made.ID, "/")+1:])
	}
	var found []string
	require.Eventually(t, func() bool { // the cloud lists what has just ended for a while
		found = slices.DeleteFunc(account.list(t), func(line string) bool { return slices.Contains(before, line) })
		return len(found) <= len(planted)
	}, time.Minute, time.Second, "%v", found)
	require.Len(t, found, len(planted), "%v", found)
	for _, id := range planted {
		require.True(t, slices.ContainsFunc(found, func(line string) bool { return strings.HasSuffix(line, "/"+id) }), "%s in %v", id, found)
	}
}
