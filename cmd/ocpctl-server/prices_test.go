package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/price/list"
)

const offers = "../../internal/price/list/testdata/"

func TestACataloguesPricesAreRefreshedFromOfferFiles(t *testing.T) {
	dir := catalogueFolder(t)
	prices := filepath.Join(dir, "prices/aws.yaml")
	require.NoError(t, os.Remove(prices))
	var out, errs bytes.Buffer
	require.NoError(t, refreshPrices([]string{"-list", prices, "-region", "eu-west-3", offers + "ec2-us-east-2.json", offers + "elb.csv"}, &out, &errs))
	require.Empty(t, errs.String())
	require.Equal(t, `eu-west-3: instances m6i.xlarge is 0.224
us-east-2: instances m6i.xlarge was 0.192, is 0.2
us-east-2: natGateway was 0.045, is 0.046
`+offers+`ec2-us-east-2.json: 3 changed prices
us-east-2: egressGB was 0.09, is 0.095
us-east-2: networkLoadBalancer was 0.0225, is 0.023
`+offers+`elb.csv: 2 changed prices
`, firstLines(out.String(), 7))
	require.Contains(t, out.String(), "No price yet of c6i.xlarge in eu-west-3, ")
	require.Contains(t, out.String(), "natGateway in eu-west-3")
	raw, err := os.ReadFile(prices)
	require.NoError(t, err)
	l, err := list.Parse(raw)
	require.NoError(t, err)
	require.Equal(t, []any{"2026-11-21", list.Price(46_000)}, []any{l.AsOf, l.Regions["us-east-2"].NAT})

	out.Reset()
	require.NoError(t, validateCatalogue([]string{dir}, &out, &errs))
	require.Contains(t, out.String(), "is valid", "81 cents with the new prices are within a twentieth")
	require.NotContains(t, out.String(), "hourlyCents")
}

func firstLines(text string, n int) string {
	lines := bytes.SplitAfterN([]byte(text), []byte("\n"), n+1)
	return string(bytes.Join(lines[:n], nil))
}

func TestARefreshThatCannotWorkChangesNothing(t *testing.T) {
	prices := filepath.Join(catalogueFolder(t), "prices/aws.yaml")
	before, err := os.ReadFile(prices)
	require.NoError(t, err)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "give the price list and one or more offer files"},
		{[]string{"-list", prices}, "one or more offer files"},
		{[]string{"-list", prices, "nowhere.json"}, "open the offer file"},
		{[]string{"-list", prices, prices}, "read the offer file"},
	} {
		require.ErrorContains(t, refreshPrices(c.args, &bytes.Buffer{}, &bytes.Buffer{}), c.want)
	}
	after, err := os.ReadFile(prices)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

func TestAProfilesPriceThatTheListDoubtsIsTold(t *testing.T) {
	dir := catalogueFolder(t)
	name := filepath.Join(dir, "profiles/aws-standard.yaml")
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, bytes.ReplaceAll(raw, []byte("c]}"), []byte("c], hourlyCents: 60}")), 0o600))
	var out, errs bytes.Buffer
	require.NoError(t, validateCatalogue([]string{dir}, &out, &errs))
	require.Contains(t, out.String(), "is valid")
	require.Contains(t, out.String(), "Note: profile aws-standard in us-east-1: hourlyCents is 60, and by the price list of 2025-09-05 it is 148;")
}
