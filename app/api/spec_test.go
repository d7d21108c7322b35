package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/store/attempts"
)

// A recovery adds names of which it does not know the account.
func TestATeardownAlwaysKnowsItsAccountIfAnybodyDoes(t *testing.T) {
	var row attempts.SpecRow
	row.Kind, row.Row.Spec.Account = contract.KindDestroy, "111111111111"
	row.Identities = []attempts.IdentityRow{{Account: "222222222222"}}
	require.Equal(t, "222222222222", accountFor(row))
	row.Identities = append(row.Identities, attempts.IdentityRow{InfraID: "shop-abcde"})
	require.Equal(t, "111111111111", accountFor(row))
}
