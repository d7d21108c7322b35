package attempts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestNothingIsRecordedWithoutWhatItsTeardownNeeds(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	for name, spoil := range map[string]func(*attempts.IdentityRow, *[]attempts.ArtifactRow){
		"clusterUuid":   func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) { i.ClusterUUID = "" },
		"account":       func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) { i.Account = "" },
		"region":        func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) { i.Region = "" },
		"releaseDigest": func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) { i.ReleaseDigest = "" },
		"metadata":      func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) { i.Metadata = "" },
		"no snapshot":   func(_ *attempts.IdentityRow, list *[]attempts.ArtifactRow) { *list = nil },
		"another's":     func(_ *attempts.IdentityRow, list *[]attempts.ArtifactRow) { (*list)[0].InfraID = "demo-zzzzz" },
		"no destroyer's": func(_ *attempts.IdentityRow, list *[]attempts.ArtifactRow) {
			(*list)[0].Type = "AUTH_BUNDLE"
		},
		"no checksum": func(_ *attempts.IdentityRow, list *[]attempts.ArtifactRow) { (*list)[0].SHA256 = "" },
		"ccoctl's place": func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) {
			*i = attempts.IdentityRow{CCOName: "demo-cco"}
		},
		"a made-up program": func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) { i.InstallerSHA256 = "latest" },
	} {
		id, list := storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde")
		spoil(&id, &list)
		_, err := s.Record(t.Context(), open.Attempt, open.Token, id, list)
		require.ErrorIs(t, err, db.ErrConflict, name)
	}
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Preflight, now.Phase)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM artifacts`))

	older := storetest.Identity("demo-abcde")
	older.InstallerSHA256 = ""
	_, err = s.Record(t.Context(), open.Attempt, open.Token, older, storetest.Bundles("demo-abcde"))
	require.NoError(t, err, "an older runner does not tell its installer's checksum")
}

func TestEachRecordMovesThePhase(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	phase := func() lifecycle.Phase {
		now, err := s.Cluster(t.Context(), row.ID)
		require.NoError(t, err)
		return now.Phase
	}
	whole := storetest.Identity("demo-abcde")
	whole.CCOName = "demo-cco"
	claim := attempts.IdentityRow{CCOName: "demo-cco", Account: whole.Account, Region: whole.Region, ReleaseDigest: whole.ReleaseDigest, InstallerSHA256: whole.InstallerSHA256}
	_, err := s.Record(t.Context(), open.Attempt, open.Token, claim, nil)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Claiming, phase())
	claim.ResourceGroupID = strings.Repeat("0a", 16)
	_, err = s.Record(t.Context(), open.Attempt, open.Token, claim, nil)
	require.NoError(t, err, "its id is known once it is made")
	require.Equal(t, lifecycle.Claiming, phase())
	storetest.Refuses(t, s, "written once", `UPDATE attempts SET resource_group_id = $1`, strings.Repeat("0b", 16))
	claim.ResourceGroupID = strings.Repeat("0b", 16)
	_, err = s.Record(t.Context(), open.Attempt, open.Token, claim, nil)
	var wrong *attempts.Contradiction
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "resourceGroupId", wrong.Field)
	_, err = s.Record(t.Context(), open.Attempt, open.Token, whole, storetest.Bundles("demo-abcde"))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Installing, phase())
	spec, err := s.Attempts.AttemptSpec(t.Context(), open.Attempt)
	require.NoError(t, err)
	whole.ResourceGroupID = strings.Repeat("0a", 16)
	require.Equal(t, []attempts.IdentityRow{whole}, spec.Identities)
}

func TestARecordThatContradictsWhatIsKnownNamesTheField(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	a := storetest.Granted("shop")
	a.Row.Spec.Account = "123456789012"
	row := storetest.Accept(t, s, a)
	storetest.Step(t, s, row.ID)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	record := func(change func(*attempts.IdentityRow)) error {
		id := storetest.Identity("demo-abcde")
		change(&id)
		_, err := s.Record(t.Context(), open.Attempt, open.Token, id, storetest.Bundles("demo-abcde"))
		return err
	}
	var wrong *attempts.Contradiction
	require.ErrorAs(t, record(func(i *attempts.IdentityRow) { i.Account = "999999999999" }), &wrong, "the account it was accepted for")
	require.Equal(t, attempts.Contradiction{Field: "account", Have: "123456789012", Said: "999999999999"}, *wrong)
	require.ErrorAs(t, record(func(i *attempts.IdentityRow) { i.Region = "eu-west-1" }), &wrong)
	require.Equal(t, "region", wrong.Field)
	require.NoError(t, record(func(*attempts.IdentityRow) {}))
	require.ErrorAs(t, record(func(i *attempts.IdentityRow) { i.InstallerSHA256 = strings.Repeat("f", 64) }), &wrong)
	require.Equal(t, "installerSha256", wrong.Field)

	replaced := storetest.Bundles("demo-abcde")
	replaced[0].SHA256 = strings.Repeat("f", 64)
	_, err = s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), replaced)
	require.ErrorAs(t, err, &wrong, "an archive is written once")
	require.ErrorIs(t, err, db.ErrConflict)
}

// A cluster's later attempts stay in the account where the first one recorded something.
func TestALaterAttemptStaysInTheAccountOfTheFirst(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	_, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "BootstrapFailed", Retryable: true})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Cleaning, storetest.Settled(t, s, row.ID).Phase)
	clock.Pass(storetest.Limits.RetryMax / 100)
	require.Equal(t, lifecycle.Destroy, storetest.Step(t, s, row.ID).Open, "a retry begins with a teardown")
	destroyer, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	storetest.Zero(t, s, clock, destroyer)
	storetest.Step(t, s, row.ID)
	open, err = s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{3, lifecycle.Create}, []any{open.Number, open.Kind})
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-3")
	require.NoError(t, err)
	moved := storetest.Identity("demo-fghij")
	moved.Account = "999999999999"
	_, err = s.Record(t.Context(), open.Attempt, open.Token, moved, storetest.Bundles("demo-fghij"))
	require.ErrorContains(t, err, `account is "999999999999"`)
	_, err = s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-fghij"), storetest.Bundles("demo-fghij"))
	require.NoError(t, err)
}

func TestAFailureSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	failed := attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "VPCLimitExceeded", Message: "5 of 5", Whose: "quota", Next: "raise L-F678F1CE"}
	for range 2 {
		lease, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, failed)
		require.NoError(t, err)
		require.Equal(t, attempts.Lease{Closed: true}, lease, "the same result again is answered alike")
	}
	now := storetest.Settled(t, s, row.ID)
	require.Equal(t, []string{"VPCLimitExceeded", "5 of 5", "quota", "raise L-F678F1CE"}, []string{now.FailReason, now.FailMessage, now.FailWhose, now.FailNext})
	attempts, err := s.Attempts.List(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"quota", "raise L-F678F1CE"}, []string{attempts[0].Whose, attempts[0].Next})
}
