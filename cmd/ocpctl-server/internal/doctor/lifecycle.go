package doctor

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ocpctl/ocpctl/deploy"
)

// spoolPrefix is the only part of the bucket in which current objects may expire by themselves.
const spoolPrefix = "spool/"

// effect is what a lifecycle rule does, whatever its name and its number of days.
type effect struct{ what, prefix string }

// checkLifecycle compares the bucket's rules with deploy/bucket-lifecycle.json, and looks for rules that would delete the state of living
// clusters.
func (b bucket) checkLifecycle(ctx context.Context, f *findings) {
	next := "aws s3api put-bucket-lifecycle-configuration --bucket " + b.name + " --lifecycle-configuration file://deploy/bucket-lifecycle.json"
	wanted, err := readDocumentedRules()
	if err != nil {
		f.fail("lifecycle", "Report this as a bug.", "%s", err)
		return
	}
	got, err := b.client.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: &b.name})
	if codeOf(err) == "NoSuchLifecycleConfiguration" {
		f.warn("lifecycle", next, "there are no lifecycle rules: old versions and unfinished uploads are kept, and paid for, forever")
		return
	}
	if reportUnreadable(f, "lifecycle", "s3:GetLifecycleConfiguration", err) {
		return
	}
	var have []effect
	for _, rule := range got.Rules {
		if rule.Status != types.ExpirationStatusEnabled {
			continue
		}
		for _, e := range ruleEffects(rule) {
			if e.what == "current objects" && !strings.HasPrefix(e.prefix, spoolPrefix) {
				f.fail("lifecycle", "Remove the rule, or limit it to the prefix "+spoolPrefix+".",
					"the rule %q deletes current objects below %q, and with them the state of living clusters", aws.ToString(rule.ID), e.prefix)
				return
			}
			have = append(have, e)
		}
	}
	var missing []string
	for _, e := range wanted {
		if !slices.Contains(have, e) {
			missing = append(missing, e.what+" below \""+e.prefix+"\"")
		}
	}
	if len(missing) > 0 {
		f.warn("lifecycle", next, "no rule removes %s", joinWords(missing))
		return
	}
	f.ok("lifecycle", "the rules of deploy/bucket-lifecycle.json are in force")
}

// ruleEffects lists what a rule removes.
func ruleEffects(rule types.LifecycleRule) (list []effect) {
	//lint:ignore SA1019 old rules still have it
	prefix := aws.ToString(rule.Prefix)
	if filter := rule.Filter; filter != nil {
		prefix = aws.ToString(filter.Prefix)
		if filter.And != nil {
			prefix = aws.ToString(filter.And.Prefix)
		}
	}
	if e := rule.Expiration; e != nil && (e.Days != nil || e.Date != nil) {
		list = append(list, effect{"current objects", prefix})
	}
	if e := rule.NoncurrentVersionExpiration; e != nil && e.NoncurrentDays != nil {
		list = append(list, effect{"old versions", prefix})
	}
	if e := rule.AbortIncompleteMultipartUpload; e != nil && e.DaysAfterInitiation != nil {
		list = append(list, effect{"unfinished uploads", prefix})
	}
	return list
}

// readDocumentedRules returns what the rules of deploy/bucket-lifecycle.json remove.
func readDocumentedRules() (list []effect, err error) {
	var document struct{ Rules []types.LifecycleRule }
	if err := json.Unmarshal(deploy.BucketLifecycle, &document); err != nil {
		return nil, err
	}
	for _, rule := range document.Rules {
		list = append(list, ruleEffects(rule)...)
	}
	return list, nil
}
