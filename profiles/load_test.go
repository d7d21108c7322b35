package profiles

import (
	"cmp"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func catalogue(t *testing.T) Catalogue {
	t.Helper()
	c, err := Embedded()
	require.NoError(t, err)
	return c
}

func TestAPlatformsDefaultVersionIsThatOfAnEnabledProfile(t *testing.T) {
	c := catalogue(t)
	require.Equal(t, []string{"4.20.3", "4.20.3", ""}, []string{c.DefaultVersion("aws"), c.DefaultVersion("ibmcloud"), c.DefaultVersion("elsewhere")})
}

func get(t *testing.T, name string) Profile {
	t.Helper()
	p, ok := catalogue(t).Get(name)
	require.True(t, ok, name)
	return p
}

// good is a whole profile under a name of its own.
func good(t *testing.T) string {
	t.Helper()
	body, err := embedded.ReadFile("catalogue/profiles/aws-minimal-test.yaml")
	require.NoError(t, err)
	return string(body)
}

func load(body string) error {
	_, err := Load(fstest.MapFS{"profiles/aws-minimal-test.yaml": {Data: []byte(body)}})
	return err
}

func TestTheProfilesAreWhatTheSpecificationSays(t *testing.T) {
	require.Equal(t, []string{"aws-minimal-mint", "aws-minimal-test", "aws-standard", "ibm-minimal-test", "ibm-standard"}, catalogue(t).Names())
	for name, want := range map[string]struct {
		platform string
		workers  int
		maxTTL   time.Duration
		zones    int
	}{
		"aws-minimal-mint": {"aws", 0, 24 * time.Hour, 1},
		"aws-minimal-test": {"aws", 0, 72 * time.Hour, 1},
		"aws-standard":     {"aws", 3, 168 * time.Hour, 3},
		"ibm-minimal-test": {"ibmcloud", 0, 72 * time.Hour, 1},
		"ibm-standard":     {"ibmcloud", 3, 168 * time.Hour, 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := get(t, name)
			require.Equal(t, want.platform, p.Platform)
			require.True(t, p.Enabled)
			require.Equal(t, 3, p.ControlPlane.Replicas)
			require.Equal(t, want.workers, p.Workers.Replicas)
			require.Equal(t, want.workers == 0, p.ControlPlane.Schedulable)
			require.Equal(t, name == "aws-minimal-mint", p.CredentialsMode == "Mint")
			require.Equal(t, name == "aws-minimal-mint", p.AdminOnly)
			require.Equal(t, 24*time.Hour, p.DefaultTTL)
			require.Equal(t, want.maxTTL, p.MaxTTL)
			require.Equal(t, time.Hour, p.Grace)
			require.Equal(t, Deadlines{Create: 3 * time.Hour, Destroy: time.Hour}, p.Deadlines)
			require.Equal(t, 2, p.Attempts)
			for _, region := range p.Regions {
				require.Len(t, region.Zones, want.zones)
				require.Positive(t, region.HourlyCents)
			}
		})
	}
}

func TestAPlatformThatIsNotOfferedHasNoProfileThatCanBeUsed(t *testing.T) {
	all := catalogue(t)
	c := all.Without(map[string]string{"ibmcloud": "IBM Cloud is off"})
	for _, p := range c.All() {
		require.Equal(t, p.Platform == "aws", p.Enabled, p.Name)
		if !p.Enabled {
			require.Equal(t, "IBM Cloud is off", p.DisabledReason)
		}
	}
	require.Equal(t, "IBM Cloud is off", c.Without(map[string]string{"ibmcloud": "another reason"}).All()[3].DisabledReason)
	require.True(t, all.All()[3].Enabled, "the catalogue itself stays as it is")
	require.Equal(t, all.Names(), c.Names())
	require.Equal(t, all, all.Without(nil))
}

func TestTheDefaultProfileIsTheCheapestEnabledOne(t *testing.T) {
	p, ok := catalogue(t).Default()
	require.True(t, ok)
	require.Equal(t, "aws-minimal-test", p.Name, "whatever clouds are offered")
	_, ok = Catalogue{}.Default()
	require.False(t, ok)
	mint := get(t, "aws-minimal-mint")
	mint.Regions = []Region{{Name: mint.DefaultRegion, HourlyCents: 1}}
	p, ok = Catalogue{profiles: []Profile{mint, get(t, "aws-standard")}}.Default()
	require.True(t, ok)
	require.Equal(t, "aws-standard", p.Name, "what is for admins is nobody's default")
	_, ok = Catalogue{profiles: []Profile{mint}}.Default()
	require.False(t, ok)
}

func TestAProfileMayBeTheDefault(t *testing.T) {
	cheap, other := strings.Replace(good(t), "default: true", "default: false", 1), good(t)
	files := fstest.MapFS{"profiles/aaa.yaml": {Data: []byte(strings.Replace(cheap, "name: aws-minimal-test", "name: aaa", 1))}, "profiles/aws-minimal-test.yaml": {Data: []byte(other)}}
	c, err := Load(files)
	require.NoError(t, err)
	p, _ := c.Default()
	require.Equal(t, "aws-minimal-test", p.Name, "although another one at the same price comes before it")
	p, _ = c.DefaultOf([]string{"aaa"})
	require.Equal(t, "aaa", p.Name)
	files["profiles/zzz.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(other, "name: aws-minimal-test", "name: zzz", 1))}
	_, err = Load(files)
	require.ErrorContains(t, err, "default: true, as in profiles/aws-minimal-test.yaml; accepted: true in one profile at most")
}

func TestAllErrorsComeAtOnceWithFileLineFieldAndWhatIsAccepted(t *testing.T) {
	golden(t, "broken.txt", load(`name: Aws Minimal
displayName: ""
description: A profile with everything wrong
platform: azure
enabled: maybe
credentialsMode: Mint
colour: blue
versions:
  allow: [4.20, "4.20.3", "latest"]
  default: "4.20.3"
baseDomains: labs.example.com
regions:
  default: us-east-1
  allow:
    - {name: us-east-1, zones: [], hourlyCents: 0.75}
    - {name: us-east-2, zones: [us-east-2a], hourlyCents: 75, price: 1}
controlPlane: {replicas: 3, instanceType: m6i.xlarge, schedulable: "yes"}
workers: {replicas: 1, instanceType: m6i.xlarge}
ttl: {defaultHours: 24, maxHours: 0}
ttl: {defaultHours: 24, maxHours: 72}
grace: 3600
attempts: 2
deadlines: {create: 3h}
networking:
  networkType: OpenShiftSDN
  machineNetwork: 10.0.0.1/16
  clusterNetwork: 10.128.0.0/14
  hostPrefix: 23
  serviceNetwork: 172.30.0.0
publish:
tags: {allowUser: true}
pricesAsOf: "yesterday"
`).Error()+"\n")
}

func TestPlacesAndMachinesAreThoseOfTheProfilesCloud(t *testing.T) {
	files := EmbeddedFiles()
	for name, c := range map[string]struct{ profile, old, new, field, accept string }{
		"a zone of IBM Cloud on AWS":   {"aws-minimal-test", "zones: [us-east-1a]", "zones: [us-east-1]", "regions.allow[0].zones[0]", "a zone such as us-east-1a"},
		"a region of IBM Cloud on AWS": {"aws-minimal-test", "{name: us-east-1, zones", "{name: us-south, zones", "regions.allow[0].name", "a region such as us-east-1"},
		"a machine of IBM Cloud":       {"aws-minimal-test", "workers: {replicas: 0, instanceType: m6i.xlarge", "workers: {replicas: 0, instanceType: bx2-4x16", "workers.instanceType", "m6i.xlarge"},
		"a zone of AWS on IBM Cloud":   {"ibm-standard", "us-south-2", "us-south-2a", "regions.allow[0].zones[1]", "a zone such as us-south-1"},
		"a region of AWS on IBM Cloud": {"ibm-standard", "{name: us-south, zones", "{name: us-east-1, zones", "regions.allow[0].name", "a region such as us-south"},
		"another region's zone":        {"ibm-standard", "us-south-2", "us-east-2", "regions.allow[0].zones[1]", "zones of us-south, each once"},
		"a machine of AWS":             {"ibm-standard", "controlPlane: {replicas: 3, instanceType: bx2-4x16", "controlPlane: {replicas: 3, instanceType: m6i.xlarge", "controlPlane.instanceType", "bx2-4x16"},
		"a mode that AWS has":          {"ibm-standard", "credentialsMode: Manual", "credentialsMode: Mint", "credentialsMode", "Manual, the only mode on ibmcloud"},
		"an ingress that AWS has":      {"ibm-standard", "publish: External", "publish: External\nloadBalancer: NLB", "loadBalancer", "platform: aws"},
	} {
		t.Run(name, func(t *testing.T) {
			file := "profiles/" + c.profile + ".yaml"
			body, err := fs.ReadFile(files, file)
			require.NoError(t, err)
			changed := strings.Replace(string(body), c.old, c.new, 1)
			require.NotEqual(t, string(body), changed)
			_, err = Load(fstest.MapFS{file: {Data: []byte(changed)}})
			var problems Problems
			require.ErrorAs(t, err, &problems)
			i := indexOf(problems, c.field)
			require.GreaterOrEqual(t, i, 0, err.Error())
			require.Contains(t, problems[i].Accept, c.accept)
			require.Positive(t, problems[i].Line)
		})
	}
}

func TestAProfileThatIsPublishedInternallyIsRefusedInWords(t *testing.T) {
	body, err := fs.ReadFile(EmbeddedFiles(), "profiles/ibm-standard.yaml")
	require.NoError(t, err)
	internal := strings.Replace(string(body), "publish: External", "publish: Internal", 1)
	require.NotEqual(t, string(body), internal)
	_, err = Load(fstest.MapFS{"profiles/ibm-standard.yaml": {Data: []byte(internal)}})
	require.EqualError(t, err, "profiles/ibm-standard.yaml:41: publish: Internal is not supported, because a profile cannot name the network from which the cluster would be reached; accepted: External")
	require.Equal(t, "Internal", PublishOf("publish: Internal\n"), "what was accepted before stays readable")
}

func TestAFieldThatAProfileDoesNotHaveLeadsToThePageAndToTheNearest(t *testing.T) {
	body, err := fs.ReadFile(EmbeddedFiles(), "profiles/aws-standard.yaml")
	require.NoError(t, err)
	for field, want := range map[string]string{
		"proxy":             "proxy: not supported; accepted: the fields in docs/catalogue.md#profiles",
		"wernBeforeDestroy": "wernBeforeDestroy: not supported; accepted: warnBeforeDestroy (closest match); one of the fields in docs/catalogue.md#profiles",
	} {
		_, err := Load(fstest.MapFS{"profiles/aws-standard.yaml": {Data: append(slices.Clone(body), (field + ": x\n")...)}})
		require.ErrorContains(t, err, want)
	}
}

func TestFieldsThatContradictEachOtherAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ old, new, at, field, accept string }{
		"another file's name":            {"name: aws-minimal-test", "name: aws-other", "", "name", "aws-minimal-test"},
		"the name of a label of ours":    {"name: aws-minimal-test", "name: keep", "", "name", "not keep"},
		"a reason though enabled":        {"enabled: true", "enabled: true\ndisabledReason: no", "", "disabledReason", "enabled: false"},
		"disabled without a reason":      {"enabled: true", "enabled: false", "", "enabled", "disabledReason"},
		"a load balancer on IBM Cloud":   {"platform: aws", "platform: ibmcloud", "loadBalancer: NLB", "loadBalancer", "platform: aws"},
		"an AWS ingress left open":       {"loadBalancer: NLB\n", "", "platform: aws", "loadBalancer", "NLB"},
		"a Classic load balancer":        {"loadBalancer: NLB", "loadBalancer: Classic", "", "loadBalancer", "NLB"},
		"a disabled default":             {"enabled: true", "enabled: false\ndisabledReason: full", "default: true", "default", "false, or enabled: true"},
		"a default for admins":           {"default: true", "default: true\nadminOnly: true", "default: true", "default", "false, or adminOnly: false"},
		"Mint for everybody":             {"credentialsMode: Manual", "credentialsMode: Mint", "", "adminOnly", "true, or credentialsMode: Manual"},
		"Mint and not for admins":        {"credentialsMode: Manual", "credentialsMode: Mint\nadminOnly: false", "", "adminOnly", "true, or credentialsMode: Manual"},
		"Mint on IBM Cloud":              {cloudAndMode(t), strings.NewReplacer("aws", "ibmcloud", "Manual", "Mint").Replace(cloudAndMode(t)), "", "credentialsMode", "Manual, the only mode"},
		"a default above the maximum":    {"maxHours: 72", "maxHours: 12", "", "ttl.defaultHours", "at most maxHours, 12"},
		"a grace above the maximum":      {"ttl: {defaultHours: 24, maxHours: 72}", "ttl: {defaultHours: 4, maxHours: 12}\nrunGrace: 13h", "runGrace", "runGrace", "at most maxHours, 12h"},
		"a default outside the list":     {`default: "4.20.3"`, `default: "4.20.9"`, "", "versions.default", "4.20.1, 4.20.3"},
		"a region outside the list":      {"default: us-east-1", "default: us-west-1", "", "regions.default", "us-east-1, us-east-2, us-west-2"},
		"a region twice":                 {"{name: us-east-2, zones: [us-east-2a]", "{name: us-east-1, zones: [us-east-1b]", "", "regions.allow[1].name", "each region once"},
		"a zone of another region":       {"[us-east-2a]", "[us-east-1a]", "us-east-2, zones", "regions.allow[1].zones[0]", "zones of us-east-2"},
		"a zone twice":                   {"[us-east-2a]", "[us-east-2a, us-east-2a]", "", "regions.allow[1].zones[1]", "each once"},
		"a spare zone that is used":      {"[us-east-2a], spareZones: [us-east-2b", "[us-east-2a], spareZones: [us-east-2a", "", "regions.allow[1].spareZones[0]", "each once"},
		"a fallback outside the list":    {"[us-east-2a]", "[us-east-2a], fallback: [us-west-1]", "", "regions.allow[1].fallback[0]", "other regions of the list"},
		"a fallback to itself":           {"[us-east-2a]", "[us-east-2a], fallback: [us-east-2]", "", "regions.allow[1].fallback[0]", "other regions of the list"},
		"two control planes":             {"controlPlane: {replicas: 3", "controlPlane: {replicas: 2", "", "controlPlane.replicas", "1 or 3"},
		"a single worker":                {"workers: {replicas: 0", "workers: {replicas: 1", "", "workers.replicas", "0, or 2 or more"},
		"workers beside schedulable":     {"workers: {replicas: 0", "workers: {replicas: 3", "schedulable", "controlPlane.schedulable", "false with workers"},
		"networks that overlap":          {"serviceNetwork: 172.30.0.0/16", "serviceNetwork: 10.0.0.0/24", "", "networking.serviceNetwork", "10.0.0.0/16"},
		"a network OVN takes":            {"machineNetwork: 10.0.0.0/16", "machineNetwork: 100.64.0.0/16", "", "networking.machineNetwork", "100.64.0.0/16"},
		"a host prefix without room":     {"clusterNetwork: 10.128.0.0/14", "clusterNetwork: 10.128.0.0/24", "hostPrefix: 23", "networking.hostPrefix", "more than the cluster network's 24"},
		"a base domain outside the list": {"default: labs.example.com", "default: other.example.com", "", "baseDomains.default", "labs.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			body := strings.Replace(good(t), c.old, c.new, 1)
			require.NotEqual(t, good(t), body)
			err := load(body)
			var problems Problems
			require.ErrorAs(t, err, &problems)
			i := indexOf(problems, c.field)
			require.GreaterOrEqual(t, i, 0, err.Error())
			require.Contains(t, problems[i].Accept, c.accept)
			require.Equal(t, lineOf(body, cmp.Or(c.at, c.new)), problems[i].Line, "the line where it stands")
			require.Equal(t, "profiles/aws-minimal-test.yaml", problems[i].File)
		})
	}
}

// cloudAndMode is the part of the good profile from its platform to its credentials mode.
func cloudAndMode(t *testing.T) string {
	body := good(t)
	const last = "credentialsMode: Manual"
	return body[strings.Index(body, "platform: aws") : strings.Index(body, last)+len(last)]
}

func indexOf(problems Problems, field string) int {
	for i, p := range problems {
		if p.Field == field {
			return i
		}
	}
	return -1
}

// lineOf is the last line of part in body, where the value that is wrong stands.
func lineOf(body, part string) int {
	end := strings.Index(body, part) + len(part)
	return strings.Count(body[:end], "\n") + 1
}

func TestWhatIsNotOneProfileIsRefused(t *testing.T) {
	require.ErrorContains(t, load(""), "an empty file")
	require.ErrorContains(t, load("a: [b"), "valid YAML")
	require.ErrorContains(t, load("a: b\n\nc: d: e\n"), ".yaml:3: mapping values are not allowed in this context; accepted: valid YAML")
	require.ErrorContains(t, load("- a\n"), "a list of 1; accepted: a mapping with the fields in docs/catalogue.md#profiles")
	require.ErrorContains(t, load(good(t)+"---\nname: second\n"), "more than one document")
	require.ErrorContains(t, load("base: &b {name: x}\n<<: *b\n"), "not supported")
	_, err := Load(fstest.MapFS{"readme.md": {}})
	require.ErrorContains(t, err, "no *.yaml file")
}

func TestProblemsOfSeveralFilesComeTogether(t *testing.T) {
	_, err := Load(fstest.MapFS{"profiles/a.yaml": {Data: []byte("name: a\n")}, "profiles/b.yaml": {Data: []byte("name: b\n")}})
	require.ErrorContains(t, err, "profiles/a.yaml:1: platform: missing; accepted: one of aws, ibmcloud")
	require.ErrorContains(t, err, "profiles/b.yaml:1: platform: missing")
}

func FuzzLoadNeverPanics(f *testing.F) {
	f.Add("name: a\n")
	f.Add("a: &x [*x]\n")
	f.Add("? [a]\n: b\n")
	f.Fuzz(func(t *testing.T, body string) {
		if err := load(body); err == nil {
			require.Contains(t, body, "aws-minimal-test")
		}
	})
}

func TestAProfileSaysWhenItsClustersPeopleAreWarned(t *testing.T) {
	require.Equal(t, []time.Duration{time.Hour, 15 * time.Minute}, get(t, "aws-minimal-test").WarnBefore, "without a word of its own")
	with := func(list string) (Profile, error) {
		c, err := Load(fstest.MapFS{"profiles/aws-minimal-test.yaml": {Data: []byte(good(t) + "warnBeforeDestroy: " + list + "\n")}})
		p, _ := c.Get("aws-minimal-test")
		return p, err
	}
	p, err := with("[30m, 4h, 5m]")
	require.NoError(t, err)
	require.Equal(t, []time.Duration{4 * time.Hour, 30 * time.Minute, 5 * time.Minute}, p.WarnBefore)
	for list, problem := range map[string]string{
		"[]": "", "[15]": "[0]: 15", "[30s]": "[0]: \"30s\"", "[25h]": "[0]: \"25h\"", "[1h, 60m]": "[1]: \"60m\"", "[1m, 2m, 3m, 4m, 5m, 6m]": "[5]: \"6m\"",
	} {
		_, err := with(list)
		require.ErrorContains(t, err, "warnBeforeDestroy"+problem, list)
		require.ErrorContains(t, err, "a duration such as 60m, from 1m to 24h, each once and at most 5 of them", list)
	}
}

func TestAProfileSaysHowLongItsKubeconfigsMayBeValid(t *testing.T) {
	require.Zero(t, get(t, "aws-minimal-test").MaxAccess, "the installation says it")
	with := func(span string) (Profile, error) {
		c, err := Load(fstest.MapFS{"profiles/aws-minimal-test.yaml": {Data: []byte(good(t) + "maxAccess: " + span + "\n")}})
		p, _ := c.Get("aws-minimal-test")
		return p, err
	}
	p, err := with("90m")
	require.NoError(t, err)
	require.Equal(t, 90*time.Minute, p.MaxAccess)
	for _, span := range []string{"4", "9m", "721h", "0s", "-1h", "soon"} {
		_, err := with(span)
		require.ErrorContains(t, err, "maxAccess", span)
		require.ErrorContains(t, err, "a duration such as 4h, from 10m to 720h", span)
	}
}
