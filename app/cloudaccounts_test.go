package app_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/storetest"
)

const anAccount = "name: one\nplatform: aws\nnumber: \"111111111111\"\ncredentials: {ref: \"file:/one\"}\ncap: 1\n"

// proveAccounts has every account of the catalogue in force proven.
func proveAccounts(h *servicetest.Fixture) {
	for _, a := range h.Catalogue.Accounts {
		storetest.Prove(h.T, h.Store, a.Platform, a.Number, a.Version(), scans.ResultRow{Outcome: lifecycle.Succeeded, Proof: contract.ProofProven})
	}
}

func TestAClusterIsFrozenWithTheAccountThatWasChosen(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"accounts/one.yaml":    anAccount,
		"accounts/two.yaml":    "name: two\nplatform: aws\nnumber: \"222222222222\"\nmaintenance: true\n",
		"accounts/secret.yaml": "name: secret\nplatform: aws\nnumber: \"333333333333\"\nteams: [billing]\n",
	}))
	proveAccounts(h)
	maya := policy.As("github:maya", "maya", policy.Requester, "platform")
	create := func(name, account string) (app.Created, error) {
		return h.Service.Create(t.Context(), maya, app.CreateRequest{
			Source: policy.SourceAPI, Profile: "aws-minimal-test", Name: name, Account: account, Team: "platform", CostCenter: "sandbox", Environment: "test",
		})
	}
	made, err := create("first", "")
	require.NoError(t, err)
	row, err := h.Store.Cluster(t.Context(), made.Row.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"one", "111111111111", "file:/one"}, []string{row.Account, row.Spec.Account, row.Spec.CloudCredsRef})

	refused := func(name, account, says string) {
		t.Helper()
		made, err := create(name, account)
		require.NoError(t, err)
		require.False(t, made.Allowed)
		require.Contains(t, made.Verdict.Text(), says)
	}
	refused("second", "", "No account takes a new cluster: one (1 of 1 clusters), two (in maintenance).")
	refused("third", "secret", `Team platform has no account that is called "secret".`)

	names := func(p policy.Principal) (names []string) {
		list, err := h.Service.VisibleAccounts(t.Context(), p)
		require.NoError(t, err)
		for _, a := range list {
			names = append(names, a.Name+" "+a.State())
		}
		return names
	}
	require.Equal(t, []string{"one full", "two maintenance"}, names(maya), "not what only another team may use")
	admin := policy.As("saml:ada", "ada", policy.PlatformAdmin)
	require.Equal(t, []string{"one full", "secret open", "two maintenance"}, names(admin))
	_, err = h.Service.VisibleAccount(t.Context(), maya, "secret")
	require.ErrorContains(t, err, "The account secret does not exist. Accepted: one, two.")

	h.Catalogue = servicetest.Catalogue(t, nil)
	require.Empty(t, names(maya))
	require.Equal(t, []string{"one gone"}, names(admin), "its cluster is still there")
	row, err = h.Store.Cluster(t.Context(), made.Row.ID)
	require.NoError(t, err)
	require.Equal(t, "file:/one", row.Spec.CloudCredsRef)
}

func TestARequestThatNoPoolServesIsRefusedByAFullAccount(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"accounts/one.yaml": anAccount,
		"pools/stock.yaml":  "name: stock\nprofile: aws-minimal-test\nteam: platform\ncostCenter: sandbox\nenvironment: test\nsize: 0\nmax: 1\n",
	}))
	proveAccounts(h)
	maya := policy.As("github:maya", "maya", policy.Requester, "platform")
	for i, says := range []string{"Accepted.", "Refused. No account takes a new cluster: one (1 of 1 clusters)."} {
		made, err := h.Service.Create(t.Context(), maya, app.CreateRequest{
			Source: policy.SourceAPI, Profile: "aws-minimal-test", Pool: "stock", Team: "platform", CostCenter: "sandbox", Environment: "test", Key: string(rune('a' + i)),
		})
		require.NoError(t, err)
		require.Contains(t, made.Verdict.Text(), says)
	}
}

func TestAnAccountGetsNoClusterUntilItIsProven(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"accounts/own.yaml": "name: own\nplatform: aws\nnumber: \"111111111111\"\ncredentials: {ref: \"file:/own\"}\nteams: [platform]\nbaseDomain: labs.example.com\n",
	}))
	maya, bob := policy.As("github:maya", "maya", policy.Requester, "platform"), policy.As("github:bob", "bob", policy.Requester, "billing")
	n := 0
	create := func(who policy.Principal, team string) policy.Verdict {
		t.Helper()
		n++
		made, err := h.Service.Create(t.Context(), who, app.CreateRequest{
			Source: policy.SourceAPI, Profile: "aws-minimal-test", Name: fmt.Sprintf("c%d", n), Team: team, CostCenter: "sandbox", Environment: "test",
		})
		require.NoError(t, err)
		return made.Verdict
	}
	state := func() app.AccountState {
		t.Helper()
		a, err := h.Service.VisibleAccount(t.Context(), maya, "own")
		require.NoError(t, err)
		return a
	}
	own := h.Catalogue.Accounts[0]
	finds := func(proof, message, next string) {
		outcome := lifecycle.Failure
		if proof == contract.ProofProven {
			outcome = lifecycle.Succeeded
		}
		storetest.Prove(t, h.Store, "aws", own.Number, own.Version(), scans.ResultRow{Outcome: outcome, Proof: proof, Reason: "ZoneMissing", Message: message, Next: next})
	}
	waits := func(v policy.Verdict) {
		t.Helper()
		require.True(t, v.Allowed, v.Text())
		require.Contains(t, v.Text(), "ew clusters on aws in the account 111111111111 have to wait until a check shows that they can be created there")
	}
	waits(create(maya, "platform"))
	require.Equal(t, "unproven", state().State())
	require.True(t, state().Proof.Open, "the request had it proven")
	brakes, err := h.Service.Brakes(t.Context(), policy.As("saml:ada", "ada", policy.PlatformAdmin))
	require.NoError(t, err)
	require.Empty(t, brakes, "nobody thaws a proof")

	finds(contract.ProofRefused, "there is no zone", "ask the DNS administrator to create it")
	refused := create(maya, "platform")
	require.Contains(t, refused.Text(), "No account takes a new cluster: own (not proven: there is no zone).")
	require.Contains(t, refused.Refusals()[0].Next, "Ask the DNS administrator to create it. It is proven again within minutes, or at once by: ocpctl account prove own")
	others := create(bob, "billing").Text()
	require.Contains(t, others, "Team billing may use no account of AWS.")
	require.NotContains(t, others, "zone")
	_, err = h.Service.ProveAccount(t.Context(), bob, "own", app.Origin{Source: policy.SourceAPI})
	require.ErrorContains(t, err, "The account own does not exist.", "other teams do not learn of it")

	asked, err := h.Service.ProveAccount(t.Context(), maya, "own", app.Origin{Source: policy.SourceAPI})
	require.NoError(t, err, "it is her team's own")
	require.True(t, asked.Proof.Open)
	finds(contract.ProofProven, "", "")
	require.Equal(t, "open", state().State())
	require.True(t, create(maya, "platform").Allowed)

	h.Catalogue = servicetest.Catalogue(t, map[string]string{
		"accounts/own.yaml": "name: own\nplatform: aws\nnumber: \"111111111111\"\ncredentials: {ref: \"file:/own\"}\nteams: [platform]\ncap: 4\n",
	})
	proven := own
	own = h.Catalogue.Accounts[0]
	require.Equal(t, "unproven", state().State())
	require.Contains(t, state().Proof.Why, "not proven since its document changed")
	waits(create(maya, "platform"))
	finds(contract.ProofLacking, "its limits could not be read", "allow it")
	require.Contains(t, create(maya, "platform").Text(), "own (not proven: its limits could not be read)")
	h.Catalogue.Accounts[0] = proven
	require.True(t, create(maya, "platform").Allowed, "a document that is put back is proven")
	h.Catalogue.Accounts[0] = own

	h.Catalogue.Accounts[0].Teams = nil
	_, err = h.Service.ProveAccount(t.Context(), maya, "own", app.Origin{Source: policy.SourceAPI})
	require.ErrorContains(t, err, "you need the role platform admin", "it is everybody's")
}

// An upgrade finds an account in which there are clusters, and nobody has proven it.
func TestAnAccountThatWasUsedBeforeProofsGoesOn(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{"accounts/one.yaml": "name: one\nplatform: aws\nnumber: \"111111111111\"\n"}))
	_, err := h.Store.Pool().Exec(t.Context(), `
		INSERT INTO proofs (id, platform, account, round, version, used, asked_by, spec, opened_at, runner_since, token_id, closed_at, outcome)
		VALUES ('prf_before', 'aws', '111111111111', 1, '', true, 'schedule', '{}', now(), now(), 'before', now(), 'succeeded')`)
	require.NoError(t, err)
	maya, one := policy.As("github:maya", "maya", policy.Requester, "platform"), h.Catalogue.Accounts[0]
	for i, step := range []struct {
		found   string
		allowed bool
	}{{"", true}, {contract.ProofLacking, true}, {contract.ProofRefused, false}, {contract.ProofLacking, true}} {
		if step.found != "" {
			storetest.Prove(t, h.Store, "aws", one.Number, one.Version(), scans.ResultRow{Outcome: lifecycle.Failure, Proof: step.found, Message: "something is wrong"})
		} else {
			require.NoError(t, h.Store.Scans.OpenProofs(t.Context(), h.Service.WantedProofs(), time.Minute))
			made, err := h.Service.VisibleAccount(t.Context(), policy.As("saml:ada", "ada", policy.PlatformAdmin), "one")
			require.NoError(t, err)
			require.True(t, made.Proof.Open, "its first proof is under way")
		}
		made, err := h.Service.Create(t.Context(), maya, app.CreateRequest{
			Source: policy.SourceAPI, Profile: "aws-minimal-test", Name: fmt.Sprintf("c%d", i), Team: "platform", CostCenter: "sandbox", Environment: "test",
		})
		require.NoError(t, err)
		require.Equal(t, step.allowed, made.Allowed, "%d: %s", i, made.Verdict.Text())
	}
	_, err = h.Store.Pool().Exec(t.Context(), `UPDATE proofs SET version = 'an earlier document' WHERE version <> ''`)
	require.NoError(t, err)
	made, err := h.Service.VisibleAccount(t.Context(), policy.As("saml:ada", "ada", policy.PlatformAdmin), "one")
	require.NoError(t, err)
	require.Equal(t, "unproven", made.State(), "it changed again")
}
