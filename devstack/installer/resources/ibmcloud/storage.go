package ibmcloud

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

// storageNamed finds an instance of Object Storage in the resource group by name; an empty one: there is none. It reads the first page
// of the account's instances.
func (c *Cloud) storageNamed(ctx context.Context, name string) (reference, error) {
	all, err := c.instances(ctx, storageService)
	if err != nil {
		return reference{}, err
	}
	if i := slices.IndexFunc(all, func(r reference) bool { return r.Name == name }); i >= 0 {
		return all[i], nil
	}
	return reference{}, nil
}

func (c *Cloud) createStorage(ctx context.Context, name, target, group string, tags ...string) (out reference, err error) {
	body := map[string]any{"name": name, "target": target, "resource_group": group, "resource_plan_id": storagePlan, "tags": tags}
	err = c.do(ctx, call{op: "rc:create_resource_instance", method: http.MethodPost, path: "/rc/v2/resource_instances", body: body}, &out)
	return out, err
}

func (c *Cloud) bucketPath(name string) string { return "/cos/" + c.Region + "/" + name }

func (c *Cloud) createBucket(ctx context.Context, instance, name string) error {
	body := fmt.Appendf(nil, "<CreateBucketConfiguration><LocationConstraint>%s-smart</LocationConstraint></CreateBucketConfiguration>", c.Region)
	return c.do(ctx, call{
		op: "cos:create_bucket", method: http.MethodPut, path: c.bucketPath(name), body: body, header: map[string]string{"ibm-service-instance-id": instance},
	}, nil)
}

func (c *Cloud) putObject(ctx context.Context, bucket, key string, content []byte) error {
	return c.do(ctx, call{op: "cos:put_object", method: http.MethodPut, path: c.bucketPath(bucket) + "/" + key, body: content}, nil)
}

// buckets lists an instance's buckets.
func (c *Cloud) buckets(ctx context.Context, instance string) (names []string, err error) {
	var out struct {
		Buckets []struct{ Name string } `xml:"Buckets>Bucket"`
	}
	err = c.do(ctx, call{op: "cos:list_buckets", path: "/cos/" + c.Region + "/", header: map[string]string{"ibm-service-instance-id": instance}}, &out)
	for _, b := range out.Buckets {
		names = append(names, b.Name)
	}
	return names, err
}

// removeBucket empties a bucket and deletes it.
func (c *Cloud) removeBucket(ctx context.Context, name string, keys ...string) error {
	for _, key := range keys {
		if err := c.do(ctx, call{op: "cos:delete_object", method: http.MethodDelete, path: c.bucketPath(name) + "/" + key}, nil); err != nil && !Missing(err) {
			return err
		}
	}
	if err := c.do(ctx, call{op: "cos:delete_bucket", method: http.MethodDelete, path: c.bucketPath(name)}, nil); !Missing(err) {
		return err
	}
	return nil
}

// The installer's buckets.
func imageBucket(infraID string) string     { return infraID + "-vsi-image" }
func bootstrapBucket(infraID string) string { return infraID + "-bootstrap-ignition" }

const imageFile = "rhcos-9.6.20250701-0-ibmcloud.x86_64.qcow2"

// ResourceGroup finds the given resource group, or makes the installer's own and waits until it is listed.
func (b *Build) ResourceGroup(ctx context.Context) error {
	if b.Spec.ResourceGroup == "" {
		body := map[string]string{"name": b.InfraID, "account_id": b.Account}
		if err := b.do(ctx, call{op: "rc:create_resource_group", method: http.MethodPost, path: "/rc/v2/resource_groups", body: body}, nil); err != nil {
			return err
		}
	}
	return b.wait(ctx, func() (bool, error) {
		group, err := b.FindGroup(ctx, b.Group())
		b.group = group.ID
		if b.Spec.ResourceGroup == "" && err != nil {
			return false, nil // not listed yet
		}
		return err == nil, err
	})
}

// Storage creates the installer's Object Storage.
func (b *Build) Storage(ctx context.Context) (err error) {
	name := b.InfraID + "-cos"
	if b.storage, err = b.storageNamed(ctx, name); err != nil || b.storage.ID != "" {
		return err
	}
	b.storage, err = b.createStorage(ctx, name, "Global", b.group)
	return err
}

// ImageBucket creates the bucket of the boot image, if it is not there.
func (b *Build) ImageBucket(ctx context.Context) error {
	if there, err := b.buckets(ctx, b.storage.CRN); err == nil && slices.Contains(there, imageBucket(b.InfraID)) {
		return nil // whatever the error is, the real installer tries to create it
	}
	return b.createBucket(ctx, b.storage.CRN, imageBucket(b.InfraID))
}

// UploadImage puts the boot image there; the stand-in's is a few bytes.
func (b *Build) UploadImage(ctx context.Context) error {
	return b.putObject(ctx, imageBucket(b.InfraID), imageFile, []byte("a stand-in for the boot image\n"))
}

// Authorize lets VPC read the boot image.
func (b *Build) Authorize(ctx context.Context) error {
	equals := func(key, value string) map[string]string {
		return map[string]string{"key": key, "operator": "stringEquals", "value": value}
	}
	body := map[string]any{
		"type":    "authorization",
		"subject": map[string]any{"attributes": []any{equals("serviceName", "is"), equals("accountId", b.Account), equals("resourceType", "image")}},
		"resource": map[string]any{"attributes": []any{
			equals("serviceName", "cloud-object-storage"), equals("accountId", b.Account), equals("serviceInstance", b.storage.GUID),
		}},
		"control": map[string]any{"grant": map[string]any{"roles": []any{map[string]string{"role_id": "crn:v1:bluemix:public:iam::::serviceRole:Reader"}}}},
	}
	return b.do(ctx, call{op: "iam:create_v2_policy", method: http.MethodPost, path: "/iam/v2/policies", body: body}, nil)
}

// PutIgnition stores the bootstrap machine's configuration in a bucket of its own.
func (b *Build) PutIgnition(ctx context.Context, content []byte) error {
	if err := b.createBucket(ctx, b.storage.CRN, bootstrapBucket(b.InfraID)); err != nil {
		return err
	}
	return b.putObject(ctx, bootstrapBucket(b.InfraID), "bootstrap.ign", content)
}
