package runner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws/session"
	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// granting makes the server of a world give credentials for the attempt's own part of the bucket, as the real one does,
// while the runner's own identity reaches nothing of it.
func (w *world) granting(lasts time.Duration) (given *[]contract.BucketCredentials) {
	w.t.Helper()
	w.t.Setenv("AWS_ACCESS_KEY_ID", "AKIANOBODY")
	w.spec.BucketGrant = true
	given = &[]contract.BucketCredentials{}
	w.grant = func() contract.BucketCredentials {
		bucket := "arn:aws:s3:::" + w.spec.Bucket + "/"
		s, token, err := session.New(s3test.SecretKey, session.Session{ARN: "arn:aws:sts::1:assumed-role/runner/att_1", Expires: time.Now().Add(time.Hour), RolePolicy: fmt.Sprintf(
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:PutObject","s3:GetObject"],"Resource":["%[1]sclusters/clu_1/*-a3/*","%[1]soperate/clusters/clu_1/*-a3/*"]}]}`, bucket)})
		require.NoError(w.t, err)
		*given = append(*given, contract.BucketCredentials{AccessKeyID: s.AccessKey, SecretAccessKey: s.SecretKey, SessionToken: token, ExpiresAt: time.Now().Add(lasts)})
		return (*given)[len(*given)-1]
	}
	return given
}

func TestTheBucketIsReachedByWhatTheServerGives(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	given := w.granting(time.Hour)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	require.Len(t, *given, 1, "asked for once, and kept while they hold")
	require.NotContains(t, w.log.String(), (*given)[0].SecretAccessKey)
	require.NotContains(t, w.log.String(), (*given)[0].SessionToken)
}

func TestTheBucketsCredentialsAreRenewedWellBeforeTheirEnd(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	given := w.granting(29 * time.Minute) // a silent server is waited for as long as that
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	require.Greater(t, len(*given), 1)
}

func TestAServerThatGivesNothingForTheBucketStopsAnInstall(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.granting(time.Hour)
	w.cfg.Timings.Save = 50 * time.Millisecond
	w.reply = func(what string, _ int) int {
		if what == "bucket-credentials" {
			return 500
		}
		return 0
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []string{"failed", "ArtifactsUnavailable"}, []string{w.result().Outcome, w.result().Reason})
	require.Contains(t, w.result().Message, "nothing was created")
}

func TestABucketThatCannotBeWrittenIsReportedWithItsReason(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.granting(time.Hour)
	w.cfg.Timings.Save = 300 * time.Millisecond
	w.reply = func(what string, _ int) int {
		if what == "bucket-credentials" {
			return 500
		}
		return 0
	}
	require.NoError(t, w.run(t.Context()))
	var steps []string
	for _, r := range w.reports {
		steps = append(steps, r.Step)
	}
	require.Contains(t, strings.Join(steps, "\n"), "storing the record of this attempt failed, retrying: ")
}
