package ibmcloud

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func cosRoutes() []route {
	return []route{
		{"GET /cos/{region}/{$}", "cos:list_buckets", listBuckets},
		{"PUT /cos/{region}/{bucket}", "cos:create_bucket", createBucket},
		{"DELETE /cos/{region}/{bucket}", "cos:delete_bucket", deleteBucket},
		{"PUT /cos/{region}/{bucket}/{key...}", "cos:put_object", putObject},
		{"DELETE /cos/{region}/{bucket}/{key...}", "cos:delete_object", deleteObject},
	}
}

// cosInstance finds the instance of the request's header, which has its GUID or its CRN.
func (c *call) cosInstance() (*Resource, error) {
	r := c.byCRN(c.header.Get("ibm-service-instance-id"))
	if r == nil || r.Service != "cloud-object-storage" || r.State != "active" {
		return nil, refuse(http.StatusForbidden, "AccessDenied", "Access Denied")
	}
	return r, nil
}

type bucketList struct {
	XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListAllMyBucketsResult"`
	Owner   struct{ ID, DisplayName string }
	Buckets []bucketItem `xml:"Buckets>Bucket"`
}

type bucketItem struct{ Name, CreationDate string }

// listBuckets lists the buckets of one instance, in every region.
func listBuckets(c *call) (any, error) {
	instance := must.Get(c.cosInstance())
	var out bucketList
	out.Owner.ID, out.Owner.DisplayName = instance.ID, instance.ID
	for _, b := range c.all(func(r *Resource) bool { return r.Type == "bucket" && r.Parent == instance.ID }) {
		out.Buckets = append(out.Buckets, bucketItem{b.Name, stamp(b.Created)})
	}
	return out, nil
}

// createBucket: names are unique over all accounts. The location constraint begins with the region.
func createBucket(c *call) (any, error) {
	instance := must.Get(c.cosInstance())
	var in struct{ LocationConstraint string }
	if len(c.body) > 0 {
		if err := xml.Unmarshal(c.body, &in); err != nil {
			return nil, refuse(http.StatusBadRequest, "MalformedXML", "The XML you provided was not well-formed.")
		}
	}
	must.EndIf(in.LocationConstraint != "" && !strings.HasPrefix(in.LocationConstraint, c.region+"-"),
		refuse(http.StatusBadRequest, "InvalidLocationConstraint", "The specified location-constraint is not valid here."))
	name := c.path("bucket")
	must.EndIf(c.First(func(r *Resource) bool { return r.Type == "bucket" && r.Name == name }) != nil,
		refuse(http.StatusConflict, "BucketAlreadyExists", "The requested bucket name is not available. The bucket namespace is shared by all users of the system."))
	c.Add(&Resource{Account: c.who.account, Service: "cloud-object-storage", Type: "bucket", ID: name, Name: name, Region: c.region, Parent: instance.ID})
	c.status = http.StatusOK
	return nil, nil
}

// bucket finds a bucket of the caller in the call's region. What waits for its reclamation is not there.
func (c *call) bucket() (*Resource, error) {
	name := c.path("bucket")
	b := c.First(func(r *Resource) bool { return r.Type == "bucket" && r.Name == name && r.Region == c.region })
	if b != nil && b.Account != c.who.account {
		return nil, refuse(http.StatusForbidden, "AccessDenied", "Access Denied")
	}
	if b == nil || c.First(func(r *Resource) bool { return r.ID == b.Parent && r.State == "active" }) == nil {
		return nil, refuse(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist.")
	}
	return b, nil
}

func deleteBucket(c *call) (any, error) {
	b := must.Get(c.bucket())
	must.Do(c.protected(b))
	must.EndIf(c.First(func(r *Resource) bool { return r.Type == "object" && r.Parent == b.ID }) != nil || c.pinned(b),
		refuse(http.StatusConflict, "BucketNotEmpty", "The bucket you tried to delete is not empty."))
	c.Remove(b)
	return nil, nil
}

func (c *call) object(b *Resource) *Resource {
	return c.First(func(r *Resource) bool { return r.Type == "object" && r.Parent == b.ID && r.Name == c.path("key") })
}

// putObject keeps that there is an object and how long it is, and not its content.
func putObject(c *call) (any, error) {
	b := must.Get(c.bucket())
	if old := c.object(b); old != nil {
		c.Remove(old)
	}
	key := c.path("key")
	c.Add(&Resource{
		Account: b.Account, Service: b.Service, Type: "object", ID: b.Name + "/" + key, Name: key, Region: b.Region, Parent: b.ID,
		Attrs: map[string]string{"size": fmt.Sprint(len(c.body))},
	})
	c.status = http.StatusOK
	return nil, nil
}

func deleteObject(c *call) (any, error) {
	b := must.Get(c.bucket())
	if o := c.object(b); o != nil {
		c.Remove(o)
	}
	return nil, nil
}
