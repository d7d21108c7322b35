package ibmcloud

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func searchRoutes() []route {
	return []route{{"POST /search/v3/resources/search", "search:search", search}}
}

type searchRequest struct {
	Query  string   `json:"query"`
	Fields []string `json:"fields"`
	Cursor string   `json:"search_cursor"`
}

// cursor is a search that continues: what was asked first, and how many items were shown.
type cursor struct {
	Query  string
	Fields []string
	Last   int64
	Limit  int
}

// indexed reports that the index has a resource of a type.
func indexed(r *Resource) bool {
	return controlled(r) || contains([]string{"serviceid", "resource-group", "bucket", "resource-key"}, r.Type)
}

func document(r *Resource) object {
	family := "resource_controller"
	switch {
	case r.Service == "is":
		family = "is"
	case r.Service == identity:
		family = "iam"
	}
	typ := r.Type
	if typ == "instance" && r.Service != "is" {
		typ = "resource-instance"
	}
	region := r.Region
	if region == "" {
		region = "global"
	}
	return object{
		"crn": r.CRN(), "name": r.Name, "type": typ, "family": family, "account_id": r.Account, "region": region, "resource_group_id": r.Group,
		"resource_id": r.ID, "service_name": r.Service, "tags": append([]string{}, r.Tags...), "creation_date": stamp(r.Created), "doc": object{"id": r.ID, "state": r.State},
	}
}

// search sees new resources late and deleted ones for a while longer.
func search(c *call) (any, error) {
	must.Do(c.only("account_id", "limit", "is_reclaimed"))
	account := c.query.Get("account_id")
	must.EndIf(account != "" && account != c.who.account, c.denied())
	var in searchRequest
	must.Do(c.decode(&in))
	limit := must.Get(c.length("limit", 10, 1000))
	at := cursor{Query: in.Query, Fields: in.Fields, Limit: limit}
	if in.Cursor != "" {
		raw, err := base64.RawURLEncoding.DecodeString(in.Cursor)
		must.EndIf(err != nil || json.Unmarshal(raw, &at) != nil, refuse(http.StatusBadRequest, "invalid_cursor", "The search cursor is not valid."))
	}
	match := must.Get(parseQuery(at.Query))
	items := []object{}
	all := append(slices.Clone(c.Dead), c.Resources...)
	slices.SortFunc(all, func(a, b *Resource) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, r := range all {
		if len(items) == at.Limit {
			break
		}
		if r.Account != c.who.account || !indexed(r) || !c.maySee(r) || !c.mayRead(r) || r.Seq <= at.Last || r.Alive() && c.late(r, c.Lag.Create) || !reclaimed(r, c.query.Get("is_reclaimed")) {
			continue
		}
		if d := document(r); match(d) {
			items = append(items, selectFields(d, at.Fields))
			at.Last = max(at.Last, r.Seq)
		}
	}
	out := object{"items": items, "limit": at.Limit}
	if len(items) == at.Limit {
		raw := must.Get(json.Marshal(at))
		out["search_cursor"] = base64.RawURLEncoding.EncodeToString(raw)
	}
	return out, nil
}

// reclaimed reports that a request wants a resource: by default none that waits for its reclamation.
func reclaimed(r *Resource, want string) bool {
	return want == "any" || (r.State == reclaimable) == (want == "true")
}

// selectFields returns the requested fields; the service has some that it always shows.
func selectFields(d object, fields []string) object {
	if contains(fields, "*") {
		return d
	}
	out := object{}
	for _, f := range append([]string{"account_id", "name", "type", "family", "crn"}, fields...) {
		f, _, _ = strings.Cut(f, ".")
		if v, ok := d[f]; ok {
			out[f] = v
		}
	}
	return out
}
