package ibmcloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/must"
)

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
