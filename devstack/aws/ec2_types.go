package aws

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// families are the offered instance families, with GiB of memory per vCPU; sizes are their sizes, with vCPUs. The burstable ones have
// fewer large sizes, and only they have a medium one.
var (
	families = []struct {
		name string
		gib  int
	}{{"m5", 4}, {"m5a", 4}, {"m6a", 4}, {"m6i", 4}, {"m7i", 4}, {"c5", 2}, {"c6i", 2}, {"r5", 8}, {"r6i", 8}, {"t3", 4}, {"t3a", 4}}
	sizes = []struct {
		name  string
		vcpus int
	}{{"medium", 2}, {"large", 2}, {"xlarge", 4}, {"2xlarge", 8}, {"4xlarge", 16}, {"8xlarge", 32}}
)

// instanceType is an offered instance type.
type instanceType struct {
	name       string
	vcpus, mib int
}

// instanceTypes returns all types, in the order of their families and sizes.
func instanceTypes() []instanceType {
	var out []instanceType
	for _, f := range families {
		burstable := strings.HasPrefix(f.name, "t3")
		for _, s := range sizes {
			if (s.name == "medium" && !burstable) || (s.vcpus > 8 && burstable) {
				continue
			}
			gib := s.vcpus * f.gib
			if s.name == "medium" {
				gib /= 2
			}
			out = append(out, instanceType{f.name + "." + s.name, s.vcpus, gib * 1024})
		}
	}
	return out
}

func typeNamed(name string) (instanceType, bool) {
	all := instanceTypes()
	i := slices.IndexFunc(all, func(t instanceType) bool { return t.name == name })
	if i < 0 {
		return instanceType{}, false
	}
	return all[i], true
}

func vcpus(name string) int {
	t, _ := typeNamed(name) // a planted instance of an unknown type counts nothing
	return t.vcpus
}

// offered reports whether an instance type is available in a zone or region. us-east-1e is the exception in the real region: it has
// none of the newer types.
func offered(place, name string) bool {
	_, known := typeNamed(name)
	return known && (place != "us-east-1e" || strings.HasPrefix(name, "t3"))
}

type offering struct{ name, place string }

func describeOfferings(c *call) ([]node, error) {
	places, kind := []string{c.region}, cmp.Or(c.params.get("LocationType"), "region")
	if kind == "availability-zone" {
		places = zonesOf(c.region)
	}
	var found []offering
	for _, place := range places {
		for _, t := range instanceTypes() {
			if offered(place, t.name) && wanted(c.asked("instance-type"), t.name) && wanted(c.asked("location"), place) {
				found = append(found, offering{t.name, place})
			}
		}
	}
	found, next := must.Get2(page(c, found, false, func(o offering) string { return o.place + " " + o.name }))
	items := pick.Map(found, func(o offering) []node {
		return []node{el("instanceType", o.name), el("locationType", kind), el("location", o.place)}
	})
	return append([]node{list("instanceTypeOfferingSet", "item", items)}, next...), nil
}

func describeTypes(c *call) ([]node, error) {
	names := c.params.list("InstanceType")
	unknown := pick.Every(names, func(name string) bool { return !offered(c.region, name) })
	must.EndIf(len(unknown) > 0,
		fault("InvalidInstanceType", "The following supplied instance types do not exist: [%s]", strings.Join(unknown, ", ")))
	found := slices.DeleteFunc(instanceTypes(), func(t instanceType) bool { return !wanted(names, t.name) || !wanted(c.asked("instance-type"), t.name) })
	found, next := must.Get2(page(c, found, len(names) > 0, func(t instanceType) string { return t.name }))
	items := pick.Map(found, func(t instanceType) []node {
		return []node{el("instanceType", t.name), el("currentGeneration", true), el("bareMetal", false),
			texts("supportedUsageClasses", "item", []string{"on-demand", "spot"}), group("processorInfo", texts("supportedArchitectures", "item", []string{"x86_64"})),
			group("vCpuInfo", el("defaultVCpus", t.vcpus), el("defaultCores", t.vcpus/2), el("defaultThreadsPerCore", 2)), group("memoryInfo", el("sizeInMiB", t.mib))}
	})
	return append([]node{list("instanceTypeSet", "item", items)}, next...), nil
}
