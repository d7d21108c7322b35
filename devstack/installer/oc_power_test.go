package installer_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/runner/csr"
)

// A cluster whose machines were stopped has an API only when its control plane runs again, and its nodes work only when their requests
// for certificates were approved; those are what ocpctl's own check approves.
func TestAClusterThatWasStoppedNeedsItsNodesCertificates(t *testing.T) {
	l := live(t, 0)
	require.NotContains(t, l.get("csr"), "csr-", "nobody was stopped yet")
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("us-east-2"))
	require.NoError(t, err)
	cloud := ec2.NewFromConfig(cfg)
	found, err := cloud.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
	require.NoError(t, err)
	var ids []string
	var network *string
	for _, r := range found.Reservations {
		for _, i := range r.Instances {
			if i.State.Name == types.InstanceStateNameRunning {
				ids, network = append(ids, *i.InstanceId), i.VpcId
			}
		}
	}
	require.Len(t, ids, 3)
	_, err = cloud.StopInstances(t.Context(), &ec2.StopInstancesInput{InstanceIds: ids})
	require.NoError(t, err)
	quickly := func(ctx context.Context, wait func(context.Context, *ec2.DescribeInstancesInput, time.Duration) error) {
		require.NoError(t, wait(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids}, time.Minute))
	}
	quickly(t.Context(), func(ctx context.Context, in *ec2.DescribeInstancesInput, most time.Duration) error {
		return ec2.NewInstanceStoppedWaiter(cloud, func(o *ec2.InstanceStoppedWaiterOptions) { o.MinDelay, o.MaxDelay = time.Millisecond, time.Second }).Wait(ctx, in, most)
	})
	require.Contains(t, l.oc("get", "nodes", "-o", "json").Stderr, "Unable to connect to the server: dial tcp: lookup api.shop.labs.example.com: i/o timeout")

	options, err := cloud.CreateDhcpOptions(t.Context(), &ec2.CreateDhcpOptionsInput{DhcpConfigurations: []types.NewDhcpConfiguration{
		{Key: aws.String("domain-name"), Values: []string{"us-east-2.compute.internal Corp.Example.com."}},
	}})
	require.NoError(t, err)
	_, err = cloud.AssociateDhcpOptions(t.Context(), &ec2.AssociateDhcpOptionsInput{DhcpOptionsId: options.DhcpOptions.DhcpOptionsId, VpcId: network})
	require.NoError(t, err)
	_, err = cloud.CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: ids[:1], Tags: []types.Tag{{Key: aws.String("ocpctl-standin/egress"), Value: aws.String("10.0.1.200")}}})
	require.NoError(t, err)
	_, err = cloud.StartInstances(t.Context(), &ec2.StartInstancesInput{InstanceIds: ids})
	require.NoError(t, err)
	quickly(t.Context(), func(ctx context.Context, in *ec2.DescribeInstancesInput, most time.Duration) error {
		return ec2.NewInstanceRunningWaiter(cloud, func(o *ec2.InstanceRunningWaiterOptions) { o.MinDelay, o.MaxDelay = time.Millisecond, time.Second }).Wait(ctx, in, most)
	})
	require.Contains(t, l.get("nodes"), "KubeletNotReady")
	require.Contains(t, l.get("clusteroperators"), `"status": "False"`)
	machines, err := csr.Machines([]byte(l.get("machines.machine.openshift.io")))
	require.NoError(t, err)
	require.Len(t, machines[0].Names, 4)
	refused, withoutEgress := 0, slices.Clone(machines)
	require.NoError(t, csr.AddEgress([]byte(l.get("egressips.k8s.ovn.org")), machines))
	for _, certificate := range []string{"client", "serving"} {
		pending, err := csr.Pending([]byte(l.get("certificatesigningrequests.certificates.k8s.io")))
		require.NoError(t, err)
		require.Len(t, pending, 3)
		for _, request := range pending {
			require.Contains(t, request.Name, certificate)
			require.NoError(t, request.Check(machines))
			if request.Check(withoutEgress) != nil {
				refused++
			}
			require.Zero(t, l.oc("adm", "certificate", "approve", request.Name).Code)
		}
		require.NotContains(t, l.get("nodes"), "KubeletNotReady")
	}
	require.Equal(t, 1, refused, "without the cluster's word for the egress address, its node's serving certificate is not approved")
	_, err = cloud.AssociateDhcpOptions(t.Context(), &ec2.AssociateDhcpOptionsInput{DhcpOptionsId: aws.String("default"), VpcId: network})
	require.NoError(t, err)
	_, err = cloud.DeleteDhcpOptions(t.Context(), &ec2.DeleteDhcpOptionsInput{DhcpOptionsId: options.DhcpOptions.DhcpOptionsId})
	require.NoError(t, err)
	var operators struct {
		Items []struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(l.get("clusteroperators")), &operators))
	require.NotEmpty(t, operators.Items)
	for _, o := range operators.Items {
		require.Equal(t, []struct{ Type, Status string }{{"Available", "True"}, {"Degraded", "False"}, {"Progressing", "False"}}, o.Status.Conditions)
	}
	require.Contains(t, l.oc("adm", "certificate", "approve", "csr-other").Stderr, "(NotFound)")

	_, err = cloud.StopInstances(t.Context(), &ec2.StopInstancesInput{InstanceIds: ids})
	require.NoError(t, err)
	l.Must(t, l.dir, "destroy cluster")
	require.Empty(t, l.Left(t, l.infraID), "machines that are stopped are removed too")
}
