package ibmcloud

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

func vpcPlaceRoutes() []route {
	return []route{
		{"GET " + vpcBase + "regions", "vpc:list_regions", listRegions},
		{"GET " + vpcBase + "regions/{id}", "vpc:get_region", getRegion},
		{"GET " + vpcBase + "regions/{id}/zones", "vpc:list_region_zones", listZonesOfRegion},
		{"GET " + vpcBase + "instance/profiles", "vpc:list_instance_profiles", listProfiles},
	}
}

// regionView: the endpoint is the address without the version, as the service has it.
func (c *call) regionView(name string) object {
	endpoint := strings.TrimSuffix(c.server.URL("vpc", name), "/v1")
	return object{"name": name, "endpoint": endpoint, "href": endpoint + "/v1/regions/" + name, "status": "available"}
}

func listRegions(c *call) (any, error) {
	must.Do(c.versioned())
	shown := pick.Map(c.server.cfg.Regions, c.regionView)
	return object{"regions": shown}, nil
}

func (c *call) knownRegion() error {
	if !contains(c.server.cfg.Regions, c.path("id")) {
		return refuse(http.StatusNotFound, "not_found", "There is no region %s.", c.path("id"))
	}
	return nil
}

func getRegion(c *call) (any, error) {
	must.Do(c.versioned())
	must.Do(c.knownRegion())
	return c.regionView(c.path("id")), nil
}

func listZonesOfRegion(c *call) (any, error) {
	must.Do(c.versioned())
	must.Do(c.knownRegion())
	name, shown := c.path("id"), []object{}
	for i := range 3 {
		zone := fmt.Sprintf("%s-%d", name, i+1)
		shown = append(shown, object{
			"name": zone, "status": "available", "href": c.server.URL("vpc", name) + "/regions/" + name + "/zones/" + zone, "region": c.regionView(name),
			"data_center": fmt.Sprintf("DC%d", i+1), "universal_name": fmt.Sprintf("%s-dc%d-a", name, i+1),
		})
	}
	return object{"zones": shown}, nil
}

func (c *call) profileView(p profile) object {
	family := map[string]string{"bx": "balanced", "cx": "compute", "mx": "memory"}[p.name[:2]]
	return object{
		"name": p.name, "family": family, "href": c.server.URL("vpc", c.region) + "/instance/profiles/" + p.name, "resource_type": "instance_profile", "status": "current",
		"vcpu_count": object{"type": "fixed", "value": p.vcpu}, "memory": object{"type": "fixed", "value": p.memory},
		"vcpu_architecture": object{"type": "fixed", "value": "amd64"},
	}
}

func listProfiles(c *call) (any, error) {
	must.Do(c.versioned())
	shown := pick.Map(profiles(), c.profileView)
	return object{"profiles": shown}, nil
}
