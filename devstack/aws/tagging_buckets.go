package aws

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// taggedBuckets returns the S3 server's buckets with tags, for the tagging API of us-east-1, because S3 there has one region. They come
// after everything else.
func (c *call) taggedBuckets() (found []*Resource, err error) {
	defer must.Catch(&err)
	cfg := c.server.cfg
	if !cfg.TagBuckets || c.region != "us-east-1" {
		return nil, nil
	}
	ctx := context.Background()
	client := c.bucketClient()
	list := must.Get(client.ListBuckets(ctx, &s3.ListBucketsInput{}))
	for i, bucket := range list.Buckets {
		tags, err := client.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: bucket.Name})
		if err != nil { // it has none, or is gone
			continue
		}
		r := &Resource{Service: "s3", Type: "bucket", ID: "arn:aws:s3:::" + sdk.ToString(bucket.Name), Name: sdk.ToString(bucket.Name), Account: c.Account, Seq: afterAll + int64(i), Tags: map[string]string{}}
		for _, tag := range tags.TagSet {
			r.Tags[sdk.ToString(tag.Key)] = sdk.ToString(tag.Value)
		}
		found = append(found, r)
	}
	return found, nil
}

func (c *call) bucketClient() *s3.Client {
	cfg := c.server.cfg
	return s3.New(s3.Options{Region: c.region, BaseEndpoint: sdk.String(cfg.Buckets), UsePathStyle: true, Credentials: credentials.NewStaticCredentialsProvider(cfg.AccessKey, cfg.SecretKey, "")})
}

// tagBucket writes a bucket's tags to the S3 server.
func (c *call) tagBucket(r *Resource) error {
	tags := &types.Tagging{}
	for key, value := range r.Tags {
		tags.TagSet = append(tags.TagSet, types.Tag{Key: &key, Value: &value})
	}
	_, err := c.bucketClient().PutBucketTagging(context.Background(), &s3.PutBucketTaggingInput{Bucket: &r.Name, Tagging: tags})
	return err
}

// afterAll is more than the number of any resource.
const afterAll = 1 << 40
