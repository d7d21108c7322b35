package aws

import (
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// The lists of buckets are all of S3 that this stand-in has, for accounts with planted buckets in many regions (service s3, type bucket).
// Buckets with objects are in the stack's S3 server, to which AWS_ENDPOINT_URL_S3 leads.

const s3Namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

var s3Calls = map[string]handler{
	"ListBuckets": listBuckets, "GetBucketTagging": getBucketTagging, "ListBucket": listBucket,
	"PutBucketPublicAccessBlock": changePublicAccess, "DeleteBucketPublicAccessBlock": changePublicAccess,
}

func s3Protocol() protocol {
	p := restProtocol(s3Namespace, []route{{"GET", "", "ListBuckets"}, {"GET", "*", "GetBucketTagging"}}, s3Calls)
	read := p.read
	p.read = func(c *call, r *http.Request) *Fault {
		if action := publicAccess[r.Method]; action != "" && r.URL.Query().Has("publicAccessBlock") {
			c.action, c.params = action, params(r.URL.Query())
			if bucket, _, virtual := strings.Cut(r.Host, ".s3."); virtual {
				c.path = []string{bucket}
			} else {
				c.path = []string{strings.Trim(r.URL.Path, "/")}
			}
			return nil
		}
		f := read(c, r)
		if c.action == "GetBucketTagging" && c.params.has("list-type") {
			c.action = "ListBucket"
		}
		return f
	}
	p.refuse = func(w http.ResponseWriter, f *Fault, id string) {
		root := group("Error", el("Code", f.Code), el("Message", f.Message), el("RequestId", id))
		w.Header().Set("X-Amz-Request-Id", id)
		send(w, f.status(), "application/xml", document(root, ""))
	}
	return p
}

// publicAccess are the calls about a bucket's block of public access, by the method.
var publicAccess = map[string]string{http.MethodPut: "PutBucketPublicAccessBlock", http.MethodDelete: "DeleteBucketPublicAccessBlock"}

// changePublicAccess changes nothing: no bucket of the S3 server has the block.
func changePublicAccess(c *call) ([]node, error) {
	if c.action == publicAccess[http.MethodDelete] {
		c.status = http.StatusNoContent
	}
	return nil, nil
}

func byName(r *Resource) string { return r.Name }

// listBuckets lists the buckets of all regions in every region. Their regions are told only if the request has a parameter, as in AWS.
func listBuckets(c *call) ([]node, error) {
	most := c.params.number("max-buckets")
	found := c.Every(func(r *Resource) bool { return r.Service == "s3" && r.Type == "bucket" && r.Account == c.Account })
	found, next, err := after(found, c.params.get("continuation-token"), c.limited(most, 0), byName)
	if err != nil {
		return nil, fault("InvalidArgument", "The continuation token provided is incorrect")
	}
	buckets := node{name: "Buckets"}
	for _, r := range found {
		one := []node{el("Name", r.Name), el("CreationDate", r.Created)}
		if most > 0 {
			one = append(one, el("BucketRegion", r.Region))
		}
		buckets.kids = append(buckets.kids, group("Bucket", one...))
	}
	out := []node{buckets}
	if next != "" {
		out = append(out, el("ContinuationToken", next))
	}
	return out, nil
}

// bucket finds the bucket of a call, in the bucket's own region alone.
func (c *call) bucket() (*Resource, error) {
	b := c.First(func(r *Resource) bool { return r.Service == "s3" && r.Type == "bucket" && r.Name == c.path[0] })
	switch {
	case b == nil:
		return nil, fault("NoSuchBucket", "The specified bucket does not exist")
	case b.Account != c.Account:
		return nil, fault("AccessDenied", "Access Denied")
	case b.Region != c.region:
		return nil, fault("PermanentRedirect", "The bucket you are attempting to access must be addressed using the specified endpoint.")
	}
	return b, nil
}

// listBucket shows one object, with the planted number of bytes.
func listBucket(c *call) ([]node, error) {
	b := must.Get(c.bucket())
	out := []node{el("Name", b.Name), el("IsTruncated", false)}
	if b.Attrs["bytes"] != "" {
		out = append(out, group("Contents", el("Key", "all"), el("Size", b.Attrs["bytes"])))
	}
	return out, nil
}

func getBucketTagging(c *call) ([]node, error) {
	b, err := c.bucket()
	must.EndIf(!c.params.has("tagging"), fault("NotImplemented", "The stand-in has no objects"))
	must.Do(err)
	must.EndIf(len(b.Tags) == 0, fault("NoSuchTagSet", "The TagSet does not exist"))
	return []node{tagNodes("TagSet", b)}, nil
}
