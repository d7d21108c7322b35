// Package cur reads what AWS billed: an export of the table Cost and Usage Report 2.0 (AWS Data Exports) in S3, as gzip-compressed CSV.
//
// It reads the bucket and writes nothing there. Amounts are what usage really cost: with the part of savings plans and reservations that
// covers it, which AWS calls amortized cost.
package cur

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// ErrWrittenAgain says that AWS wrote the period again while it was read. The next look finds the new delivery.
var ErrWrittenAgain = errors.New("the export was written again while it was read")

// Config says where the export is.
type Config struct {
	Bucket, Prefix, Name string        // as in the export's settings; the prefix may be empty
	Region               string        // of the bucket; empty: the SDK's default
	Installation         string        // lines with another InstallationId are another control plane's
	Timeout              time.Duration // of reading one file; default 10 minutes
}

// Export is one export. It is safe for concurrent use.
type Export struct {
	cfg    Config
	client *s3.Client
}

// New loads the SDK's default configuration. It makes no call.
func New(ctx context.Context, cfg Config) (*Export, error) {
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Minute
	}
	loaded, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the AWS configuration for the billing export: %w", err)
	}
	client := s3.NewFromConfig(loaded, func(o *s3.Options) {
		o.UsePathStyle = true
		if cfg.Region != "" {
			o.Region = cfg.Region
		}
	})
	return &Export{cfg: cfg, client: client}, nil
}

// String is the export's address.
func (e *Export) String() string { return "s3://" + path.Join(e.cfg.Bucket, e.cfg.Prefix, e.cfg.Name) }

// Delivery is one writing of a billing period. AWS writes the current one at least once a day, and one that is over again until it is
// final.
type Delivery struct {
	Period time.Time // the first day of the month
	ID     string    // changes whenever the period is written again

	key     string
	written time.Time
}

// Deliveries returns the newest delivery of each period. AWS writes the manifest after all other files, so a delivery is complete.
func (e *Export) Deliveries(ctx context.Context) ([]Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	below := path.Join(e.cfg.Prefix, e.cfg.Name, "metadata") + "/"
	newest := map[time.Time]int{}
	var found []Delivery
	pages := s3.NewListObjectsV2Paginator(e.client, &s3.ListObjectsV2Input{Bucket: &e.cfg.Bucket, Prefix: &below})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", e, err)
		}
		for _, o := range page.Contents {
			d, ok := deliveryOf(below, aws.ToString(o.Key), aws.ToString(o.ETag), aws.ToTime(o.LastModified))
			if !ok {
				continue
			}
			i, known := newest[d.Period]
			switch {
			case !known:
				newest[d.Period] = len(found)
				found = append(found, d)
			case d.written.After(found[i].written):
				found[i] = d
			}
		}
	}
	return found, nil
}

// deliveryOf reads metadata/BILLING_PERIOD=2026-11/[<execution>/]<name>-Manifest.json.
func deliveryOf(below, key, etag string, written time.Time) (Delivery, bool) {
	rest, ok := strings.CutPrefix(key, below+"BILLING_PERIOD=")
	if !ok || !strings.HasSuffix(key, "-Manifest.json") {
		return Delivery{}, false
	}
	month, rest, _ := strings.Cut(rest, "/")
	period, err := time.Parse("2006-01", month)
	if err != nil {
		return Delivery{}, false
	}
	id := fmt.Sprintf("%s %s %s", written.UTC().Format(time.RFC3339), rest, strings.Trim(etag, `"`))
	return Delivery{Period: period, ID: id, key: key, written: written}, true
}

// Read sums a delivery by day and cluster. ErrWrittenAgain: it is no longer the newest.
func (e *Export) Read(ctx context.Context, d Delivery) (Bill, error) {
	files, err := e.listFiles(ctx, d)
	if err != nil {
		return Bill{}, err
	}
	all := &sum{installation: e.cfg.Installation, nanos: map[group]int64{}}
	for _, key := range files {
		if err := e.openFile(ctx, key, all.addFile); err != nil {
			return Bill{}, err
		}
	}
	now, err := e.Deliveries(ctx)
	if err != nil {
		return Bill{}, err
	}
	for _, other := range now {
		if other.Period.Equal(d.Period) && other.ID != d.ID {
			return Bill{}, fmt.Errorf("read %s of %s: %w", d.Period.Format("2006-01"), e, ErrWrittenAgain)
		}
	}
	return Bill{Lines: all.lines, Billed: all.listBilled()}, nil
}

// listFiles returns the keys of a delivery's files. They have to be where AWS writes them.
func (e *Export) listFiles(ctx context.Context, d Delivery) (keys []string, err error) {
	var manifest struct {
		DataFiles []string `json:"dataFiles"`
	}
	err = e.openFile(ctx, d.key, func(key string, body io.Reader) error {
		return json.NewDecoder(body).Decode(&manifest)
	})
	if err != nil {
		return nil, err
	}
	below := path.Join(e.cfg.Prefix, e.cfg.Name, "data") + "/"
	for _, file := range manifest.DataFiles {
		key := strings.TrimPrefix(file, "s3://"+e.cfg.Bucket+"/")
		if !strings.HasPrefix(key, below) {
			return nil, fmt.Errorf("%s names %s, which is not below s3://%s/%s", d.key, file, e.cfg.Bucket, below)
		}
		if !strings.HasSuffix(key, ".csv.gz") {
			return nil, fmt.Errorf("%s is not a .csv.gz file; create the export with the format gzip CSV", file)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func (e *Export) openFile(ctx context.Context, key string, read func(key string, body io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	object, err := e.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &e.cfg.Bucket, Key: &key})
	if err != nil {
		return fmt.Errorf("get s3://%s/%s: %w", e.cfg.Bucket, key, err)
	}
	defer object.Body.Close()
	if err := read(key, object.Body); err != nil {
		return fmt.Errorf("read s3://%s/%s: %w", e.cfg.Bucket, key, err)
	}
	return nil
}
