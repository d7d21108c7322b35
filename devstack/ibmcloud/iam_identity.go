package ibmcloud

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// identity is the service of service IDs and API keys in CRNs.
const identity = "iam-identity"

func iamRoutes() []route {
	return []route{
		{"POST /iam/identity/token", "iam:create_token", createToken},
		{"GET /iam/v1/apikeys/details", "iam:get_api_keys_details", keyDetails},
		{"GET /iam/v1/apikeys", "iam:list_api_keys", listKeys},
		{"POST /iam/v1/apikeys", "iam:create_api_key", createKey},
		{"GET /iam/v1/serviceids/{$}", "iam:list_service_ids", listServiceIDs},
		{"POST /iam/v1/serviceids/{$}", "iam:create_service_id", createServiceID},
		{"DELETE /iam/v1/serviceids/{id}", "iam:delete_service_id", deleteServiceID},
	}
}

func (c *call) identity(typ, id string) (*Resource, error) {
	r := c.First(func(r *Resource) bool {
		return r.Service == identity && r.Type == typ && r.ID == id && r.Account == c.who.account
	})
	if r == nil {
		return nil, refuse(http.StatusNotFound, "BXNIM0201E", "The %s %s could not be found.", typ, id)
	}
	return r, nil
}

func identityView(r *Resource) object {
	out := object{
		"id": r.ID, "crn": r.CRN(), "entity_tag": "1-" + strconv.FormatInt(r.Seq, 16), "locked": false, "name": r.Name, "account_id": r.Account,
		"iam_id": r.Attrs["iam_id"], "description": r.Attrs["description"], "created_at": iamTime(r), "modified_at": iamTime(r), "created_by": r.Attrs["created_by"],
	}
	if r.Type == "serviceid" {
		out["iam_id"] = "iam-" + r.ID
	}
	return out
}

// iamTime is a time as IAM writes it.
func iamTime(r *Resource) string { return r.Created.UTC().Format("2006-01-02T15:04+0000") }

func keyDetails(c *call) (any, error) {
	key := c.header.Get("IAM-ApiKey")
	who, known := c.server.callerOf(key)
	must.EndIf(!known, refuse(http.StatusNotFound, "BXNIM0415E", "Provided API key could not be found."))
	if r := c.First(func(r *Resource) bool { return r.Type == "apikey" && r.Secret == key }); r != nil {
		return identityView(r), nil
	}
	for i, configured := range c.server.cfg.Callers {
		if configured.APIKey == key {
			id := "ApiKey-" + strconv.Itoa(i+1)
			r := Resource{Account: who.account, Service: identity, Type: "apikey", ID: id, Name: configured.Name, Created: c.Now(), Attrs: map[string]string{"iam_id": who.iamID, "created_by": who.iamID}}
			return identityView(&r), nil
		}
	}
	return nil, refuse(http.StatusNotFound, "BXNIM0415E", "Provided API key could not be found.")
}

// listKeys lists the keys of one user or service ID, who is the caller unless the request names another, or those of the whole account if
// it says so.
func listKeys(c *call) (any, error) {
	must.Do(c.only("account_id", "iam_id", "pagesize", "pagetoken", "scope", "type"))
	iamID, typ := c.query.Get("iam_id"), c.query.Get("type")
	if iamID == "" && c.query.Get("scope") != "account" {
		iamID = c.who.iamID
	}
	return c.identities("apikeys", "apikey", func(r *Resource) bool {
		ofService := strings.HasPrefix(r.Attrs["iam_id"], "iam-ServiceId-")
		if typ == "serviceid" && !ofService || typ == "user" && ofService {
			return false
		}
		return iamID == "" || iamID == r.Attrs["iam_id"]
	})
}

func listServiceIDs(c *call) (any, error) {
	must.Do(c.only("account_id", "name", "pagesize", "pagetoken"))
	name := c.query.Get("name")
	return c.identities("serviceids", "serviceid", func(r *Resource) bool { return name == "" || r.Name == name })
}

// identities is a page of IAM: twenty unless more are requested, with the next page as a whole address.
func (c *call) identities(field, typ string, match func(*Resource) bool) (any, error) {
	if account := c.query.Get("account_id"); account != "" && account != c.who.account {
		return nil, c.denied()
	}
	limit := must.Get(c.length("pagesize", 20, 100))
	found := c.all(func(r *Resource) bool {
		return r.Service == identity && r.Type == typ && r.Account == c.who.account && match(r)
	})
	found, next := must.Get2(after(found, c.query.Get("pagetoken"), limit))
	shown := pick.Map(found, identityView)
	base := c.server.URL("iam", "") + "/v1/" + field + "?" + url.Values{"account_id": {c.who.account}, "pagesize": {strconv.Itoa(limit)}}.Encode()
	out := object{"offset": 0, "limit": limit, "first": base, field: shown}
	if next != "" {
		out["next"] = base + "&pagetoken=" + next
	}
	return out, nil
}

// newIdentity is the request for a service ID or an API key.
type newIdentity struct {
	Name        string `json:"name"`
	IAMID       string `json:"iam_id"`
	AccountID   string `json:"account_id"`
	Description string `json:"description"`
}

func (c *call) newIdentity() (in newIdentity, err error) {
	defer must.Catch(&err)
	must.Do(c.decode(&in))
	must.EndIf(in.Name == "", refuse(http.StatusBadRequest, "BXNIM0106E", "Property missing or empty: name"))
	must.EndIf(in.AccountID != "" && in.AccountID != c.who.account, c.denied())
	return in, nil
}

// createServiceID does not look whether the name is in use: names are not unique.
func createServiceID(c *call) (any, error) {
	in := must.Get(c.newIdentity())
	r := c.Add(&Resource{
		Account: c.who.account, Service: identity, Type: "serviceid", ID: "ServiceId-" + newUUID(), Name: in.Name,
		Attrs: map[string]string{"description": in.Description, "created_by": c.who.iamID},
	})
	c.status = http.StatusCreated
	return identityView(r), nil
}

func createKey(c *call) (any, error) {
	in := must.Get(c.newIdentity())
	key := Resource{
		Account: c.who.account, Service: identity, Type: "apikey", ID: "ApiKey-" + newUUID(), Name: in.Name, Secret: "standin-" + hexes(36),
		Attrs: map[string]string{"iam_id": in.IAMID, "description": in.Description, "created_by": c.who.iamID},
	}
	if in.IAMID == "" {
		key.Attrs["iam_id"] = c.who.iamID
	}
	if id, ok := strings.CutPrefix(in.IAMID, "iam-"); ok {
		must.Get(c.identity("serviceid", id))
		key.Parent = id
	}
	r := c.Add(&key)
	out := identityView(r)
	out["apikey"] = r.Secret // only here
	c.status = http.StatusCreated
	return out, nil
}

// deleteServiceID deletes a service ID with its API keys. Its access policies stay: IBM does not say what happens to them, and people have
// found them left.
func deleteServiceID(c *call) (any, error) {
	r := must.Get(c.identity("serviceid", c.path("id")))
	must.Do(c.protected(r))
	must.EndIf(c.pinned(r), refuse(http.StatusConflict, "BXNIM0125E", "The serviceid %s is locked.", r.ID))
	c.Remove(r)
	return nil, nil
}

// pinned reports that a test wants the deletion of a resource to fail.
func (w *world) pinned(r *Resource) bool { return w.Pinned[r.ID] || w.Pinned[r.Name] && r.Name != "" }
