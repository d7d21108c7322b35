package script

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
)

type awsPlatform struct {
	Region            string            `yaml:"region" json:"region"`
	UserTags          map[string]string `yaml:"userTags" json:"userTags,omitempty"`
	PropagateUserTags bool              `yaml:"propagateUserTags" json:"propagateUserTags,omitempty"`
	Default           *machinePlatform  `yaml:"defaultMachinePlatform" json:"defaultMachinePlatform,omitempty"`
	LBType            string            `yaml:"lbType" json:"lbType,omitempty"`
	AMIID             string            `yaml:"amiID" json:"amiID,omitempty"`
	HostedZone        string            `yaml:"hostedZone" json:"hostedZone,omitempty"`
	HostedZoneRole    string            `yaml:"hostedZoneRole" json:"hostedZoneRole,omitempty"`
	ServiceEndpoints  []map[string]any  `yaml:"serviceEndpoints" json:"serviceEndpoints,omitempty"`
	VPC               map[string]any    `yaml:"vpc" json:"vpc,omitempty"`
	BestEffort        bool              `yaml:"bestEffortDeleteIgnition" json:"bestEffortDeleteIgnition,omitempty"`
	PublicIPv4Pool    string            `yaml:"publicIpv4Pool" json:"publicIpv4Pool,omitempty"`
}

// onAWS is the platform AWS.
type onAWS struct{}

func (onAWS) name() string         { return "aws" }
func (onAWS) infraCluster() string { return "AWSCluster" }
func (onAWS) infraMachine() string { return "AWSMachine" }
func (onAWS) defaultType() string  { return "m6i.xlarge" }

func (onAWS) mints(mode string) bool { return mode != "Manual" }

func (onAWS) validate(c installConfig) (wrong []string) {
	if c.Platform.AWS.Region == "" {
		wrong = append(wrong, "platform.aws.region: Required value: region must be specified")
	}
	return append(wrong, c.Platform.AWS.validateTags()...)
}

func (onAWS) machines(c installConfig, p *pool) (kind string, zones []string) {
	of := c.Platform.AWS.Default
	if p != nil {
		of = p.Platform.AWS
	}
	if of == nil {
		return "", nil
	}
	return of.Type, of.Zones
}

var (
	validTag  = regexp.MustCompile(`^[0-9A-Za-z_.:/=+\-@\p{Z}]+$`)
	forbidden = regexp.MustCompile(`(?i)^name$|^([^/]*\.)?(kubernetes|openshift)\.io/`)
)

func (p *awsPlatform) validateTags() []string {
	var wrong []string
	if len(p.UserTags) > 25 {
		wrong = append(wrong, fmt.Sprintf("platform.aws.userTags: Too many: %d: must have at most 25 items", len(p.UserTags)))
	}
	for key, value := range p.UserTags {
		switch {
		case forbidden.MatchString(key):
			wrong = append(wrong, fmt.Sprintf("platform.aws.userTags[%s]: Invalid value: %q: key is reserved", key, value))
		case len(key) > 128 || !validTag.MatchString(key):
			wrong = append(wrong, fmt.Sprintf("platform.aws.userTags[%s]: Invalid value: %q: key contains invalid characters", key, value))
		case value == "" || len(value) > 256 || !validTag.MatchString(value):
			wrong = append(wrong, fmt.Sprintf("platform.aws.userTags[%s]: Invalid value: %q: value contains invalid characters", key, value))
		}
	}
	slices.Sort(wrong)
	return wrong
}

// manifests adds the caller's keys in Mint mode: the cluster gets them.
func (onAWS) manifests(a *assets, object objectWriter) map[string]string {
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	out := map[string]string{
		"manifests/cloud-provider-config.yaml": object("v1", "ConfigMap", "openshift-config", "cloud-provider-config", ""),
		"cluster-api/02_infra-cluster.yaml":    object("infrastructure.cluster.x-k8s.io/v1beta2", "AWSCluster", "openshift-cluster-api-guests", a.infraID, ""),
		"openshift/99_openshift-machine-api_master-control-plane-machine-set.yaml": object("machine.openshift.io/v1", "ControlPlaneMachineSet", "openshift-machine-api", "cluster",
			fmt.Sprintf("spec:\n  replicas: %d\n", a.config.replicas())),
		"cluster-api/01_aws-cluster-controller-identity-default.yaml": object("infrastructure.cluster.x-k8s.io/v1beta2", "AWSClusterControllerIdentity", "openshift-cluster-api-guests", "default", ""),
	}
	if a.config.CredentialsMode != "Manual" {
		out["openshift/99_cloud-creds-secret.yaml"] = object("v1", "Secret", "kube-system", "aws-creds",
			"data:\n  aws_access_key_id: "+encode(a.keyID)+"\n  aws_secret_access_key: "+encode(a.keySecret)+"\n")
	}
	return out
}

// awsMetadata is AWS's part of metadata.json (pkg/types/aws/metadata.go in the real installer).
type awsMetadata struct {
	Region        string                 `json:"region"`
	Identifier    []resources.Identifier `json:"identifier"`
	ClusterDomain string                 `json:"clusterDomain"`
}

func (onAWS) describe(a *assets, m *metadata) {
	m.AWS = &awsMetadata{
		Region: a.config.Platform.AWS.Region, ClusterDomain: a.config.domain(),
		Identifier: []resources.Identifier{
			{resources.KubernetesTag(a.infraID): "owned"}, {"openshiftClusterID": a.clusterUUID}, {resources.ProviderTag(a.infraID): "owned"},
		},
	}
}

// open checks the credentials and the public zone.
func (onAWS) open(ctx context.Context, r *run, a *assets) (account, error) {
	cloud, err := resources.Open(ctx, a.config.Platform.AWS.Region, r.Wrote)
	if err != nil {
		return nil, fail(exitGeneric, "%s", err)
	}
	keys, err := cloud.Credentials(ctx)
	if err != nil {
		// The real installer asks for a key here, and reads the end of the input.
		fmt.Fprintln(r.out, "? AWS Access Key ID ")
		return nil, fail(exitGeneric, `failed to fetch Install Config: failed to create install config: failed to retrieve AWS credentials: EOF`)
	}
	if mode := a.config.CredentialsMode; keys.SessionToken != "" && (mode == "" || mode == "Mint") {
		return nil, fail(exitConfig, "failed to create install config: AWS credentials provided by %s are not valid for Mint credentials mode", keys.Source)
	}
	r.info("Credentials loaded from the AWS config using %q provider", keys.Source)
	a.keyID, a.keySecret = keys.AccessKeyID, keys.SecretAccessKey
	if _, err := cloud.PublicZone(ctx, strings.TrimSuffix(a.config.BaseDomain, ".")); err != nil {
		return nil, fail(exitConfig, `failed to fetch Install Config: failed to create install config: platform provisioning check: baseDomain: Invalid value: %q: %s`, a.config.BaseDomain, err)
	}
	return awsAccount{cloud}, nil
}

// awsAccount is one region of an AWS account.
type awsAccount struct{ *resources.Cloud }

func (awsAccount) requests() []release.Request { return release.AWSRequests() }

// usable: the role in the Secret has to exist, and the key that signs the operators' tokens.
func (c awsAccount) usable(ctx context.Context, a *assets, request release.Request) (bool, error) {
	arn, there := a.roleFor(request.File())
	if !there || len(a.signer) == 0 {
		return false, nil
	}
	return c.HasRole(ctx, arn)
}

// newBuild fills in what the install-config omits: without zones these are all zones of the region.
func (c awsAccount) newBuild(ctx context.Context, i *install) (build, error) {
	zones := i.config.zones()
	if len(zones) == 0 {
		var err error
		if zones, err = c.AvailableZones(ctx); err != nil {
			return nil, fail(exitGeneric, "failed to fetch Master Machines: %s", err)
		}
	}
	workerType := i.config.machineType(nil)
	if len(i.config.Compute) > 0 {
		workerType = i.config.machineType(&i.config.Compute[0])
	}
	return &awsBuild{i, c.NewBuild(resources.Spec{
		InfraID: i.infraID, ClusterUUID: i.clusterUUID, Name: i.config.Metadata.Name, BaseDomain: strings.TrimSuffix(i.config.BaseDomain, "."),
		Zones: zones, Masters: i.config.replicas(), Workers: i.config.workers(),
		MasterType: i.config.machineType(i.config.ControlPlane), WorkerType: workerType,
		UserTags: i.config.Platform.AWS.UserTags, Mint: i.config.CredentialsMode == "" || i.config.CredentialsMode == "Mint",
		SpotWorkers:    i.ordersSpot(),
		ClassicIngress: i.config.Platform.AWS.LBType != "NLB", KeepBootstrapBucket: i.Leaks(installer.LeakBucket),
	})}, nil
}
