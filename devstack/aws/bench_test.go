package aws_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

// BenchmarkCycle makes and deletes a volume, eight at a time, in a world that holds so many living resources and has had
// so many cycles before. Its numbers: writes a second, and how long the state file is in the end.
func BenchmarkCycle(b *testing.B) {
	for _, kept := range []bool{false, true} {
		for _, living := range []int{100, 1000} {
			b.Run(fmt.Sprintf("kept=%v/living=%d", kept, living), func(b *testing.B) { cycle(b, kept, living) })
		}
	}
}

func cycle(b *testing.B, kept bool, living int) {
	path := ""
	if kept {
		path = filepath.Join(b.TempDir(), "aws.json")
	}
	s, err := aws.Start(context.Background(), aws.Config{AccessKey: key, SecretKey: secret, StatePath: path})
	require.NoError(b, err)
	b.Cleanup(func() { _ = s.Stop() })
	for i := range living {
		_, err := s.Plant(aws.Resource{Service: "ec2", Type: "subnet", Tags: map[string]string{owned: "owned", "Name": fmt.Sprintf("%s-subnet-%d", infra, i), "ClusterId": "clu_01J"}, Attrs: map[string]string{"cidr-block": "10.0.0.0/20"}})
		require.NoError(b, err)
	}
	cfg, err := config.LoadDefaultConfig(b.Context(), config.WithRegion("us-east-1"), config.WithBaseEndpoint(s.URL()), config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(key, secret, "")))
	require.NoError(b, err)
	api := ec2.NewFromConfig(cfg)
	b.SetParallelism(4)
	b.ResetTimer()
	began := time.Now()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			out, err := api.CreateVolume(b.Context(), &ec2.CreateVolumeInput{AvailabilityZone: sdk.String("us-east-1a"), TagSpecifications: spec("volume", infra+"-volume")})
			if err == nil {
				_, err = api.DeleteVolume(b.Context(), &ec2.DeleteVolumeInput{VolumeId: out.VolumeId})
			}
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(2*b.N)/time.Since(began).Seconds(), "writes/s")
	if kept {
		info, err := os.Stat(path)
		require.NoError(b, err)
		b.ReportMetric(float64(info.Size())/1024, "KiB")
	}
}
