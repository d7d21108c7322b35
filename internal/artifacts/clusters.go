package artifacts

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Folder is where the bucket has objects of one cluster.
type Folder struct {
	Cluster string
	Ref     string // s3://<bucket>/…/
}

// EachCluster calls do with the folders of clusters, page by page, sorted by id: first where archives, outputs and logs are, then where
// what gives access is. It lists folders, not objects, so a page of S3 has up to a thousand clusters. It ends at the first error.
func (s *Store) EachCluster(ctx context.Context, do func([]Folder) error) error {
	for _, below := range []string{"clusters/", operatePrefix + "clusters/"} {
		pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.cfg.Bucket, Prefix: aws.String(below), Delimiter: aws.String("/")})
		for pages.HasMorePages() {
			page, err := s.listPage(ctx, pages)
			if err != nil {
				return fmt.Errorf("list the folders of clusters below %s: %w", s.refOf(below), err)
			}
			var found []Folder
			for _, folder := range page.CommonPrefixes {
				prefix := aws.ToString(folder.Prefix)
				if id := strings.TrimSuffix(strings.TrimPrefix(prefix, below), "/"); plainID.MatchString(id) {
					found = append(found, Folder{Cluster: id, Ref: s.refOf(prefix)})
				}
			}
			if len(found) == 0 {
				continue
			}
			if err := do(found); err != nil {
				return err
			}
		}
	}
	return nil
}
