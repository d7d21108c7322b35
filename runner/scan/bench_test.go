package scan_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/inventory"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/scan"
)

// enabled are the regions that an account has without opting in.
var enabled = []string{
	"us-east-1", "us-east-2", "us-west-1", "us-west-2", "ca-central-1", "sa-east-1", "eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2", "eu-west-3",
	"ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-southeast-1", "ap-southeast-2",
}

const (
	benchKey, benchSecret = "AKIADEMO0000EXAMPLE1", "demo-secret-access-key"
	clusters              = 200
)

// populate plants two hundred clusters of fifty resources each.
func populate(b *testing.B, s *aws.Server) {
	b.Helper()
	plant := func(r aws.Resource) string {
		out, err := s.Plant(r)
		require.NoError(b, err)
		return out.ID
	}
	zone := ""
	for _, r := range s.All() {
		if r.Type == "hostedzone" {
			zone = r.ID
		}
	}
	for n := range clusters {
		region, infra := enabled[n%len(enabled)], fmt.Sprintf("bench%d-x7k2p", n)
		tags := map[string]string{"kubernetes.io/cluster/" + infra: "owned", "ClusterId": fmt.Sprintf("clu_%d", n), "InstallationId": "bench", "Owner": "maya", "Team": "platform"}
		vpc := plant(aws.Resource{Service: "ec2", Type: "vpc", Region: region, Tags: tags})
		for kind, count := range map[string]int{"subnet": 6, "instance": 6, "volume": 6, "network-interface": 8, "security-group": 3, "natgateway": 3, "elastic-ip": 3} {
			for range count {
				plant(aws.Resource{Service: "ec2", Type: kind, Region: region, VPC: vpc, Tags: tags})
			}
		}
		for i := range 5 {
			kind := []string{"loadbalancer", "targetgroup"}[i%2]
			plant(aws.Resource{ID: fmt.Sprintf("arn:aws:elasticloadbalancing:%s:123456789012:%s/net/%s-%d/1", region, kind, infra, i), Name: fmt.Sprintf("%s-%d", infra, i), VPC: vpc, Tags: tags})
		}
		for _, role := range []string{"master", "worker"} {
			plant(aws.Resource{Service: "iam", Type: "role", Name: infra + "-" + role + "-role", Tags: tags})
			plant(aws.Resource{Service: "iam", Type: "instance-profile", Name: infra + "-" + role + "-profile", Tags: tags})
		}
		plant(aws.Resource{Service: "s3", Type: "bucket", Name: infra + "-image-registry-" + region, Region: region, Tags: tags})
		plant(aws.Resource{Service: "route53", Type: "hostedzone", ID: fmt.Sprintf("ZBENCH%d", n), Name: fmt.Sprintf("bench%d.labs.example.com.", n), Tags: tags, Attrs: map[string]string{"private": "true"}})
		for _, host := range []string{"api", "api-int", `\052.apps`} {
			name := fmt.Sprintf("%s.bench%d.labs.example.com.", host, n)
			plant(aws.Resource{Service: "route53", Type: "record", ID: name, Name: name, Parent: zone, Attrs: map[string]string{"type": "A", "ttl": "60"}, Values: map[string][]string{"values": {"192.0.2.1"}}})
		}
	}
}

// peak is the most memory that was in use while work ran.
func peak(work func()) uint64 {
	var most atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.HeapInuse))
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	work()
	close(stop)
	<-done
	return most.Load()
}

// BenchmarkScan looks through an account of 10,000 resources in 17 regions. AWS and the server run in the same process, and their memory
// is counted too, except for what the account itself takes.
func BenchmarkScan(b *testing.B) {
	cloudAt, err := aws.Start(context.Background(), aws.Config{AccessKey: benchKey, SecretKey: benchSecret, Regions: enabled})
	require.NoError(b, err)
	defer func() { require.NoError(b, cloudAt.Stop()) }()
	populate(b, cloudAt)
	require.Len(b, cloudAt.Resources(""), clusters*50)
	for _, rate := range []int{5, 50} {
		b.Run(fmt.Sprintf("callsPerSecond=%d", rate), func(b *testing.B) {
			var calls, most, reports int
			for range b.N {
				s := &server{lease: time.Minute, heard: map[string]int{}, spec: contract.ScanSpec{
					Scan: "scn_1", Platform: "aws", Account: "123456789012", HomeRegion: "us-east-1", BaseDomains: []string{"labs.example.com"}, CallsPerSecond: rate, Heartbeat: time.Second,
				}}
				at := httptest.NewServer(s)
				runtime.GC()
				var before runtime.MemStats
				runtime.ReadMemStats(&before)
				used := peak(func() {
					require.NoError(b, scan.Run(b.Context(), scan.Config{
						Server: at.URL, Scan: "scn_1", Token: secret.New("first"), Pod: "pod-1", Log: slog.New(slog.DiscardHandler), Redact: installer.NewRedactor(), HTTP: http.DefaultClient,
						Clouds: map[string]scan.Open{"aws": func(ctx context.Context, spec contract.ScanSpec, _ cloud.Keys) (scan.Inventory, error) {
							return inventory.New(ctx, inventory.Config{HomeRegion: spec.HomeRegion, BaseDomains: spec.BaseDomains, CallsPerSecond: spec.CallsPerSecond},
								config.WithBaseEndpoint(cloudAt.URL()), config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(benchKey, benchSecret, "")))
						}},
					}))
				})
				at.Close()
				require.Equal(b, "succeeded", s.result.Outcome, s.result.Message)
				require.Empty(b, s.result.Reason, s.result.Message)
				seen := 0
				for _, r := range s.reports {
					if r.Part != nil {
						seen += len(r.Part.Resources)
					}
				}
				require.Equal(b, clusters*50, seen)
				for _, n := range s.result.Calls {
					calls += n
				}
				most, reports = max(most, int(used-min(used, before.HeapInuse))), reports+len(s.reports)
			}
			b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
			b.ReportMetric(float64(reports)/float64(b.N), "reports/op")
			b.ReportMetric(float64(most)/(1<<20), "peakMB")
		})
	}
}
