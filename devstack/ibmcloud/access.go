package ibmcloud

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/deploy/ibmcloud/policies"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Caller is somebody with an API key.
type Caller struct {
	Name    string             // of the key
	Account string             // empty: the configuration's
	APIKey  string             //
	IAMID   string             // IBMid-…; empty: made from the key's position
	Denied  []string           // patterns of calls that it may not make: "vpc:delete_*"
	Access  *policies.Document // nil: everything
	Groups  []string           // names of the only resource groups that it has access to; nil: all. Lists leave out the rest without saying so
}

// Profile is a trusted profile that pods may use.
type Profile struct {
	ID, Name string
	Account  string // empty: the configuration's
	Token    string // of the pod, as in its file
	Denied   []string
	Access   *policies.Document // nil: everything
}

// caller is who makes a call.
type caller struct {
	account, iamID string
	denied         []string
	access         *policies.Document
	groups         []string
}

// APIKey is the first configured key of an account; empty account: of the configuration's.
func (s *Server) APIKey(account string) string {
	for _, c := range s.cfg.Callers {
		if account == "" || account == c.Account || c.Account == "" && account == s.cfg.Account {
			return c.APIKey
		}
	}
	return ""
}

// ExpireTokens makes every token issued until now invalid: services answer status 401.
func (s *Server) ExpireTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire = time.Now()
}

// claims are what an access token says.
type claims struct {
	IAMID   string  `json:"iam_id"`
	ID      string  `json:"id"`
	Subject string  `json:"sub"`
	Account account `json:"account"`
	Issued  int64   `json:"iat"`
	Exact   int64   `json:"jti_at"` // in nanoseconds, for ExpireTokens
	Expires int64   `json:"exp"`
	Issuer  string  `json:"iss"`
	Grant   string  `json:"grant_type"`
	Scope   string  `json:"scope"`
	Client  string  `json:"client_id"`
}

type account struct {
	Valid bool   `json:"valid"`
	BSS   string `json:"bss"`
}

func (s *Server) sign(text string) string {
	mac := hmac.New(sha256.New, s.secret)
	_, _ = mac.Write([]byte(text)) // a hash never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

const (
	keyGrant     = "urn:ibm:params:oauth:grant-type:apikey"
	profileGrant = "urn:ibm:params:oauth:grant-type:cr-token"
)

func createToken(c *call) (any, error) {
	form, err := url.ParseQuery(string(c.body))
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "BXNIM0106E", "The request body is no form.")
	}
	var who caller
	grant := form.Get("grant_type")
	switch grant {
	case keyGrant:
		known := false
		if who, known = c.server.callerOf(form.Get("apikey")); !known {
			return nil, refuse(http.StatusBadRequest, "BXNIM0415E", "Provided API key could not be found.")
		}
	case profileGrant:
		i := slices.IndexFunc(c.server.cfg.Profiles, func(p Profile) bool {
			named := p.ID == form.Get("profile_id") || p.Name == form.Get("profile_name") || strings.HasSuffix(form.Get("profile_crn"), ":profile:"+p.ID)
			return named && p.Token == form.Get("cr_token")
		})
		must.EndIf(i < 0, refuse(http.StatusBadRequest, "BXNIM0109E", "The compute resource token or the trusted profile is not valid."))
		p := c.server.cfg.Profiles[i]
		who = caller{account: p.Account, iamID: "iam-" + p.ID, denied: p.Denied}
		if who.account == "" {
			who.account = c.Account
		}
	default:
		return nil, refuse(http.StatusBadRequest, "BXNIM0106E", "The grant type %q is not supported.", grant)
	}
	return c.server.token(who, grant)
}

// Token is an access token of an account's first caller, as the stand-ins of what runs in a cluster need one.
func (s *Server) Token(account string) (_ string, err error) {
	defer must.Catch(&err)
	s.mu.Lock()
	who, known := s.callerOf(s.APIKey(account))
	s.mu.Unlock()
	must.FailIf(!known || account != "" && who.account != account, "no caller belongs to account %q", account)
	answer := must.Get(s.token(who, keyGrant))
	return answer["access_token"].(string), nil
}

func (s *Server) token(who caller, grant string) (object, error) {
	now := time.Now() // clients compare with their own clock
	expires := now.Add(s.cfg.TokenLife)
	raw, err := json.Marshal(claims{
		IAMID: who.iamID, ID: who.iamID, Subject: who.iamID, Account: account{true, who.account}, Issued: now.Unix(), Exact: now.UnixNano(),
		Expires: expires.Unix(), Issuer: "https://iam.cloud.ibm.com/identity", Grant: grant, Scope: "ibm openid", Client: "default",
	})
	if err != nil {
		return nil, err
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"kid":"standin","alg":"HS256"}`)) + "." + base64.RawURLEncoding.EncodeToString(raw)
	return object{
		"access_token": text + "." + s.sign(text), "refresh_token": "not_supported", "token_type": "Bearer",
		"expires_in": int(s.cfg.TokenLife.Seconds()), "expiration": expires.Unix(), "scope": "ibm openid",
	}, nil
}

// callerOf returns whose API key it is: a configured one, or one that was made. The server's mutex is held.
func (s *Server) callerOf(key string) (caller, bool) {
	for i, c := range s.cfg.Callers {
		if c.APIKey != key {
			continue
		}
		who := caller{account: c.Account, iamID: c.IAMID, denied: c.Denied, groups: c.Groups}
		if who.iamID == "" {
			who.iamID = "IBMid-" + strings.Repeat("0", 9) + string(rune('A'+i))
		}
		if who.account == "" {
			who.account = s.world.Account
		}
		return who, true
	}
	r := s.world.First(func(r *Resource) bool {
		return r.Service == identity && r.Type == "apikey" && r.Secret == key && key != ""
	})
	if r == nil {
		return caller{}, false
	}
	return caller{account: r.Account, iamID: r.Attrs["iam_id"]}, true
}

// authenticate finds out who calls, by the access token.
func (c *call) authenticate() error {
	no := refuse(http.StatusUnauthorized, "invalid_token", "The provided token is expired or not valid.")
	switch c.service {
	case "iam":
		no.code = "BXNIM0308E"
	case "cis":
		no.code = "10000"
	case "cos":
		no.status, no.code, no.text = http.StatusForbidden, "AccessDenied", "Access Denied"
	}
	parts := strings.Split(strings.TrimPrefix(c.header.Get("Authorization"), "Bearer "), ".")
	if len(parts) != 3 || !hmac.Equal([]byte(parts[2]), []byte(c.server.sign(parts[0]+"."+parts[1]))) {
		return no
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	var said claims
	if err != nil || json.Unmarshal(raw, &said) != nil {
		return no
	}
	c.server.mu.Lock()
	over := said.Exact <= c.server.expire.UnixNano() && !c.server.expire.IsZero()
	denied, access, groups := c.server.limitsOf(said.IAMID)
	c.server.mu.Unlock()
	if over || time.Now().Unix() >= said.Expires {
		return no
	}
	c.who = caller{account: said.Account.BSS, iamID: said.IAMID, denied: denied, access: access, groups: groups}
	for _, pattern := range c.who.denied {
		if match, err := path.Match(pattern, c.op); err != nil || match {
			return c.denied()
		}
	}
	return nil
}

// limitsOf returns the patterns of calls that somebody may not make, what they may do, and in which resource groups. The server's mutex is
// held.
func (s *Server) limitsOf(iamID string) (denied []string, access *policies.Document, groups []string) {
	for _, c := range s.cfg.Callers {
		if who, _ := s.callerOf(c.APIKey); who.iamID == iamID {
			return c.Denied, c.Access, c.Groups
		}
	}
	for _, p := range s.cfg.Profiles {
		if "iam-"+p.ID == iamID {
			return p.Denied, p.Access, nil
		}
	}
	access, groups = s.serviceAccess(iamID)
	return nil, access, groups
}

// denied is each service's error for a caller without the role that a call needs.
func (c *call) denied() error {
	switch c.service {
	case "iam":
		return refuse(http.StatusForbidden, "BXNIM0513E", "You are not authorized to use this API.")
	case "vpc":
		return refuse(http.StatusForbidden, "not_authorized", "The request is not authorized.")
	case "cis":
		return refuse(http.StatusForbidden, "10000", "Authentication error")
	case "cos":
		return refuse(http.StatusForbidden, "AccessDenied", "Access Denied")
	case "rc":
		return refuse(http.StatusForbidden, "insufficient_permissions", "You do not have the required permission to perform this operation.")
	}
	return refuse(http.StatusForbidden, "forbidden", "The caller is not authorized to perform this operation.")
}

// all leaves out of a list what the caller has no access to.
func (c *call) all(match func(*Resource) bool) []*Resource {
	return c.world.Every(func(r *Resource) bool { return match(r) && (!c.reads() || c.mayRead(r)) })
}

// mayRead reports that the caller has access to a resource: to its resource group, or to what it is a part of. Identities and policies are in
// no group: who has access to some groups only sees itself and what is about those.
func (c *call) mayRead(r *Resource) bool {
	if c.who.groups == nil {
		return true
	}
	inGroup := func(id string) bool {
		g := c.world.First(func(g *Resource) bool { return g.Type == "resource-group" && g.ID == id })
		return g != nil && contains(c.who.groups, g.Name)
	}
	switch {
	case r.Type == "resource-group":
		return contains(c.who.groups, r.Name)
	case r.Service == identity:
		return r.Attrs["iam_id"] == c.who.iamID
	case r.Type == "policy":
		p := policyOf(r)
		return slices.ContainsFunc(p.Subject, func(a attribute) bool { return a.Key == "iam_id" && a.Value == c.who.iamID }) ||
			slices.ContainsFunc(p.Resource, func(a attribute) bool { id, _ := a.Value.(string); return inGroup(id) })
	case r.Group != "":
		return inGroup(r.Group)
	case r.Parent != "":
		parent := c.world.First(func(p *Resource) bool { return p.ID == r.Parent && p.Account == r.Account })
		return parent == nil || c.mayRead(parent)
	}
	return true
}
