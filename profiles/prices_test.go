package profiles

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// priced is the embedded catalogue with other texts in one of its profiles.
func priced(t *testing.T, pairs ...string) fstest.MapFS {
	t.Helper()
	files := embeddedFiles(t)
	body := string(files["profiles/aws-standard.yaml"].Data)
	require.Contains(t, body, pairs[0])
	files["profiles/aws-standard.yaml"] = &fstest.MapFile{Data: []byte(strings.NewReplacer(pairs...).Replace(body))}
	return files
}

func centsOf(t *testing.T, c Catalogue) int {
	t.Helper()
	return regionOf(t, c, "aws-standard").HourlyCents
}

func TestThePricesOfTheEmbeddedProfilesAreThoseOfTheList(t *testing.T) {
	require.Empty(t, catalogue(t).PriceDoubts())
}

func TestAPriceThatIsNotNamedIsComputed(t *testing.T) {
	c := catalogue(t)
	// 6 x 19.2 machines, 6 x 1.315 disks, 3 x 4.5 NAT, 3 x 2.25 load balancers, 9 x 0.5 addresses, 0.07 zone
	require.Equal(t, 148, centsOf(t, c))
	require.Empty(t, c.PriceDoubts())
}

func TestAPriceThatDiffersFromTheListIsDoubted(t *testing.T) {
	c, err := Load(priced(t, "c]}", "c], hourlyCents: 60}"))
	require.NoError(t, err)
	require.Equal(t, 60, centsOf(t, c), "a doubt changes nothing")
	require.Equal(t, "profile aws-standard in us-east-1: hourlyCents is 60, and by the price list of 2025-09-05 it is 148; change it, or leave it out", c.PriceDoubts()[0])
	require.Len(t, c.PriceDoubts(), 3)
}

func regionOf(t *testing.T, c Catalogue, profile string) Region {
	t.Helper()
	p, known := c.Get(profile)
	require.True(t, known)
	region, known := p.Region("us-east-1")
	require.True(t, known)
	return region
}

func TestThePriceAsleepIsComputedByHowItSleeps(t *testing.T) {
	standard := regionOf(t, catalogue(t), "aws-standard")
	require.Equal(t, []int{148, 86, 205_151}, []int{standard.HourlyCents, *standard.AsleepCents, *standard.WorkerMicros}, "without three workers and their disks")

	compact := regionOf(t, catalogue(t), "aws-minimal-test")
	require.Equal(t, []int{74, 17}, []int{compact.HourlyCents, *compact.AsleepCents}, "the disks and all that is no machine")

	c, err := Load(priced(t, "c]}", "c], hourlyCents: 149}"))
	require.NoError(t, err)
	standard = regionOf(t, c, "aws-standard")
	require.Equal(t, []int{149, 87}, []int{standard.HourlyCents, *standard.AsleepCents})
	require.InDelta(t, 206_700, *standard.WorkerMicros, 100, "20.5 cents by the list, for a price that is 0.7 % above it")

	c, err = Load(priced(t, "ttl:", "sleep: {mode: stopped}\nttl:"))
	require.NoError(t, err)
	standard = regionOf(t, c, "aws-standard")
	require.Equal(t, []int{148, 33, 205_151}, []int{standard.HourlyCents, *standard.AsleepCents, *standard.WorkerMicros})

	c, err = Load(priced(t, "ttl:", "sleep: {mode: never}\nttl:"))
	require.NoError(t, err)
	require.Nil(t, regionOf(t, c, "aws-standard").AsleepCents)
}

func TestAPriceAsleepThatDiffersFromTheListIsDoubted(t *testing.T) {
	c, err := Load(priced(t, "c]}", "c], asleepCents: 30}"))
	require.NoError(t, err)
	require.Equal(t, 30, *regionOf(t, c, "aws-standard").AsleepCents, "a doubt changes nothing")
	require.Equal(t, "profile aws-standard in us-east-1: asleepCents is 30, and by the price list of 2025-09-05 it is 86; change it, or leave it out", c.PriceDoubts()[0])
	c, err = Load(priced(t, "c]}", "c], asleepCents: 86}"))
	require.NoError(t, err)
	require.Empty(t, c.PriceDoubts())
	_, err = Load(priced(t, "c]}", "c], asleepCents: 149}"))
	require.ErrorContains(t, err, "regions.allow[0].asleepCents: 149; accepted: at most hourlyCents, 148")
}

func TestACataloguesOwnListReplacesTheBuiltInOne(t *testing.T) {
	files := embeddedFiles(t)
	body := string(files["prices/aws.yaml"].Data)
	files["prices/aws.yaml"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(body, "m6i.xlarge: 0.192", "m6i.xlarge: 0.292"))}
	c, err := Load(files)
	require.NoError(t, err)
	require.Equal(t, 208, centsOf(t, c))

	delete(files, "prices/aws.yaml")
	c, err = Load(files)
	require.NoError(t, err)
	require.Equal(t, 148, centsOf(t, c), "without one the built-in list applies")

	files["prices/aws.yaml"] = &fstest.MapFile{Data: []byte("cloud: aws\n")}
	_, err = Load(files)
	require.ErrorContains(t, err, `prices/aws.yaml: asOf is ""; write a date in quotes, YYYY-MM-DD; accepted: a price list`)
	files["prices/aws.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(body, "cloud: aws", "cloud: ibmcloud", 1))}
	_, err = Load(files)
	require.ErrorContains(t, err, `"ibmcloud"; accepted: the file's own name, aws`)
}

func TestAPriceThatCannotBeComputedHasToBeNamed(t *testing.T) {
	_, err := Load(priced(t, "m6i.xlarge", "m9i.xlarge"))
	require.ErrorContains(t, err, "regions.allow[0].hourlyCents: missing; accepted: cents an hour, because the price list of aws of 2025-09-05 has no price in us-east-1 of: m9i.xlarge instances")

	ibm := embeddedFiles(t)
	delete(ibm, "prices/ibmcloud.yaml")
	c, err := Load(ibm)
	require.NoError(t, err, "the built-in list applies")
	p, _ := c.Get("ibm-standard")
	require.Equal(t, 144, p.Regions[0].HourlyCents)
	ibm["profiles/ibm-standard.yaml"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(ibm["profiles/ibm-standard.yaml"].Data), "us-south", "eu-de"))}
	_, err = Load(ibm)
	require.ErrorContains(t, err, "hourlyCents: missing; accepted: cents an hour, because the price list of ibmcloud has no region eu-de; it has us-south")
}

func TestThePricesOfIBMCloudComeFromItsList(t *testing.T) {
	for name, want := range map[string]struct{ awake, asleep int }{"ibm-minimal-test": {76, 15}, "ibm-standard": {144, 77}} {
		region, known := get(t, name).Region("us-south")
		require.True(t, known)
		// 3 or 6 x 20.5 machines, as many x 1.781 boot volumes, 3 x 3 load balancers, 1 or 3 x 0.5 floating IPs
		require.Equal(t, want.awake, region.HourlyCents, name)
		require.Equal(t, want.asleep, *region.AsleepCents, "%s: the machines are stopped, or the workers and their disks removed", name)
		require.Equal(t, 222_808, *region.WorkerMicros)
	}
}
