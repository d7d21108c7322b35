package intake

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/runner/contract"
)

func TestAPassIsBelievedAsFarAsItsEvidenceGoes(t *testing.T) {
	good := contract.Pass{Number: 1, Clean: true, Control: "arn seen", Queries: []contract.Query{{Service: "ec2", Call: "DescribeVpcs"}}}
	require.True(t, clean(good))
	for name, change := range map[string]func(*contract.Pass){
		"the runner says no":  func(p *contract.Pass) { p.Clean = false },
		"the control failed":  func(p *contract.Pass) { p.Control = "" },
		"nothing was asked":   func(p *contract.Pass) { p.Queries = nil },
		"a query was refused": func(p *contract.Pass) { p.Queries[0].Err = "AccessDenied" },
		"something was left":  func(p *contract.Pass) { p.Leftovers = []contract.Leftover{{Type: "vpc", ID: "vpc-1"}} },
	} {
		p := good
		p.Queries = append([]contract.Query{}, good.Queries...)
		change(&p)
		require.False(t, clean(p), name)
		row, err := passRow(p)
		require.NoError(t, err)
		require.False(t, row.Clean)
	}
	row, err := passRow(contract.Pass{Leftovers: []contract.Leftover{{Type: "vpc", ID: "vpc-1", Name: "shop", Free: "delete it"}}})
	require.NoError(t, err)
	require.Equal(t, []string{"vpc vpc-1 (shop): delete it"}, row.Words)
}
