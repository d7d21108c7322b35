package artifacts

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Document is one report or result that a runner left in the bucket because the Status API was away.
type Document struct {
	Kind string // "report" or "result"
	Body []byte // JSON, as the Status API would have got it
}

// Spooled returns what an attempt's runner left, in the order it was written. None is an empty list.
func (s *Store) Spooled(ctx context.Context, attempt string) ([]Document, error) {
	if !plainID.MatchString(attempt) {
		return nil, fmt.Errorf("spool of attempt %q: not an id", attempt)
	}
	prefix := "spool/" + attempt + "/"
	listed := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: aws.String(s.cfg.Bucket), Prefix: aws.String(prefix)})
	var docs []Document
	for listed.HasMorePages() {
		page, err := listed.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the spool of attempt %s: %w", attempt, err)
		}
		for _, object := range page.Contents { // S3 lists by key, and the keys begin with a padded number
			key := aws.ToString(object.Key)
			body, err := s.Read(ctx, s.ref(key))
			if err != nil {
				return nil, err
			}
			_, kind, _ := strings.Cut(strings.TrimSuffix(path.Base(key), ".json"), "-")
			docs = append(docs, Document{Kind: kind, Body: body})
		}
	}
	return docs, nil
}
