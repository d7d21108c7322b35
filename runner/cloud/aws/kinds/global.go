package kinds

import (
	"context"
	"strconv"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// The other global kinds.
const (
	Bucket = "bucket"
	Zone   = "hosted-zone"
	Record = "record"
)

// ListBuckets gives the account's buckets with their regions to take; prefix: only those whose names begin with it.
func ListBuckets(ctx context.Context, api *s3.Client, prefix *string, take func([]s3types.Bucket) error) error {
	p := s3.NewListBucketsPaginator(api, &s3.ListBucketsInput{Prefix: prefix, MaxBuckets: longPage}) // with a length AWS tells regions
	return EachPage(ctx, p, func(page *s3.ListBucketsOutput) error { return take(page.Buckets) })
}

// sizePages limits what is read of a bucket's list: a price is not worth more.
const sizePages = 10

// BucketSize adds up a bucket's first objects, in whole GiB; empty: they may not be listed, or there are none.
func BucketSize(ctx context.Context, api *s3.Client, name string) string {
	p := s3.NewListObjectsV2Paginator(api, &s3.ListObjectsV2Input{Bucket: &name})
	var bytes int64
	for pages := 0; p.HasMorePages() && pages < sizePages; pages++ {
		page, err := nextPage(ctx, p)
		if err != nil {
			return "" // the bucket is there, whatever is in it
		}
		for _, o := range page.Contents {
			bytes += awssdk.ToInt64(o.Size)
		}
	}
	if bytes == 0 {
		return ""
	}
	return strconv.FormatInt((bytes+1<<30-1)>>30, 10)
}

// ListRecords gives all records of a zone to take. It reads the whole zone: what looks like an order may not be one.
func ListRecords(ctx context.Context, api *route53.Client, zone string, take func([]r53types.ResourceRecordSet) error) error {
	p := route53.NewListResourceRecordSetsPaginator(api, &route53.ListResourceRecordSetsInput{HostedZoneId: &zone})
	return EachPage(ctx, p, func(page *route53.ListResourceRecordSetsOutput) error { return take(page.ResourceRecordSets) })
}

// ZoneID is a zone's id without the path.
func ZoneID(id *string) string { return strings.TrimPrefix(awssdk.ToString(id), "/hostedzone/") }

// DNSName is a name in lower case without the final dot.
func DNSName(name *string) string {
	return strings.ToLower(strings.TrimSuffix(awssdk.ToString(name), "."))
}
