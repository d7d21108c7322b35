package aws

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/pick"
)

// Fault is a service's error.
type Fault struct {
	Code    string
	Message string
}

func (f *Fault) Error() string { return f.Code + ": " + f.Message }

func fault(code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// status is the HTTP status that the real services send with a code, usually 400.
func (f *Fault) status() int {
	switch f.Code {
	case "UnauthorizedOperation", "AccessDenied", "InvalidClientTokenId", "SignatureDoesNotMatch", "MissingAuthenticationToken", "OptInRequired", "ExpiredToken":
		return http.StatusForbidden
	case NoCapacity:
		return http.StatusInternalServerError
	case "AuthFailure":
		return http.StatusUnauthorized
	case "PermanentRedirect":
		return http.StatusMovedPermanently
	case "NoSuchEntity", "NoSuchHostedZone", "NoSuchChange", "NoSuchBucket", "NoSuchTagSet":
		return http.StatusNotFound
	case "LimitExceeded", "EntityAlreadyExists", "DeleteConflict", "HostedZoneAlreadyExists":
		return http.StatusConflict
	case "DryRunOperation":
		return http.StatusPreconditionFailed
	case "InternalError", "InternalFailure", "ServiceFailure":
		return http.StatusInternalServerError
	case "Unavailable", "ServiceUnavailable", "RequestLimitExceeded", "SlowDown":
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// node is one XML element: text or children.
type node struct {
	name string
	text string
	kids []node
}

func el(name string, value any) node {
	switch v := value.(type) {
	case string:
		return node{name: name, text: v}
	case time.Time:
		return node{name: name, text: v.UTC().Format("2006-01-02T15:04:05.000Z")}
	}
	return node{name: name, text: fmt.Sprint(value)}
}

func group(name string, kids ...node) node { return node{name: name, kids: kids} }

// list wraps every item in an element of its own: "item" for EC2, "member" for the query protocol.
func list(name, item string, items [][]node) node {
	return each(name, items, func(kids []node) node { return group(item, kids...) })
}

// each is an element with one in it for each item.
func each[E any](name string, all []E, become func(E) node) node {
	return group(name, pick.Map(all, become)...)
}

// tagNodes are the resource's tags, in order.
func tagNodes(name string, r *Resource) node {
	return each(name, slices.Sorted(maps.Keys(r.Tags)), func(k string) node { return group("Tag", el("Key", k), el("Value", r.Tags[k])) })
}

func texts(name, item string, values []string) node {
	return each(name, values, func(v string) node { return el(item, v) })
}

func (n node) write(b *bytes.Buffer, attr string) {
	b.WriteString("<" + n.name + attr + ">")
	_ = xml.EscapeText(b, []byte(n.text)) // a bytes.Buffer never fails
	for _, kid := range n.kids {
		kid.write(b, "")
	}
	b.WriteString("</" + n.name + ">")
}

func document(root node, namespace string) []byte {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	root.write(&b, ` xmlns="`+namespace+`"`)
	return b.Bytes()
}

// params are the form fields of the query protocols, with numbered lists: VpcId.1, Tags.member.1.Key.
type params url.Values

func (p params) get(name string) string { return url.Values(p).Get(name) }

func (p params) has(name string) bool { return url.Values(p).Has(name) }

func (p params) number(name string) int {
	n, _ := strconv.Atoi(p.get(name)) // absent and malformed both mean "no limit given"
	return n
}

// list reads Name.1, Name.2 … (EC2) or Name.member.1 … (the other query services).
func (p params) list(name string) []string {
	var out []string
	for _, stem := range []string{name + ".", name + ".member."} {
		for i := 1; ; i++ {
			v, ok := p[stem+strconv.Itoa(i)]
			if !ok {
				break
			}
			out = append(out, v[0])
		}
	}
	return out
}

// each reads a list of structures: Name.1.Field … or Name.member.1.Field ….
func (p params) each(name string) []params {
	var out []params
	for _, stem := range []string{name + ".", name + ".member."} {
		for i := 1; ; i++ {
			prefix := stem + strconv.Itoa(i) + "."
			sub := params{}
			for k, v := range p {
				if rest, ok := strings.CutPrefix(k, prefix); ok {
					sub[rest] = v
				}
			}
			if len(sub) == 0 {
				break
			}
			out = append(out, sub)
		}
	}
	return out
}

// tags reads Tags.member.N.{Key,Value} (IAM, ELB) or Tag.N.{Key,Value} (EC2's CreateTags).
func (p params) tags(name string) map[string]string {
	out := map[string]string{}
	for _, t := range p.each(name) {
		out[t.get("Key")] = t.get("Value")
	}
	return out
}

// tagsFor reads EC2's TagSpecification.N of one resource type.
func (p params) tagsFor(kind string) map[string]string {
	out := map[string]string{}
	for _, spec := range p.each("TagSpecification") {
		if spec.get("ResourceType") != kind {
			continue
		}
		maps.Copy(out, spec.tags("Tag"))
	}
	return out
}
