// Package focus writes charges in the FinOps Open Cost and Usage Specification, version 1.2 (https://focus.finops.org).
//
// The one who charges is ocpctl itself: it provides clusters, and teams are its customers. So a charge is what a team is charged for a
// cluster, by list prices; it is not a line of the cloud's bill. It computes no price: rates come with the charges.
package focus

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Version of the specification.
const Version = "1.2"

// Columns are all columns of the specification, in the order of its name, then ours. The specification lets a custom column begin
// with x_.
var Columns = []string{
	"AvailabilityZone", "BilledCost", "BillingAccountId", "BillingAccountName", "BillingAccountType", "BillingCurrency", "BillingPeriodEnd",
	"BillingPeriodStart", "CapacityReservationId", "CapacityReservationStatus", "ChargeCategory", "ChargeClass", "ChargeDescription",
	"ChargeFrequency", "ChargePeriodEnd", "ChargePeriodStart", "CommitmentDiscountCategory", "CommitmentDiscountId", "CommitmentDiscountName",
	"CommitmentDiscountQuantity", "CommitmentDiscountStatus", "CommitmentDiscountType", "CommitmentDiscountUnit", "ConsumedQuantity",
	"ConsumedUnit", "ContractedCost", "ContractedUnitPrice", "EffectiveCost", "InvoiceId", "InvoiceIssuerName", "ListCost", "ListUnitPrice",
	"PricingCategory", "PricingCurrency", "PricingCurrencyContractedUnitPrice", "PricingCurrencyEffectiveCost", "PricingCurrencyListUnitPrice",
	"PricingQuantity", "PricingUnit", "ProviderName", "PublisherName", "RegionId", "RegionName", "ResourceId", "ResourceName", "ResourceType",
	"ServiceCategory", "ServiceName", "ServiceSubcategory", "SkuId", "SkuMeter", "SkuPriceDetails", "SkuPriceId", "SubAccountId",
	"SubAccountName", "SubAccountType", "Tags",
	"x_CostCenter", "x_Environment", "x_Estimate", "x_Owner", "x_Platform", "x_Profile", "x_PullRequest", "x_Repository", "x_Run", "x_SavedCost",
}

// Charge is what a team is charged for a cluster, on one day and at one rate.
type Charge struct {
	Installation string    // who charges
	Day          time.Time // its start, UTC
	HourlyCents  int
	Millis       int64
	Machines     int // that ran; 0: not counted, or Stopped

	SavedHourlyCents int  // what an hour cost less because the cluster slept
	Stopped          bool // all its machines were

	Cluster, Name                         string
	Platform, Profile, Region, RegionName string
	Team, TeamName                        string // empty: none
	Owner, CostCenter, Environment        string
	Repository, PullRequest, Run          string            // empty: none
	Tags, UserTags                        map[string]string // all tags in the cloud; of these, those that a person chose
}

// Writer writes a file of charges.
type Writer struct{ out *csv.Writer }

// NewWriter writes the line with the names of the columns.
func NewWriter(w io.Writer) (*Writer, error) {
	out := csv.NewWriter(w)
	if err := out.Write(Columns); err != nil {
		return nil, fmt.Errorf("write the columns: %w", err)
	}
	return &Writer{out}, nil
}

// Write writes one charge. What has no value is left empty, which stands for null.
func (w *Writer) Write(c Charge) error {
	values, err := c.columnValues()
	if err != nil {
		return err
	}
	line := make([]string, len(Columns))
	for i, name := range Columns {
		line[i] = Harmless(values[name]) // no amount is negative
	}
	return w.out.Write(line)
}

// Close writes what is still held back.
func (w *Writer) Close() error {
	w.out.Flush()
	return w.out.Error()
}

const (
	us       = "USD"
	provider = "ocpctl"
	hours    = "Hours"
)

// columnValues returns the value of each column that has one.
func (c Charge) columnValues() (map[string]string, error) {
	tags, err := c.formatTags()
	if err != nil {
		return nil, err
	}
	month := time.Date(c.Day.Year(), c.Day.Month(), 1, 0, 0, 0, 0, time.UTC)
	quantity, unit, cost, saved := c.formatAmounts()
	v := map[string]string{
		"BillingAccountId": c.Installation, "BillingAccountName": c.Installation, "BillingAccountType": "Installation", "BillingCurrency": us,
		"BillingPeriodStart": formatStamp(month), "BillingPeriodEnd": formatStamp(month.AddDate(0, 1, 0)),
		"ChargePeriodStart": formatStamp(c.Day), "ChargePeriodEnd": formatStamp(c.Day.AddDate(0, 0, 1)),
		"ChargeCategory": "Usage", "ChargeFrequency": "Usage-Based", "ChargeDescription": c.describeCharge(),
		"BilledCost": cost, "EffectiveCost": cost, "ContractedCost": cost, "ListCost": cost, "ListUnitPrice": unit, "ContractedUnitPrice": unit,
		"PricingCategory": "Standard", "PricingQuantity": quantity, "PricingUnit": hours, "ConsumedQuantity": quantity, "ConsumedUnit": hours,
		"PricingCurrency": us, "PricingCurrencyContractedUnitPrice": unit, "PricingCurrencyListUnitPrice": unit, "PricingCurrencyEffectiveCost": cost,
		"InvoiceIssuerName": provider, "ProviderName": provider, "PublisherName": provider,
		"RegionId": c.Region, "RegionName": c.RegionName, "ResourceId": c.Cluster, "ResourceName": c.Name, "ResourceType": "OpenShift cluster",
		"ServiceCategory": "Compute", "ServiceSubcategory": "Containers", "ServiceName": "OpenShift clusters",
		"SkuId": c.Profile + "/" + c.Region, "SkuMeter": "Cluster Hours", "Tags": tags,
		"x_CostCenter": c.CostCenter, "x_Environment": c.Environment, "x_Estimate": "true", "x_Owner": c.Owner, "x_Platform": c.Platform,
		"x_Profile": c.Profile, "x_PullRequest": c.PullRequest, "x_Repository": c.Repository, "x_Run": c.Run, "x_SavedCost": saved,
	}
	v["SkuPriceId"] = v["SkuId"] // the price of a cluster depends on its machines too
	switch {
	case c.Stopped:
		v["SkuPriceId"] += "/stopped"
		v["SkuPriceDetails"] = `{"x_Machines":0}`
	case c.Machines > 0:
		v["SkuPriceId"] += "/" + strconv.Itoa(c.Machines)
		v["SkuPriceDetails"] = fmt.Sprintf(`{"x_Machines":%d}`, c.Machines)
	}
	if c.SavedHourlyCents > 0 && !c.Stopped { // as many machines awake have another price
		v["SkuPriceId"] += "/asleep"
	}
	if c.Team != "" {
		v["SubAccountId"], v["SubAccountName"], v["SubAccountType"] = c.Team, c.TeamName, "Team"
	}
	return v, nil
}

func (c Charge) describeCharge() string {
	what := fmt.Sprintf("OpenShift cluster %s, profile %s", c.Name, c.Profile)
	switch {
	case c.Stopped:
		what += ", asleep with all machines stopped"
	case c.Machines > 0:
		what += fmt.Sprintf(", %d machines", c.Machines)
	}
	return what + ", list price, estimate"
}

// formatAmounts returns hours, dollars an hour, their exact product, and what sleeping saved: hours have ten decimals, so that a day's sum differs from package
// price's by less than a millionth of a cent.
func (c Charge) formatAmounts() (quantity, unit, cost, saved string) {
	tenths := (c.Millis*25_000 + 4) / 9 // hours x 10^10: ms x 10^10 / 3,600,000
	return formatDecimal(tenths, 10), formatDecimal(int64(c.HourlyCents), 2), formatDecimal(tenths*int64(c.HourlyCents), 12), formatDecimal(tenths*int64(c.SavedHourlyCents), 12)
}

// formatTags returns the cluster's tags as the specification wants them: a key that a person did not choose begins with the provider's name.
func (c Charge) formatTags() (string, error) {
	all := map[string]string{}
	for key, value := range c.Tags {
		if _, chosen := c.UserTags[key]; !chosen {
			key = provider + ":" + key
		}
		all[key] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("encode the tags of %s: %w", c.Cluster, err)
	}
	return string(text), nil
}

// formatDecimal formats n / 10^places without trailing zeros.
func formatDecimal(n int64, places int) string {
	text := fmt.Sprintf("%0*d", places+1, n)
	text = strings.TrimRight(text[:len(text)-places]+"."+text[len(text)-places:], "0")
	return strings.TrimSuffix(text, ".")
}

func formatStamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// Harmless keeps a spreadsheet from running a text as a formula.
func Harmless(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
