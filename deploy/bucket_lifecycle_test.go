package deploy_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// S3 does not know which clusters live: a rule that expires what is current would take the state of one that does, and with it
// its teardown. So rules take only what the server deleted already, and spools, which no living attempt has for so long.
func TestTheBucketsRulesNeverTakeTheStateOfALivingCluster(t *testing.T) {
	raw, err := os.ReadFile("bucket-lifecycle.json")
	require.NoError(t, err)
	var rules struct {
		Rules []struct {
			ID, Status                     string
			Filter                         struct{ Prefix string }
			Expiration                     struct{ Days int }
			NoncurrentVersionExpiration    struct{ NoncurrentDays int }
			AbortIncompleteMultipartUpload struct{ DaysAfterInitiation int }
		}
	}
	require.NoError(t, json.Unmarshal(raw, &rules))
	noncurrent, unfinished := false, false
	for _, r := range rules.Rules {
		require.Equal(t, "Enabled", r.Status, r.ID)
		if r.Expiration.Days > 0 {
			require.True(t, strings.HasPrefix(r.Filter.Prefix, "spool/"), "%s expires what is current below %q", r.ID, r.Filter.Prefix)
			require.GreaterOrEqual(t, r.Expiration.Days, 90, "a cluster's end comes before, and the server's own retention ends by then")
		}
		noncurrent = noncurrent || r.Filter.Prefix == "" && r.NoncurrentVersionExpiration.NoncurrentDays > 0 && r.NoncurrentVersionExpiration.NoncurrentDays <= 30
		unfinished = unfinished || r.Filter.Prefix == "" && r.AbortIncompleteMultipartUpload.DaysAfterInitiation > 0
	}
	require.True(t, noncurrent, "what the server could not delete in every version goes after 30 days at most")
	require.True(t, unfinished, "parts of uploads that never ended are paid for and seen by nobody")
}
