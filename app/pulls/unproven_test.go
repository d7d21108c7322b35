package pulls_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// A label that was refused would have to be set again, and a cluster that a push replaced would be gone.
func TestLabelAndPushWaitForTheProofOfAnAccount(t *testing.T) {
	described := func(number string) profiles.Account {
		return profiles.Account{Name: "one", Platform: "aws", Number: number, CredentialsRef: "file:/one"}
	}
	h := newFixture(t)
	h.Catalogue.Accounts = []profiles.Account{described("111111111111")}
	h.File("synchronize: recreate\n")
	h.Labeled("will", label)
	first := h.Only()
	require.Empty(t, h.Effects(), "the label stays")
	waits := func(id string) {
		t.Helper()
		require.Empty(t, storetest.Step(t, h.Store, id).Open)
		require.Equal(t, lifecycle.Proof, storetest.Read(t, h.Store, id).Why.Brake.Kind)
	}
	proven := func() {
		a := h.Catalogue.Accounts[0]
		storetest.Prove(t, h.Store, a.Platform, a.Number, a.Version(), scans.ResultRow{Outcome: lifecycle.Succeeded, Proof: contract.ProofProven})
	}
	waits(first.ID)
	proven()
	require.Equal(t, lifecycle.Create, storetest.Step(t, h.Store, first.ID).Open)

	h.Catalogue.Accounts = []profiles.Account{described("222222222222")}
	e := h.Event("synchronize", "maya", true, servicetest.Label)
	e.PR.Head = strings.Repeat("a", 40)
	require.Contains(t, h.Sync(e), "accepted aws-minimal-test")
	rows := h.Clusters()
	require.Len(t, rows, 2)
	require.Equal(t, []lifecycle.Desired{lifecycle.Absent, lifecycle.Present}, []lifecycle.Desired{rows[0].Desired, rows[1].Desired})
	waits(rows[1].ID)
	proven()
	require.Equal(t, lifecycle.Create, storetest.Step(t, h.Store, rows[1].ID).Open)
}
