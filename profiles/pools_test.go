package profiles

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

const aPool = `name: short
profile: aws-minimal-test
team: shop
size: 2
max: 6
teams: ["sho*"]
`

// withPool is the embedded catalogue with two teams and a pool.
func withPool(t *testing.T, body string) (Catalogue, error) {
	t.Helper()
	return Load(poolFiles(t, body))
}

func poolFiles(t *testing.T, body string) fstest.MapFS {
	t.Helper()
	files := embeddedFiles(t)
	for _, team := range []string{"shop", "platform"} {
		files["teams/"+team+".yaml"] = &fstest.MapFile{Data: []byte("name: " + team + "\nowner: maya\ncostCenters: [cc-1]\nenvironments: [test]\n")}
	}
	files["pools/short.yaml"] = &fstest.MapFile{Data: []byte(body)}
	return files
}

func TestWhatIsNotSaidOfAPoolIsItsDefault(t *testing.T) {
	c, err := withPool(t, aPool)
	require.NoError(t, err)
	p, known := c.Pool("short")
	require.True(t, known)
	require.Regexp(t, `^[0-9a-f]{12}$`, p.Digest)
	require.Equal(t, Place{"pools/short.yaml", 1}, c.PlaceOf("pools", "short"))
	require.Equal(t, Pool{
		Name: "short", DisplayName: "short", Profile: "aws-minimal-test", Team: "shop", Size: 2, Running: 2, Max: 6, MaxConcurrent: 1,
		MaxAge: 72 * time.Hour, Teams: []string{"sho*"}, Digest: p.Digest,
	}, p)
	require.True(t, p.MayClaim("shop"))
	require.False(t, p.MayClaim("platform"))
	require.True(t, Pool{}.MayClaim("anybody"))
	_, known = c.Pool("other")
	require.False(t, known)
}

func TestAPoolSaysEverything(t *testing.T) {
	c, err := withPool(t, `kind: Pool
name: short
displayName: Short clusters
description: For an afternoon.
profile: aws-standard
region: us-east-2
version: "4.20.1"
team: shop
owner: maya
costCenter: cc-1
environment: test
size: 3
running: 1
max: 9
maxConcurrent: 2
maxAge: 24h
claimLifetime: 8h
waitingMonthlyDollars: 400
workHours: {timeZone: Europe/Berlin, hours: ["Mon-Fri 07:00-19:00"]}
paused: true
`)
	require.NoError(t, err)
	p, _ := c.Pool("short")
	require.Equal(t, "Mon-Fri 07:00-19:00 (Europe/Berlin)", p.WorkHours.String())
	p.WorkHours, p.Digest = c.Teams[0].WorkHours, ""
	require.Equal(t, Pool{
		Name: "short", DisplayName: "Short clusters", Description: "For an afternoon.", Profile: "aws-standard", Region: "us-east-2", Version: "4.20.1",
		Team: "shop", Owner: "maya", CostCenter: "cc-1", Environment: "test", Size: 3, Running: 1, Max: 9, MaxConcurrent: 2, MaxAge: 24 * time.Hour,
		ClaimLifetime: 8 * time.Hour, WaitingCents: new(40_000), Paused: true,
	}, p)
}

func TestAPoolThatCannotBeIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"another profile":             {"aws-minimal-test", "aws-tiny", `pools/short.yaml:2: profile: "aws-tiny", which is not a profile; accepted: one of aws-minimal-mint, aws-minimal-test`},
		"another region":              {"team:", "region: eu-west-1\nteam:", `pools/short.yaml:3: region: "eu-west-1", which aws-minimal-test does not allow; accepted: one of us-east-1, us-east-2, us-west-2`},
		"another version":             {"team:", "version: \"4.21.0\"\nteam:", `version: "4.21.0", which aws-minimal-test does not allow; accepted: one of 4.20.1, 4.20.3`},
		"no team":                     {"team: shop\n", "", `pools/short.yaml:1: team: missing; accepted: one of platform, shop`},
		"another team":                {"team: shop", "team: other", `pools/short.yaml:3: team: "other", which is not a team; accepted: one of platform, shop`},
		"nobody may claim":            {`"sho*"`, `"eu-*"`, `pools/short.yaml:6: teams[0]: "eu-*", which is not a team; accepted: a team or a glob that matches one`},
		"another cost center":         {"size:", "costCenter: cc-2\nsize:", `costCenter: "cc-2", which team shop does not have; accepted: one of cc-1`},
		"another environment":         {"size:", "environment: prod\nsize:", `environment: "prod", which team shop does not have; accepted: one of test`},
		"no size":                     {"size: 2\n", "", "size: missing; accepted: a whole number from 0 to 1000"},
		"less than nothing":           {"size: 2", "size: -1", "size: -1; accepted: a whole number from 0 to 1000"},
		"a maximum below the size":    {"max: 6", "max: 1", "max: 1; accepted: at least size, 2"},
		"more awake than there are":   {"size: 2", "size: 2\nrunning: 3", "running: 3; accepted: at most size, 2"},
		"awake by claims, and always": {"max: 6", "max: 6\nrunningByClaims: true", "runningByClaims: true, although all are awake always; accepted: false, or running below size"},
		"older than its profile lets": {"max: 6", "max: 6\nmaxAge: 73h", "maxAge: 73h; accepted: at most ttl.maxHours of aws-minimal-test, 72h"},
		"claimed for too long":        {"max: 6", "max: 6\nclaimLifetime: 73h", "claimLifetime: 73h; accepted: at most ttl.maxHours of aws-minimal-test, 72h"},
		"none at once":                {"max: 6", "max: 6\nmaxConcurrent: 0", "maxConcurrent: 0; accepted: a whole number from 1 to 1000"},
		"another file's name":         {"name: short", "name: other", `pools/short.yaml:1: name: "other"; accepted: the file's own name, short`},
		"a typo":                      {"max: 6", "max: 6\nmaxage: 3h", "maxage: not supported; accepted: maxAge (closest match)"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, aPool, c.old)
			_, err := withPool(t, strings.Replace(aPool, c.old, c.new, 1))
			require.ErrorContains(t, err, c.want)
		})
	}
	files := embeddedFiles(t)
	files["pools/short.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(aPool, "team: shop\n", "", 1))}
	_, err := Load(files)
	require.NoError(t, err, "no team is declared")
}

func TestOnlyClustersThatCanSleepWaitAsleep(t *testing.T) {
	const profile = "profiles/aws-minimal-test.yaml"
	files := poolFiles(t, aPool+"running: 1\n")
	_, err := Load(files)
	require.NoError(t, err)
	files[profile] = &fstest.MapFile{Data: []byte(strings.Replace(good(t), "mode: stopped", "mode: never", 1))}
	_, err = Load(files)
	require.ErrorContains(t, err, "pools/short.yaml:7: running: 1 of 2 for clusters that cannot sleep; accepted: none, or a profile with workers that can be scaled")
}

func TestAPoolsClustersAreStaleWhenWhatTheyAreMadeFromChanges(t *testing.T) {
	const profile, addon = "profiles/aws-minimal-test.yaml", "addons/cert-manager.yaml"
	digest := func(change func(fstest.MapFS)) string {
		t.Helper()
		files := poolFiles(t, aPool)
		change(files)
		c, err := Load(files)
		require.NoError(t, err)
		p, _ := c.Pool("short")
		return p.Digest
	}
	replace := func(file, old, with string) func(fstest.MapFS) {
		return func(files fstest.MapFS) {
			body := string(files[file].Data)
			require.Contains(t, body, old)
			files[file] = &fstest.MapFile{Data: []byte(strings.Replace(body, old, with, 1))}
		}
	}
	add := func(file, line string) func(fstest.MapFS) { return replace(file, "\nname:", "\n"+line+"\nname:") }
	use := func(files fstest.MapFS) { replace(profile, "addons: {", "addons: {default: [cert-manager], ")(files) }
	same := digest(func(fstest.MapFS) {})
	for name, change := range map[string]func(fstest.MapFS){
		"a comment":                   add(profile, "# a word"),
		"a text":                      replace(profile, "displayName: ", "displayName: The "),
		"a price":                     replace("prices/aws.yaml", "m6i.xlarge: 0.192", "m6i.xlarge: 0.2"),
		"other add-ons that may be":   replace(profile, `allowed: ["*"]`, `allowed: ["cert-*"]`),
		"more room":                   replace("pools/short.yaml", "size: 2", "size: 3"),
		"the same region and version": replace("pools/short.yaml", "size: 2", "region: us-east-1\nversion: \"4.20.3\"\nsize: 2"),
		"an add-on that none has":     replace(addon, "name: cert-manager\n", "name: cert-manager\n# a word\n"),
	} {
		require.Equal(t, same, digest(change), name)
	}
	seen := map[string]string{same: "nothing"}
	for name, change := range map[string]func(fstest.MapFS){
		"another version": replace("pools/short.yaml", "size: 2", "version: \"4.20.1\"\nsize: 2"),
		"another region":  replace("pools/short.yaml", "size: 2", "region: us-east-2\nsize: 2"),
		"another zone":    replace(profile, "us-east-1a", "us-east-1d"),
		"another machine": replace(profile, "instanceType: m6i.xlarge", "instanceType: m6i.2xlarge"),
		"another profile": replace("pools/short.yaml", "aws-minimal-test", "aws-standard"),
		"an add-on":       use,
		"another wait":    func(files fstest.MapFS) { use(files); replace(addon, "timeout: 10m", "timeout: 9m")(files) },
	} {
		d := digest(change)
		require.Empty(t, seen[d], name)
		seen[d] = name
	}
}
