package config

import (
	"fmt"
	"regexp"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// Bill is an export of AWS's Cost and Usage Report 2.0, as gzip-compressed CSV. Without a bucket no bill is read.
type Bill struct {
	Bucket string        `yaml:"bucket"` // in which AWS writes it
	Prefix string        `yaml:"prefix"` // of the export's S3 path; empty: none
	Name   string        `yaml:"name"`   // of the export
	Region string        `yaml:"region"` // of the bucket; empty: the SDK's default
	Every  time.Duration `yaml:"every"`  // how often it is looked at
}

// On reports whether there is a bill to read.
func (b Bill) On() bool { return b.Bucket != "" }

var (
	exportForm = regexp.MustCompile(`^[0-9A-Za-z!_.*'()-]+$`)
	prefixForm = regexp.MustCompile(`^[0-9A-Za-z!_.*'()-]+(/[0-9A-Za-z!_.*'()-]+)*$`)
)

// leastBill is how often AWS writes an export at most, roughly.
const leastBill = 10 * time.Minute

func (b Bill) checkBill() (bad []error) {
	if !b.On() {
		if b.Prefix != "" || b.Name != "" || b.Region != "" {
			bad = append(bad, fmt.Errorf("bill.bucket is missing; give the bucket in which AWS writes the export, or omit bill"))
		}
		return bad
	}
	if !exportForm.MatchString(b.Name) {
		bad = append(bad, fmt.Errorf("bill.name is %q; give the name of the export, e.g. daily", b.Name))
	}
	if b.Prefix != "" && !prefixForm.MatchString(b.Prefix) {
		bad = append(bad, fmt.Errorf("bill.prefix is %q; give the export's S3 path prefix without slashes at its ends, e.g. bills, or omit it", b.Prefix))
	}
	if b.Every < leastBill {
		bad = append(bad, fmt.Errorf("bill.every is %s; give %s or more: AWS writes an export a few times a day", duration.Typed(b.Every), duration.Typed(leastBill)))
	}
	return bad
}
