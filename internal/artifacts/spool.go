package artifacts

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Document is a report or result that a runner left in the bucket because it could not reach the Status API.
type Document struct {
	Kind string // "report" or "result"
	Body []byte // JSON, as the Status API would have received it; nil: larger than the Status API accepts
}

// The limits of a spool. A runner that lost its connection leaves some hundred documents; a faulty one may leave anything, and the
// end of its attempt waits for this reading.
const (
	mostSpooled  = 1000
	mostDocument = 8 << 20  // bytes, the Status API's limit
	mostSpool    = 64 << 20 // bytes of all documents together
)

// Spooled returns what an attempt's runner left, in the order in which it was written; an empty list if there is nothing. It returns
// only the first of too many documents, and no body for one that is too large.
func (s *Store) Spooled(ctx context.Context, attempt string) ([]Document, error) {
	if !plainID.MatchString(attempt) {
		return nil, fmt.Errorf("spool of attempt %q: not an id", attempt)
	}
	prefix := "spool/" + attempt + "/"
	listed := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: aws.String(s.cfg.Bucket), Prefix: aws.String(prefix)})
	var docs []Document
	var sum int64
	for listed.HasMorePages() && len(docs) < mostSpooled {
		page, err := listed.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the spool of attempt %s: %w", attempt, err)
		}
		for _, object := range page.Contents[:min(len(page.Contents), mostSpooled-len(docs))] { // S3 lists by key, and the keys begin with a padded number
			doc, size := Document{Kind: kindOf(aws.ToString(object.Key))}, aws.ToInt64(object.Size)
			if size <= mostDocument && sum+size <= mostSpool {
				sum += size
				doc.Body, err = s.readAll(ctx, aws.ToString(object.Key), mostDocument)
			}
			if err != nil && !errors.Is(err, ErrCorrupt) { // it was replaced by a larger one since it was listed
				return nil, err
			}
			docs = append(docs, doc)
		}
	}
	return docs, nil
}

// kindOf reads the kind from a document's key.
func kindOf(key string) string {
	_, kind, _ := strings.Cut(strings.TrimSuffix(path.Base(key), ".json"), "-")
	return kind
}
