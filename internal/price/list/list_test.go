package list_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/price/list"
)

const small = `
cloud: aws
asOf: "2025-09-05"
source: typed in a test
spotPercent: 40
trafficGB: {nat: 0, egress: 0}
regions:
  us-east-2:
    name: US East (Ohio)
    instances: {m6i.xlarge: 0.192}
    volumes: {gp3: 0.08}
    snapshotGBMonth: 0.05
    storageGBMonth: 0.023
    natGateway: 0.045
    natGB: 0.045
    networkLoadBalancer: 0.0225
    applicationLoadBalancer: 0.02
    classicLoadBalancer: 0.025
    publicAddress: 0.005
    interfaceEndpoint: 0.01
`

func parsed(t *testing.T, text string) list.List {
	t.Helper()
	l, err := list.Parse([]byte(text))
	require.NoError(t, err)
	return l
}

func TestAPriceIsExactToAMillionthOfADollar(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]list.Price{"0.192": 192_000, "0.1920000000": 192_000, "13": 13_000_000, "0.0000005": 1, "0.00000049": 0, "0": 0} {
		got, err := list.ParsePrice(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
		again, err := list.ParsePrice(got.String())
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
	for _, text := range []string{"", "-1", "free", "1e9", "0x10", "1/2", "1234567", ".5"} {
		_, err := list.ParsePrice(text)
		require.ErrorContains(t, err, "is no price", text)
	}
}

func TestAListIsWrittenAsItIsRead(t *testing.T) {
	t.Parallel()
	l := parsed(t, small)
	raw, err := l.Format()
	require.NoError(t, err)
	require.Equal(t, l, parsed(t, string(raw)))
}

func TestAListThatIsWrongSaysWhere(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		strings.Replace(small, "0.192", "cheap", 1):                      `line 10: "cheap" is no price`,
		strings.Replace(small, "natGateway", "natGatway", 1):             "field natGatway not found",
		strings.Replace(small, `"2025-09-05"`, `"last year"`, 1):         "write a date in quotes",
		strings.Replace(small, "cloud: aws", "", 1):                      "cloud is missing",
		strings.Replace(small, "cloud: aws", "cloud: ibm", 1):            `cloud is "ibm"; give aws or ibmcloud`,
		strings.Replace(small, "spotPercent: 40", "spotPercent: 400", 1): "spotPercent is 400",
		"cloud: aws\nasOf: \"2025-09-05\"\nsource: x\n":                  "regions is missing",
		"": "EOF",
	} {
		_, err := list.Parse([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

func TestASpotPriceComesBeforeTheEstimate(t *testing.T) {
	t.Parallel()
	l := parsed(t, small)
	r := l.Regions["us-east-2"]
	r.Spot = map[string]list.Price{"m6i.xlarge": 60_000}
	l.Regions["us-east-2"] = r
	cents, known := l.Resource("instance", "us-east-2", "m6i.xlarge spot", false)
	require.True(t, known)
	require.InDelta(t, 6, cents, 1e-9)
	of := list.Cluster{Region: "us-east-2", Zones: 1, Machines: []list.Machines{{Count: 3, Type: "m6i.xlarge"}, {Count: 2, Type: "m6i.xlarge", Spot: true}}}
	items, err := l.Cluster(of)
	require.NoError(t, err)
	require.Equal(t, []string{"m6i.xlarge instances", "m6i.xlarge spot instances"}, []string{items[0].What, items[1].What})
	require.InDelta(t, 12, items[1].Cents, 1e-9)
	of.Machines[1].Type = "x9.huge"
	_, err = l.Cluster(of)
	require.ErrorContains(t, err, "has no price in us-east-2 of: x9.huge spot instances")
}

func TestWhatAResourceCosts(t *testing.T) {
	t.Parallel()
	l := parsed(t, small)
	for _, c := range []struct {
		kind, detail string
		stopped      bool
		cents        float64
		known        bool
	}{
		{"instance", "m6i.xlarge", false, 19.2, true},
		{"instance", "m6i.xlarge spot", false, 7.68, true},
		{"instance", "m6i.xlarge", true, 0, true}, // its disks are resources of their own
		{"instance", "x9.huge", false, 0, false},
		{"instance", "", false, 0, false},
		{"volume", "gp3 120", false, 1.315068, true},
		{"volume", "120 GiB, gp3", false, 1.315068, true},
		{"volume", "gp3/120gib", false, 1.315068, true},
		{"volume", "gp3", false, 0, false},
		{"volume", "io9 120", false, 0, false},
		{"snapshot", "100", false, 0.684931, true},
		{"snapshot", "", false, 0, false},
		{"nat-gateway", "", false, 4.5, true},
		{"address", "", false, 0.5, true},
		{"load-balancer", "network", false, 2.25, true},
		{"load-balancer", "application", false, 2, true},
		{"classic-load-balancer", "", false, 2.5, true},
		{"vpc-endpoint", "Interface", false, 1, true},
		{"vpc-endpoint", "Gateway", false, 0, true},
		{"vpc-endpoint", "", false, 0, false},
		{"hosted-zone", "", false, 0.068493, true},
		{"vpc", "", false, 0, true},
		{"bucket", "", false, 0, false},
		{"bucket", "100", false, 0.315068, true},
		{"image", "", false, 0, true},
		{"a kind that nobody thought of", "", false, 0, false},
	} {
		cents, known := l.Resource(c.kind, "us-east-2", c.detail, c.stopped)
		require.InDelta(t, c.cents, cents, 1e-6, "%s %s", c.kind, c.detail)
		require.Equal(t, c.known, known, "%s %s", c.kind, c.detail)
	}
	_, known := l.Resource("nat-gateway", "mars-north-1", "", false)
	require.False(t, known)
}

func TestWhatAClusterCosts(t *testing.T) {
	t.Parallel()
	l := parsed(t, small)
	compact := list.Cluster{Region: "us-east-2", Zones: 1, Machines: []list.Machines{{Count: 3, Type: "m6i.xlarge"}, {Count: 0, Type: "unknown"}}}
	items, err := l.Cluster(compact)
	require.NoError(t, err)
	// 3 x 19.2 machines, 3 x 1.315 disks, 4.5 NAT, 3 x 2.25 load balancers, 3 x 0.5 addresses, 0.07 zone
	require.InDelta(t, 74.363699, list.Sum(items), 1e-6)
	require.Equal(t, 74, list.Cents(items))
	require.Equal(t, 17, list.Cents(list.Stopped(items)), "3.945 + 4.5 + 6.75 + 1.5 + 0.07")
	compact.Internal = true
	items, err = l.Cluster(compact)
	require.NoError(t, err)
	require.Equal(t, 71, list.Cents(items))

	l.Traffic = list.Traffic{NAT: 500_000}
	items, err = l.Cluster(compact)
	require.NoError(t, err)
	require.Equal(t, 78, list.Cents(items), "half a GB an hour for each of three machines")
	require.Equal(t, 14, list.Cents(list.Stopped(items)), "nothing goes through while they are stopped")
	l.Traffic.Egress = 1
	compact.Machines[0].Type = "x9.huge"
	_, err = l.Cluster(compact)
	require.EqualError(t, err, "the price list of aws of 2025-09-05 has no price in us-east-2 of: x9.huge instances, GB to the internet, an estimate")
	compact.Region = "mars-north-1"
	_, err = l.Cluster(compact)
	require.EqualError(t, err, "the price list of aws has no region mars-north-1; it has us-east-2")
	require.Equal(t, []string{"US East (Ohio)", "mars-north-1"}, []string{l.RegionName("us-east-2"), l.RegionName("mars-north-1")})
}

const smallIBM = `
cloud: ibmcloud
asOf: "2025-09-05"
source: typed in a test
regions:
  us-south:
    instances: {bx2-4x16: 0.2}
    volumes: {general-purpose: 0.146}
    snapshotGBMonth: 0.146
    imageGBMonth: 0.073
    applicationLoadBalancer: 0.03
    publicAddress: 0.005
`

func TestAClusterOnIBMCloudHasItsOwnParts(t *testing.T) {
	t.Parallel()
	l := parsed(t, smallIBM)
	standard := list.Cluster{Region: "us-south", Zones: 3, Machines: []list.Machines{{Count: 3, Type: "bx2-4x16"}, {Count: 3, Type: "bx2-4x16"}}}
	items, err := l.Cluster(standard)
	require.NoError(t, err)
	require.InDelta(t, 6*20+6*2+3*3+3*0.5, list.Sum(items), 1e-6, "machines, boot volumes of 100 GB, load balancers, floating IPs")
	require.InDelta(t, 6*2+3*3+3*0.5, list.Sum(list.Stopped(items)), 1e-6, "stopped machines are not billed, all the rest is")
	standard.Internal = true
	items, err = l.Cluster(standard)
	require.NoError(t, err)
	require.InDelta(t, 6*20+6*2+2*3+3*0.5, list.Sum(items), 1e-6, "the router has one load balancer inside, and the API another")

	for kind, want := range map[[2]string]float64{{"instance", "bx2-4x16"}: 20, {"volume", "general-purpose 100"}: 2, {"snapshot", "100"}: 2, {"image", "100"}: 1, {"load-balancer", "application"}: 3, {"address", ""}: 0.5, {"floating-ip", ""}: 0.5,
		{"public-gateway", ""}: 0, {"resource-group", ""}: 0, {"service-id", ""}: 0, {"access-policy", ""}: 0} {
		cents, known := l.Resource(kind[0], "us-south", kind[1], false)
		require.True(t, known, kind)
		require.InDelta(t, want, cents, 1e-6, kind)
	}
	for _, kind := range []string{"hosted-zone", "nat-gateway", "bucket", "image", "service-instance", "reclamation", "dns-zone", "endpoint-gateway"} {
		_, known := l.Resource(kind, "us-south", "", false)
		require.False(t, known, kind)
	}
	cents, known := l.Resource("instance", "us-south", "bx2-4x16", true)
	require.True(t, known)
	require.Zero(t, cents, "a stopped machine")
	_, _, err = l.Refresh(strings.NewReader("{}"))
	require.EqualError(t, err, "the price list is of ibmcloud; only a list of aws is refreshed from offer files, change this one by hand")
}

func refreshed(t *testing.T, l list.List, file string) (list.List, []string) {
	t.Helper()
	in, err := os.Open("testdata/" + file)
	require.NoError(t, err)
	defer in.Close()
	l, changes, err := l.Refresh(in)
	require.NoError(t, err)
	var told []string
	for _, c := range changes {
		told = append(told, c.String())
	}
	return l, told
}

func TestAListTakesPricesFromOfferFiles(t *testing.T) {
	t.Parallel()
	before := parsed(t, small)
	l, told := refreshed(t, before, "ec2-us-east-2.json")
	require.Equal(t, []string{"us-east-2: instances m6i.xlarge was 0.192, is 0.2", "us-east-2: natGateway was 0.045, is 0.046"}, told)
	require.Equal(t, "2026-11-20", l.AsOf)
	require.Len(t, l.Regions["us-east-2"].Instances, 1, "only types that the list names")
	require.Equal(t, parsed(t, small), before, "the list before stays as it was")

	l, told = refreshed(t, l, "elb.csv")
	require.Equal(t, []string{
		"us-east-2: applicationLoadBalancer was 0.02, is 0.0225", "us-east-2: egressGB is 0.095", "us-east-2: networkLoadBalancer was 0.0225, is 0.023",
	}, told)
	require.Equal(t, "2026-11-21", l.AsOf)
	_, told = refreshed(t, l, "elb.csv")
	require.Empty(t, told, "nothing changes twice")
}

func TestAFileThatIsNoOfferFileIsRefused(t *testing.T) {
	t.Parallel()
	l := parsed(t, small)
	for raw, want := range map[string]string{
		"":                         "read the offer file: EOF",
		"hello\n":                  "no line begins with SKU",
		"{":                        "EOF",
		`{"products": []}`:         "an object is missing",
		`{"offerCode": "AmazonQ"}`: "has no price that the list needs; AmazonEC2",
		`{"products": {"A": {"productFamily": "NAT Gateway", "attributes": {"regionCode": "us-east-2", "usagetype": "USE2-NatGateway-Hours"}}},
		  "terms": {"OnDemand": {"A": {"A.B": {"priceDimensions": {"A.B.C": {"beginRange": "0", "pricePerUnit": {"USD": "lots"}}}}}}}}`: `"lots" is no price`,
		`{"products": {"A": {"productFamily": "NAT Gateway", "attributes": {"regionCode": "us-east-2", "usagetype": "USE2-NatGateway-Hours"}}},
		  "terms": {"OnDemand": {"A": {"A.B": {"priceDimensions": {"A.B.C": {"beginRange": "zero", "pricePerUnit": {"USD": "1"}}}}}}}}`: `begins at "zero"`,
	} {
		_, _, err := l.Refresh(strings.NewReader(raw))
		require.ErrorContains(t, err, want)
	}
}
