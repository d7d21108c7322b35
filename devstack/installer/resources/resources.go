// Package resources is the cloud part of the stand-in installer: it creates and destroys what openshift-install 4.20 creates in AWS,
// through the official SDK, with the same names, tags and order.
//
// It must never be used with a real cloud; Open refuses every address that is not on this machine.
package resources

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// Cloud is one region and the global services.
type Cloud struct {
	Region string
	Blind  []string // kinds ("user", "instance-profile") that destroy does not see, as if it were not allowed to read them

	cfg     aws.Config
	ec2     *ec2.Client
	elb     *elasticloadbalancingv2.Client
	classic *elasticloadbalancing.Client
	iam     *iam.Client
	r53     *route53.Client
	s3      *s3.Client
	sts     *sts.Client
}

// Open takes credentials and endpoints from the environment. It makes no call yet, and refuses addresses off this machine. wrote is
// called after each successful write; its error becomes that call's.
func Open(ctx context.Context, region string, wrote func(service, action string) error) (_ *Cloud, err error) {
	defer must.Catch(&err)
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		must.Do(loopback(name))
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(region), config.WithLogger(logging.Nop{})) // the real installer prints nothing of the SDK's
	must.Wrap(err, "load AWS configuration")
	cfg.APIOptions = append(cfg.APIOptions, counting(wrote))
	return &Cloud{
		Region: region, cfg: cfg,
		ec2: ec2.NewFromConfig(cfg), elb: elasticloadbalancingv2.NewFromConfig(cfg), classic: elasticloadbalancing.NewFromConfig(cfg),
		iam: iam.NewFromConfig(cfg), sts: sts.NewFromConfig(cfg),
		r53: route53.NewFromConfig(cfg), s3: s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle, o.Region = true, "us-east-1" }), // the stand-in S3 has one region
	}, nil
}

// loopback refuses an environment that points to a real cloud.
func loopback(variable string) error {
	address, err := url.Parse(os.Getenv(variable))
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	host := address.Hostname()
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("this %s is a stand-in and speaks to stand-ins only: %s must name an address of this machine, it is %q",
			filepath.Base(os.Args[0]), variable, os.Getenv(variable))
	}
	return nil
}

// Credentials returns the credentials that the SDK's chain found.
func (c *Cloud) Credentials(ctx context.Context) (aws.Credentials, error) {
	return c.cfg.Credentials.Retrieve(ctx)
}

func (c *Cloud) taggingIn(region string) *resourcegroupstaggingapi.Client {
	return resourcegroupstaggingapi.NewFromConfig(c.cfg, func(o *resourcegroupstaggingapi.Options) { o.Region = region })
}

// Spec is what to create.
type Spec struct {
	InfraID, ClusterUUID string
	Name, BaseDomain     string
	Zones                []string
	Masters, Workers     int
	MasterType           string
	WorkerType           string
	SpotWorkers          bool // the workers' machine sets order spot machines
	UserTags             map[string]string
	Mint                 bool // the cluster creates IAM users for its operators
	ClassicIngress       bool // the router's load balancer is a classic one, the installer's default
	KeepBootstrapBucket  bool // the bootstrap bucket outlives the bootstrap machine
}

// Domain is the name below which the cluster's records are.
func (s Spec) Domain() string { return s.Name + "." + s.BaseDomain }

// KubernetesTag and ProviderTag are the keys by which the installer owns resources.
func KubernetesTag(infraID string) string { return "kubernetes.io/cluster/" + infraID }

// ProviderTag is the key by which the cluster API provider owns resources.
func ProviderTag(infraID string) string {
	return "sigs.k8s.io/cluster-api-provider-aws/cluster/" + infraID
}

// Build creates one cluster's resources, step by step. It remembers ids only within one process.
type Build struct {
	*Cloud
	Spec

	vpc                   string
	publicSubnets         []string // by zone
	privateSubnets        []string
	nodeGroup, lbGroup    string // security groups
	external, internal    balancer
	publicZone            string
	privateZone           string
	image                 string // copied into the region; empty: the published one
	bootstrap             string // instance
	masterIDs, routeTable []string
}

// NewBuild returns a Build that has created nothing yet.
func (c *Cloud) NewBuild(s Spec) *Build { return &Build{Cloud: c, Spec: s} }

// tags returns the tags of every resource, with its own name.
func (b *Build) tags(name string) map[string]string {
	tags := maps.Clone(b.UserTags)
	if tags == nil {
		tags = map[string]string{}
	}
	tags["Name"] = name
	tags[KubernetesTag(b.InfraID)] = "owned"
	tags[ProviderTag(b.InfraID)] = "owned"
	return tags
}

// sorted converts tags to a service's SDK type, in a fixed order.
func sorted[T any](tags map[string]string, tag func(key, value *string) T) []T {
	return pick.Map(slices.Sorted(maps.Keys(tags)), func(key string) T { return tag(aws.String(key), aws.String(tags[key])) })
}

// services maps the SDK's service names to ours.
var services = map[string]string{
	"EC2": "ec2", "Elastic Load Balancing": "elb", "Elastic Load Balancing v2": "elb", "IAM": "iam", "Route 53": "route53", "S3": "s3",
}

// counting reports every operation that changed something in the cloud, once, after it succeeded.
func counting(wrote func(service, action string) error) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("CountWrites", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
			out, metadata, err = next.HandleInitialize(ctx, in)
			service, known := services[awsmiddleware.GetServiceID(ctx)]
			action := awsmiddleware.GetOperationName(ctx)
			if err == nil && known && !reads(action) {
				err = wrote(service, action)
			}
			return out, metadata, err
		}), middleware.After)
	}
}

func reads(action string) bool {
	return slices.ContainsFunc([]string{"Describe", "Get", "Head", "List"}, func(verb string) bool { return strings.HasPrefix(action, verb) })
}
