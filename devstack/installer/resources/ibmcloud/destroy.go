package ibmcloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Metadata is what the destroyer knows, from metadata.json.
type Metadata struct {
	AccountID         string `json:"accountID"`
	BaseDomain        string `json:"baseDomain"`
	CISInstanceCRN    string `json:"cisInstanceCRN,omitempty"`
	DNSInstanceID     string `json:"dnsInstanceID,omitempty"`
	Region            string `json:"region"`
	ResourceGroupName string `json:"resourceGroupName"`
}

// Destroy removes a cluster stage by stage, as the real destroyer does: it finds things by names that contain the infraID, mostly on the
// first page, repeats a stage until nothing is found, and is limited only by ctx.
type Destroy struct {
	*Cloud
	Metadata
	InfraID, Name string
	Interval      time.Duration // between two rounds; ten seconds in the real destroyer
	Leave         []string      // kinds to skip silently, for tests
	Leaks         func(class string) bool

	Info  func(format string, args ...any)
	Warn  func(format string, args ...any)
	Debug func(format string, args ...any)

	group reference
	zone  Zone
}

// stage is one step of the destroyer; run reports that nothing is left of it.
type stage struct {
	kind string // as in Leave
	run  func(context.Context) (bool, error)
}

// Run destroys the cluster. Without the resource group, or without the DNS zone that the metadata names, it fails before it does
// anything.
func (d *Destroy) Run(ctx context.Context) (err error) {
	defer must.Catch(&err)
	must.Do(d.load(ctx))
	for _, s := range d.stages() {
		if slices.Contains(d.Leave, s.kind) {
			continue
		}
		must.Do(d.until(ctx, s))
	}
	return nil
}

func (d *Destroy) load(ctx context.Context) (err error) {
	defer must.Catch(&err)
	d.group = must.Get(d.FindGroup(ctx, d.ResourceGroupName))
	if d.CISInstanceCRN == "" && d.DNSInstanceID == "" {
		return nil
	}
	private := d.DNSInstanceID != ""
	zones := must.Get(d.DNSZones(ctx, private))
	for _, z := range zones {
		if private && z.Name == d.BaseDomain && z.Instance == d.DNSInstanceID || !private && strings.Contains(d.BaseDomain, z.Name) && z.Instance == d.CISInstanceCRN {
			d.zone = z // the last one counts
		}
	}
	must.FailIf(d.zone.ID == "", "failed to find the DNS zone of %s", d.BaseDomain)
	return d.getVPC(ctx, "get_region", "regions/"+d.Cloud.Region, nil)
}

// stages are the stages in their order. Security groups go with the network.
func (d *Destroy) stages() []stage {
	return []stage{
		{"instance", d.stop},
		{"instance", d.named("instance", "instances", "vpc.name", d.InfraID+"-vpc")},
		{"volume", d.disks},
		{"load-balancer", d.named("load_balancer", "load_balancers")},
		{"subnet", d.named("subnet", "subnets", "limit", "100")},
		{"image", d.images},
		{"public-gateway", d.named("public_gateway", "public_gateways")},
		{"floating-ip", d.named("floating_ip", "floating_ips")},
		{"vpc", d.named("vpc", "vpcs")},
		{"policy", d.authorizations},
		{"storage", d.storages},
		{"dns-record", d.records},
		{"resource-group", d.resourceGroup},
	}
}

func (d *Destroy) until(ctx context.Context, s stage) error {
	return resources.Rounds(ctx, d.Interval, len(d.Leave) > 0, s.run, func(n int, err error) { d.complain(n, s.kind, err) })
}

// quiet is how many rounds errors are logged at debug level before one is a warning.
const quiet = 30

func (d *Destroy) complain(n int, kind string, err error) {
	say := d.Debug
	if n%quiet == 0 {
		say = d.Warn
	}
	var several interface{ Unwrap() []error }
	if !errors.As(err, &several) {
		say("Failed to delete %s: %s", kind, err)
		return
	}
	if kind == "storage" {
		kind = "COS instance"
	}
	for _, one := range several.Unwrap() { // each begins with a name
		say("Failed to delete %s %s", strings.ReplaceAll(kind, "-", " "), one)
	}
}

// named deletes what has the infraID in its name, on the first page of a collection.
func (d *Destroy) named(one, path string, filters ...string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		all, err := d.firstPage(ctx, one, path, filters...)
		if err != nil {
			return false, err
		}
		return d.remove(ctx, one, path, all)
	}
}

func (d *Destroy) remove(ctx context.Context, one, path string, all []vpcItem) (done bool, err error) {
	var errs []error
	done = true
	for _, r := range all {
		if !strings.Contains(r.Name, d.InfraID) {
			continue
		}
		done = false
		if strings.HasPrefix(r.Status, "delet") || strings.HasPrefix(r.Provisioning, "delet") || strings.HasSuffix(r.Status, "_deletion") {
			continue
		}
		if err := d.deleteVPC(ctx, "delete_"+one, path+"/"+r.ID); act.Ends(err) {
			return false, err
		} else if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.Name, err))
			continue
		}
		d.Info("Deleted %s %q", strings.ReplaceAll(one, "_", " "), r.Name)
	}
	return done, errors.Join(errs...)
}

// stop stops the machines. One that failed never stops.
func (d *Destroy) stop(ctx context.Context) (_ bool, err error) {
	defer must.Catch(&err)
	all := must.Get(d.firstPage(ctx, "instance", "instances", "vpc.name", d.InfraID+"-vpc"))
	done := true
	for _, m := range all {
		if !strings.Contains(m.Name, d.InfraID) || m.Status == "stopped" || m.Status == "deleting" {
			continue
		}
		done = false
		if m.Status != "running" {
			continue
		}
		must.Do(d.postVPC(ctx, "create_instance_action", "instances/"+m.ID+"/actions", map[string]string{"type": "stop"}, nil))
		d.Info("Stopped instance %q", m.Name)
	}
	return done, nil
}

// disks deletes the volumes with the cluster's tag. Those without stay.
func (d *Destroy) disks(ctx context.Context) (_ bool, err error) {
	defer must.Catch(&err)
	all := must.Get(d.firstPage(ctx, "volume", "volumes", "tag", "kubernetes-io-cluster-"+d.InfraID+":owned", "limit", "100"))
	for _, v := range all {
		must.Do(d.deleteVPC(ctx, "delete_volume", "volumes/"+v.ID))
	}
	return len(all) == 0, nil
}

// images: the real destroyer reads the first page of all images, IBM's own among them. Whether the cluster's is on it depends on the
// order, so the stand-in finds it unless it must not.
func (d *Destroy) images(ctx context.Context) (bool, error) {
	if d.Leaks(installer.LeakImage) {
		return true, nil
	}
	return d.named("image", "images", "visibility", "private")(ctx)
}

// authorizations deletes the policies for the installer's Object Storage. Without the storage it finds none.
func (d *Destroy) authorizations(ctx context.Context) (_ bool, err error) {
	defer must.Catch(&err)
	storage := must.Get(d.storageNamed(ctx, d.InfraID+"-cos"))
	if storage.GUID == "" || d.Leaks(installer.LeakAuthorization) {
		d.Debug("No IAM authorizations matching %s", d.InfraID)
		return true, nil
	}
	var out struct {
		Policies []struct {
			ID        string `json:"id"`
			Resources []struct {
				Attributes []struct{ Name, Value string }
			}
		}
	}
	must.Do(d.do(ctx, call{op: "iam:list_policies", path: "/iam/v1/policies", query: url.Values{"account_id": {d.Account}, "type": {"authorization"}}}, &out))
	done := true
	for _, p := range out.Policies {
		for _, r := range p.Resources {
			for _, a := range r.Attributes {
				if a.Name != "serviceInstance" || a.Value != storage.GUID {
					continue
				}
				done = false
				if err := d.do(ctx, call{op: "iam:delete_policy", method: http.MethodDelete, path: "/iam/v1/policies/" + p.ID}, nil); err != nil && !Missing(err) {
					return false, err
				}
				d.Info("Deleted IAM authorization %q", p.ID)
			}
		}
	}
	return done, nil
}

// storages deletes the cluster's Object Storage and reclaims it. What an earlier run deleted and did not reclaim is not listed any more:
// it stays in reclamation.
func (d *Destroy) storages(ctx context.Context) (bool, error) {
	all, err := d.instances(ctx, storageService)
	if err != nil {
		return false, err
	}
	names := []string{d.InfraID + "-cos", d.InfraID + "-image-registry"}
	found := slices.DeleteFunc(all, func(r reference) bool { return !slices.Contains(names, r.Name) })
	for _, r := range found {
		err := d.do(ctx, call{
			op: "rc:delete_resource_instance", method: http.MethodDelete, path: "/rc/v2/resource_instances/" + url.PathEscape(r.ID), query: url.Values{"recursive": {"true"}},
		}, nil)
		if err != nil && !Missing(err) {
			return false, errors.Join(fmt.Errorf("%s: %w", r.Name, err))
		}
		d.Info("Deleted service instance %q", r.Name)
		if d.Leaks(installer.LeakReclamation) {
			continue
		}
		if err := d.reclaim(ctx, r.Name); err != nil {
			return false, errors.Join(fmt.Errorf("%s: %w", r.Name, err))
		}
	}
	return len(found) == 0, nil
}

// reclaim looks through every reclamation of the account, so that one of somebody else that cannot be read stops it.
func (d *Destroy) reclaim(ctx context.Context, name string) error {
	var out struct {
		Resources []struct {
			ID       string `json:"id"`
			Instance string `json:"resource_instance_id"`
		}
	}
	if err := d.do(ctx, call{op: "rc:list_reclamations", path: "/rc/v1/reclamations", query: url.Values{"account_id": {d.Account}}}, &out); err != nil {
		return err
	}
	for _, r := range out.Resources {
		var of reference
		if err := d.do(ctx, call{op: "rc:get_resource_instance", path: "/rc/v2/resource_instances/" + url.PathEscape(r.Instance)}, &of); Missing(err) {
			continue // it ended after the list was read
		} else if err != nil {
			return fmt.Errorf("failed to get the instance of reclamation %s: %w", r.ID, err)
		}
		if of.Name != name {
			continue
		}
		err := d.do(ctx, call{op: "rc:run_reclamation_action", method: http.MethodPost, path: "/rc/v1/reclamations/" + r.ID + "/actions/reclaim", body: struct{}{}}, nil)
		if err != nil && !Missing(err) {
			return err
		}
	}
	return nil
}

// records deletes every record whose name or content ends in the cluster's domain, on the first page of CIS.
func (d *Destroy) records(ctx context.Context) (_ bool, err error) {
	defer must.Catch(&err)
	if d.zone.ID == "" {
		d.Info("Skipping deletion of DNS Records, not found")
		return true, nil
	}
	if d.Leaks(installer.LeakPage) {
		return true, nil
	}
	all := must.Get(d.Records(ctx, d.zone))
	ends := regexp.MustCompile(".*" + regexp.QuoteMeta("."+d.Name+"."+d.BaseDomain) + "$")
	done := true
	for _, r := range all {
		if !ends.MatchString(r.Name) && !ends.MatchString(r.Content) && !ends.MatchString(r.Data.CNAME) {
			continue
		}
		done = false
		must.Do(d.deleteRecord(ctx, d.zone, r.ID))
		d.Info("Deleted DNS record %q", r.Name)
	}
	return done, nil
}

// resourceGroup deletes the group that the installer made, whose name is the infraID. It does not try again at once, because a group that
// is not empty is an internal error.
func (d *Destroy) resourceGroup(ctx context.Context) (bool, error) {
	if d.group.Name != d.InfraID {
		return true, nil
	}
	err := d.do(ctx, call{op: "rc:delete_resource_group", method: http.MethodDelete, path: "/rc/v2/resource_groups/" + d.group.ID, once: true}, nil)
	if Missing(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	d.Info("Deleted resource group %q", d.group.Name)
	return true, nil
}
