package resources

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Operators creates what a starting cluster's own operators create: users, workers, the ingress with its records, the registry's
// bucket. They run in the cluster, so a signal to the installer does not interrupt them; here ctx stops only between two of them.
func (b *Build) Operators(ctx context.Context) (err error) {
	defer must.Catch(&err)
	for _, operator := range []func(context.Context) error{b.OperatorUsers, b.WorkerMachines, b.ingress, b.registry} {
		must.Do(ctx.Err())
		must.Do(operator(context.WithoutCancel(ctx)))
	}
	return nil
}

// ingress creates the router's load balancer, named as the cloud controller names one, and the wildcard records.
func (b *Build) ingress(ctx context.Context) (err error) {
	var made balancer
	if b.ClassicIngress {
		made, err = b.ServiceBalancer(ctx, 80, 443)
	} else {
		made, err = b.balancer(ctx, serviceName(), types.LoadBalancerSchemeEnumInternetFacing, b.publicSubnets, 80, 443)
	}
	if err != nil {
		return err
	}
	return b.ingressRecords(ctx, made)
}

// registry creates the image registry's bucket. Its name has a random suffix, so that nobody can guess it.
func (b *Build) registry(ctx context.Context) error {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	name := fmt.Sprintf("%.62s", registryPrefix(b.InfraID)+b.Region+"-"+hex.EncodeToString(raw))
	if err := b.createBucket(ctx, name); err != nil {
		return err
	}
	return b.tagBucket(ctx, name)
}

func registryPrefix(infraID string) string { return infraID + "-image-registry-" }
