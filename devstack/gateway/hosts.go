package gateway

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// target is where the requests of a host go.
type target struct {
	base   *url.URL
	prefix string // before the path: IBM Cloud's stand-in has one address for all services
	bucket string // of a virtual host: it becomes the first part of the path
}

func (t target) apply(out *http.Request) {
	if t.base == nil {
		out.URL.Scheme, out.URL.Host = "http", "no-stand-in.invalid"
		return
	}
	out.URL.Scheme, out.URL.Host = t.base.Scheme, t.base.Host
	prefix := t.prefix
	if t.bucket != "" {
		prefix += "/" + t.bucket
		if out.URL.Path == "/" { // the bucket itself
			out.URL.Path = ""
		}
	}
	out.URL.Path = prefix + out.URL.Path
	if out.URL.RawPath != "" {
		out.URL.RawPath = prefix + out.URL.RawPath
	}
}

// The hosts of both clouds. S3 has names of its own: with and without a region, for IPv6 too, and with the bucket in front.
// https://docs.aws.amazon.com/general/latest/gr/rande.html and https://cloud.ibm.com/docs/cloud-object-storage?topic=cloud-object-storage-endpoints
var (
	s3Host   = regexp.MustCompile(`^(?:.+\.)?s3(?:[.-][a-z0-9-]+)*\.amazonaws\.com$`)
	s3Region = regexp.MustCompile(`(?:^|\.)s3[.-](?:dualstack\.)?([a-z0-9-]+)\.amazonaws\.com$`)
	awsHost  = regexp.MustCompile(`^[a-z0-9.-]+\.(?:amazonaws\.com|api\.aws)$`)
	vpcHost  = regexp.MustCompile(`^([a-z0-9-]+)\.iaas\.cloud\.ibm\.com$`)
	cosHost  = regexp.MustCompile(`^(?:(.+)\.)?s3(?:\.private|\.direct)?\.([a-z0-9-]+)\.cloud-object-storage\.appdomain\.cloud$`)
)

// ibmHosts are the prefixes of services that have one host for all regions.
var ibmHosts = map[string]string{
	"iam.cloud.ibm.com":                        "/iam",
	"resource-controller.cloud.ibm.com":        "/rc",
	"resource-manager.cloud.ibm.com":           "/rc",
	"api.cis.cloud.ibm.com":                    "/cis",
	"api.dns-svcs.cloud.ibm.com":               "/dns",
	"api.global-search-tagging.cloud.ibm.com":  "/search",
	"tags.global-search-tagging.cloud.ibm.com": "/tags",
}

// find returns where the requests of a host go, and whether a stand-in plays it.
func (s *Server) find(host string) (target, bool) {
	host = strings.ToLower(host)
	if s.cfg.Next != nil { // which knows the hosts
		return at("https://"+host, target{})
	}
	if s3Host.MatchString(host) {
		if m := s3Region.FindStringSubmatch(host); m != nil && s.cfg.S3In[m[1]] != "" {
			return at(s.cfg.S3In[m[1]], target{})
		}
		return at(s.cfg.S3, target{})
	}
	if awsHost.MatchString(host) {
		return at(s.cfg.AWS, target{})
	}
	if prefix, ok := ibmHosts[host]; ok {
		return at(s.cfg.IBMCloud, target{prefix: prefix})
	}
	if m := vpcHost.FindStringSubmatch(host); m != nil {
		return at(s.cfg.IBMCloud, target{prefix: "/vpc/" + m[1]})
	}
	if m := cosHost.FindStringSubmatch(host); m != nil {
		return at(s.cfg.IBMCloud, target{prefix: "/cos/" + m[2], bucket: m[1]})
	}
	return target{}, false
}

func at(base string, t target) (target, bool) {
	u, err := url.Parse(base)
	if base == "" || err != nil {
		return target{}, false
	}
	t.base = u
	return t, true
}
