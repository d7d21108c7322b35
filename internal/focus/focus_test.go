package focus_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/focus"
	"github.com/ocpctl/ocpctl/internal/price"
)

var update = flag.Bool("update", false, "write the golden file again")

func shop() focus.Charge {
	return focus.Charge{
		Installation: "acme", Day: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC), HourlyCents: 75, Millis: (90 * time.Minute).Milliseconds(), Machines: 3,
		Cluster: "clu_01", Name: "shop", Platform: "aws", Profile: "aws-minimal-test", Region: "us-east-1", RegionName: "US East (N. Virginia)",
		Team: "platform", TeamName: "Platform, QA", Owner: "maya", CostCenter: "cc-1", Environment: "test", Repository: "acme/shop", PullRequest: "acme/shop#7",
		Tags: map[string]string{"Owner": "maya", "ticket": "7"}, UserTags: map[string]string{"ticket": "7"},
	}
}

// written returns the lines of a file with these charges, by column.
func written(t require.TestingT, charges ...focus.Charge) (lines []map[string]string, raw []byte) {
	var out bytes.Buffer
	w, err := focus.NewWriter(&out)
	require.NoError(t, err)
	for _, c := range charges {
		require.NoError(t, w.Write(c))
	}
	require.NoError(t, w.Close())
	read, err := csv.NewReader(bytes.NewReader(out.Bytes())).ReadAll()
	require.NoError(t, err)
	for _, values := range read[1:] {
		line := map[string]string{}
		for i, name := range read[0] {
			line[name] = values[i]
		}
		lines = append(lines, line)
	}
	return lines, out.Bytes()
}

func TestAFileLooksAsRecorded(t *testing.T) {
	t.Parallel()
	bare := shop()
	bare.Team, bare.TeamName, bare.Machines, bare.Repository, bare.PullRequest, bare.Tags = "", "", 0, "", "", nil
	bare.Run = "https://github.com/acme/shop/actions/runs/7001"
	asleep := shop()
	asleep.HourlyCents, asleep.SavedHourlyCents, asleep.Stopped, asleep.Machines = 17, 58, true, 0
	_, raw := written(t, shop(), bare, asleep)
	if *update {
		require.NoError(t, os.WriteFile("testdata/charges.csv", raw, 0o600))
	}
	want, err := os.ReadFile("testdata/charges.csv")
	require.NoError(t, err)
	require.Equal(t, string(want), string(raw))
}

// The types and the columns that may be null are those of the specification's pages of columns, for a charge of category Usage that is
// no correction and has no commitment discount.
var (
	decimals = []string{"BilledCost", "ConsumedQuantity", "ContractedCost", "ContractedUnitPrice", "EffectiveCost", "ListCost", "ListUnitPrice",
		"PricingCurrencyContractedUnitPrice", "PricingCurrencyEffectiveCost", "PricingCurrencyListUnitPrice", "PricingQuantity"}
	times    = []string{"BillingPeriodEnd", "BillingPeriodStart", "ChargePeriodEnd", "ChargePeriodStart"}
	required = append([]string{"BillingAccountId", "BillingAccountType", "BillingCurrency", "ChargeCategory", "ChargeFrequency", "ConsumedUnit", "InvoiceIssuerName",
		"PricingCategory", "PricingCurrency", "PricingUnit", "ProviderName", "PublisherName", "RegionId", "RegionName", "ResourceId", "ServiceCategory", "ServiceName",
		"ServiceSubcategory", "SkuId", "SkuMeter", "SkuPriceId", "Tags"}, append(decimals, times...)...)
	empty = []string{"AvailabilityZone", "CapacityReservationId", "CapacityReservationStatus", "ChargeClass", "CommitmentDiscountCategory", "CommitmentDiscountId",
		"CommitmentDiscountName", "CommitmentDiscountQuantity", "CommitmentDiscountStatus", "CommitmentDiscountType", "CommitmentDiscountUnit", "InvoiceId"}
	allowed = map[string][]string{
		"ChargeCategory": {"Usage", "Purchase", "Tax", "Credit", "Adjustment"}, "ChargeFrequency": {"One-Time", "Recurring", "Usage-Based"},
		"PricingCategory": {"Standard", "Dynamic", "Committed", "Other"}, "ServiceCategory": {"Compute"},
		"ServiceSubcategory": {"Containers", "End User Computing", "Quantum Compute", "Serverless Compute", "Virtual Machines", "Other (Compute)"},
	}
	decimalForm = regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	timeForm    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)
	ownForm     = regexp.MustCompile(`^x_[A-Z][A-Za-z]+$`)
)

func TestTheColumnsAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	i := slices.IndexFunc(focus.Columns, func(name string) bool { return strings.HasPrefix(name, "x_") })
	require.Equal(t, 57, i, "version 1.2 has 57 columns")
	require.True(t, slices.IsSorted(focus.Columns[:i]))
	require.Len(t, slices.Compact(slices.Clone(focus.Columns)), len(focus.Columns))
	for _, own := range focus.Columns[i:] {
		require.Regexp(t, ownForm, own)
	}
	for _, known := range slices.Concat(required, empty) {
		require.Contains(t, focus.Columns[:i], known)
	}
}

func TestEveryChargeKeepsTheSpecificationsRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := shop()
		c.HourlyCents = rapid.IntRange(1, 100_000).Draw(t, "cents")
		c.Millis = rapid.Int64Range(1, 86_400_000).Draw(t, "ms")
		c.Machines = rapid.IntRange(0, 60).Draw(t, "machines")
		c.Day = c.Day.AddDate(0, 0, rapid.IntRange(0, 500).Draw(t, "day"))
		c.Name, c.Team = rapid.String().Draw(t, "name"), rapid.SampledFrom([]string{"", "platform"}).Draw(t, "team")
		c.Tags = rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "tags")
		lines, _ := written(t, c)
		require.Len(t, lines, 1)
		line := lines[0]
		for _, name := range required {
			require.NotEmpty(t, line[name], name)
		}
		for _, name := range empty {
			require.Empty(t, line[name], name)
		}
		for _, name := range decimals {
			require.Regexp(t, decimalForm, line[name], name)
		}
		for _, name := range times {
			require.Regexp(t, timeForm, line[name], name)
		}
		for name, values := range allowed {
			require.Contains(t, values, line[name], name)
		}
		number := func(name string) *big.Rat {
			n, ok := new(big.Rat).SetString(line[name])
			require.True(t, ok, name)
			return n
		}
		product := new(big.Rat).Mul(number("PricingQuantity"), number("ListUnitPrice"))
		for _, cost := range []string{"ListCost", "ContractedCost", "EffectiveCost", "BilledCost", "PricingCurrencyEffectiveCost"} {
			require.Zero(t, product.Cmp(number(cost)), "%s is quantity times price", cost)
		}
		exact := big.NewRat(int64(price.Amount(int64(c.HourlyCents)*c.Millis)), 100*price.PerHour)
		require.Negative(t, new(big.Rat).Abs(exact.Sub(exact, product)).Cmp(big.NewRat(1, 10_000_000)), "it is what package price counts")
		require.LessOrEqual(t, line["BillingPeriodStart"], line["ChargePeriodStart"])
		require.LessOrEqual(t, line["ChargePeriodEnd"], line["BillingPeriodEnd"])
		require.Equal(t, c.Team == "", line["SubAccountId"] == "")
		require.Equal(t, line["SubAccountId"] == "", line["SubAccountType"] == "")
		require.True(t, json.Valid([]byte(line["Tags"])))
		require.True(t, line["SkuPriceDetails"] == "" || json.Valid([]byte(line["SkuPriceDetails"])))
	})
}

func TestOnlyTagsThatAPersonChoseHaveNoPrefix(t *testing.T) {
	t.Parallel()
	lines, _ := written(t, shop())
	require.JSONEq(t, `{"ocpctl:Owner": "maya", "ticket": "7"}`, lines[0]["Tags"])
}
