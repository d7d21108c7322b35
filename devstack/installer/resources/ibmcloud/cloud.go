// Package ibmcloud is the cloud part of the stand-in installer and ccoctl on IBM Cloud: it creates and destroys what openshift-install
// 4.20 and ccoctl create there, by plain HTTP, with the same names and order.
//
// It must never be used with the real cloud; Open refuses every address that is not on this machine.
package ibmcloud

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Cloud is one region and the global services, with the account of an API key.
type Cloud struct {
	Region  string
	Account string // of the key, after Login

	base  string
	key   string
	token string
	wrote func(service, action string) error
}

// Open takes the stand-in's address and the first of the variables with an API key from the environment. It makes no call yet, and
// refuses addresses off this machine. wrote is called after each successful write; its error becomes that call's.
func Open(region string, wrote func(service, action string) error, keys ...string) (*Cloud, error) {
	base := os.Getenv(installer.IBMCloudVariable)
	address, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", installer.IBMCloudVariable, err)
	}
	if ip := net.ParseIP(address.Hostname()); address.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("this %s is a stand-in and speaks to stand-ins only: %s must name an address of this machine, it is %q",
			filepath.Base(os.Args[0]), installer.IBMCloudVariable, base)
	}
	c := &Cloud{Region: region, base: strings.TrimSuffix(base, "/"), wrote: wrote}
	for _, name := range keys {
		if c.key = os.Getenv(name); c.key != "" {
			break
		}
	}
	return c, nil
}

// HasKey reports whether the environment has an API key.
func (c *Cloud) HasKey() bool { return c.key != "" }

// Key is the API key.
func (c *Cloud) Key() string { return c.key }

// Login gets a token and the account of the key.
func (c *Cloud) Login(ctx context.Context) error {
	form := url.Values{"grant_type": {"urn:ibm:params:oauth:grant-type:apikey"}, "apikey": {c.key}, "response_type": {"cloud_iam"}}
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := c.do(ctx, call{op: "iam:create_token", method: http.MethodPost, path: "/iam/identity/token", body: []byte(form.Encode()), reads: true}, &token); err != nil {
		return err
	}
	c.token = token.AccessToken
	var details struct {
		AccountID string `json:"account_id"`
	}
	err := c.do(ctx, call{op: "iam:get_api_keys_details", path: "/iam/v1/apikeys/details", header: map[string]string{"IAM-ApiKey": c.key}}, &details)
	c.Account = details.AccountID
	return err
}

// call is one request.
type call struct {
	op     string // as in the stand-in cloud: vpc:create_vpc
	method string // empty: GET
	path   string
	query  url.Values
	header map[string]string
	body   any  // []byte as it is, everything else as JSON
	reads  bool // although it is no GET
	once   bool // no second try
}

// Error is a service's refusal.
type Error struct {
	Op      string
	Status  int
	Code    string
	Message string
}

func (e *Error) Error() string { return e.Message }

// Missing reports that a resource does not exist.
func Missing(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}

// tries is how often a call is made that is throttled or meets a broken service, as in IBM's SDKs.
const tries = 4

// do makes a call until it is answered, and reports a write.
func (c *Cloud) do(ctx context.Context, r call, out any) error {
	for try := 1; ; try++ {
		err := c.once(ctx, r, out)
		var e *Error
		again := errors.As(err, &e) && (e.Status == http.StatusTooManyRequests || e.Status >= 500)
		if again && !r.once && try < tries {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(try) * 20 * time.Millisecond):
			}
			continue
		}
		if err == nil && r.method != "" && !r.reads {
			service, action, _ := strings.Cut(r.op, ":")
			err = c.wrote(service, action)
		}
		return err
	}
}

func (c *Cloud) once(ctx context.Context, r call, out any) (err error) {
	defer must.Catch(&err)
	raw, isRaw := r.body.([]byte)
	if !isRaw && r.body != nil {
		raw = must.Get(json.Marshal(r.body))
	}
	address := c.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req := must.Get(http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(raw)))
	req.Header.Set("Authorization", "Bearer "+c.token)
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	resp := must.Get(http.DefaultClient.Do(req))
	defer resp.Body.Close()
	answer := must.Get(io.ReadAll(resp.Body))
	if resp.StatusCode >= http.StatusMultipleChoices {
		return refusal(r.op, resp.StatusCode, answer)
	}
	if out == nil || len(answer) == 0 {
		return nil
	}
	if strings.HasPrefix(r.op, "cos:") {
		return xml.Unmarshal(answer, out)
	}
	return json.Unmarshal(answer, out)
}

// refusal reads the forms in which the services write errors.
func refusal(op string, status int, answer []byte) *Error {
	e := &Error{Op: op, Status: status, Message: http.StatusText(status)}
	var said struct {
		XMLName xml.Name `json:"-"`
		Errors  []struct {
			Code    any    `json:"code"`
			Message string `json:"message"`
		} `json:"errors" xml:"-"`
		ErrorCode    string `json:"errorCode" xml:"Code"`
		ErrorMessage string `json:"errorMessage" xml:"Message"`
		RCCode       string `json:"error_code" xml:"-"`
		RCMessage    string `json:"message" xml:"-"`
	}
	if json.Unmarshal(answer, &said) != nil && xml.Unmarshal(answer, &said) != nil {
		return e // a proxy's page
	}
	code, message := said.ErrorCode+said.RCCode, said.ErrorMessage+said.RCMessage
	if len(said.Errors) > 0 {
		code, message = fmt.Sprint(said.Errors[0].Code), said.Errors[0].Message
	}
	e.Code = code
	if message != "" {
		e.Message = message
	}
	return e
}

// The catalogue's ids of services and plans that the installer knows.
const (
	storageService  = "dff97f5c-bc5e-4455-b470-411c3edbe49c"
	storagePlan     = "744bfc56-d12c-4866-88d5-dac9139e0e5d"
	internetService = "75874a60-cb12-11e7-948e-37ac098eb1b9"
	dnsService      = "b4ed8a30-936f-11e9-b289-1d079699cbe5"
)

// Spec is what to create.
type Spec struct {
	InfraID          string
	Name, BaseDomain string
	Internal         bool // its names are in DNS Services, and it has no public addresses
	ResourceGroup    string
	Zones            []string
	Masters, Workers int
	MasterType       string
	WorkerType       string
}

// Domain is the name below which the cluster's records are.
func (s Spec) Domain() string { return s.Name + "." + strings.TrimSuffix(s.BaseDomain, ".") }

// Group is the name of the resource group: the given one, or the one that the installer makes.
func (s Spec) Group() string {
	if s.ResourceGroup != "" {
		return s.ResourceGroup
	}
	return s.InfraID
}

// Build creates one cluster's resources, step by step. It remembers ids only within one process, and finds the rest by name.
type Build struct {
	*Cloud
	Spec

	group         string            // id of the resource group
	storage       reference         // the installer's own Object Storage
	vpc           reference         //
	image         string            //
	gateways      map[string]string // by zone
	subnets       map[string]string // by name
	groups        map[string]string // security groups by name
	public, local balancer
	bootstrapNIC  string
}

// NewBuild returns a Build that has created nothing yet.
func (c *Cloud) NewBuild(s Spec) *Build {
	return &Build{Cloud: c, Spec: s, gateways: map[string]string{}, subnets: map[string]string{}, groups: map[string]string{}}
}

// reference is what a service says about a resource, as far as the stand-in needs it.
type reference struct {
	ID     string `json:"id"`
	CRN    string `json:"crn"`
	GUID   string `json:"guid"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

type balancer struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Hostname string `json:"hostname"`
	Status   string `json:"provisioning_status"`
}

func id(of string) map[string]string      { return map[string]string{"id": of} }
func named(name string) map[string]string { return map[string]string{"name": name} }
