package aws

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// protocol is how one service reads calls and formats responses.
type protocol struct {
	read     func(*call, *http.Request) *Fault
	answer   func(http.ResponseWriter, *call, []node, string)
	refuse   func(http.ResponseWriter, *Fault, string)
	handlers map[string]handler
}

// elbClassic is the older of the two APIs that sign as elasticloadbalancing; only the form's Version tells them apart.
const elbClassic = "elasticloadbalancing 2012-06-01"

func protocolOf(service string, body []byte) (protocol, bool) {
	if form, err := url.ParseQuery(string(body)); service == "elasticloadbalancing" && err == nil && form.Get("Version") == "2012-06-01" {
		service = elbClassic
	}
	p, known := protocols[service]
	return p, known
}

// protocols are the implemented services, by the name in a signature's scope.
var protocols = map[string]protocol{
	"sts":                  queryProtocol("https://sts.amazonaws.com/doc/2011-06-15/", stsCalls),
	"ec2":                  ec2Protocol(ec2Calls),
	"elasticloadbalancing": queryProtocol("http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/", elbCalls),
	elbClassic:             queryProtocol("http://elasticloadbalancing.amazonaws.com/doc/2012-06-01/", classicCalls),
	"iam":                  queryProtocol("https://iam.amazonaws.com/doc/2010-05-08/", iamCalls),
	"route53":              restProtocol(route53Namespace, route53Routes, route53Calls),
	"tagging":              jsonProtocol("ResourceGroupsTaggingAPI_20170126", taggingCalls),
	"servicequotas":        jsonProtocol("ServiceQuotasV20190624", quotaCalls),
	"s3":                   s3Protocol(),
	"cloudfront":           cloudFrontProtocol(),
	"organizations":        jsonProtocol("AWSOrganizationsV20161128", organizationCalls),
	"cloudformation":       cloudFormation,
	"autoscaling":          autoScaling,
	"sqs":                  queues,
	"eks":                  kubernetes,
	"elasticfilesystem":    fileSystems,
}

// Operations returns the operations that the stand-in knows, by service.
func Operations() map[string][]string {
	all := map[string][]string{}
	for service, p := range protocols {
		all[service] = slices.Sorted(maps.Keys(p.handlers))
	}
	return all
}

// speaksJSON are the services with JSON errors.
var speaksJSON = map[string]bool{"tagging": true, "servicequotas": true, "organizations": true, "eks": true, "elasticfilesystem": true}

const (
	ec2Namespace     = "http://ec2.amazonaws.com/doc/2016-11-15/"
	route53Namespace = "https://route53.amazonaws.com/doc/2013-04-01/"
)

// enabled reports whether a regional service exists in the requested region. The global ones accept every region: with a custom
// endpoint the SDK signs them with the client's own.
func (s *Server) enabled(c *call) bool {
	if global(c.service) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	enabled, _ := s.regions(s.world)
	return slices.Contains(enabled, c.region)
}

func form(handlers map[string]handler, unknown string) func(*call, *http.Request) *Fault {
	return func(c *call, r *http.Request) *Fault {
		values, err := url.ParseQuery(string(c.body))
		if err != nil {
			return fault("MalformedQueryString", "%s", err)
		}
		for k, v := range r.URL.Query() {
			values[k] = append(values[k], v...)
		}
		c.params = params(values)
		c.action = c.params.get("Action")
		if handlers[c.action] == nil {
			return fault(unknown, "The action %s is not valid for this web service.", c.action)
		}
		return nil
	}
}

func ec2Protocol(handlers map[string]handler) protocol {
	return protocol{
		handlers: handlers,
		read:     form(handlers, "InvalidAction"),
		answer: func(w http.ResponseWriter, c *call, nodes []node, id string) {
			root := group(c.action+"Response", append([]node{el("requestId", id)}, nodes...)...)
			send(w, http.StatusOK, "text/xml;charset=UTF-8", document(root, ec2Namespace))
		},
		refuse: func(w http.ResponseWriter, f *Fault, id string) {
			root := group("Response", group("Errors", group("Error", el("Code", f.Code), el("Message", f.Message))), el("RequestID", id))
			send(w, f.status(), "text/xml;charset=UTF-8", document(root, ec2Namespace))
		},
	}
}

func queryProtocol(namespace string, handlers map[string]handler) protocol {
	return protocol{
		handlers: handlers,
		read:     form(handlers, "InvalidAction"),
		answer: func(w http.ResponseWriter, c *call, nodes []node, id string) {
			root := group(c.action+"Response", group(c.action+"Result", nodes...), group("ResponseMetadata", el("RequestId", id)))
			w.Header().Set("X-Amzn-Requestid", id)
			send(w, http.StatusOK, "text/xml", document(root, namespace))
		},
		refuse: refuseXML(namespace),
	}
}

func refuseXML(namespace string) func(http.ResponseWriter, *Fault, string) {
	return func(w http.ResponseWriter, f *Fault, id string) {
		root := group("ErrorResponse", group("Error", el("Type", "Sender"), el("Code", f.Code), el("Message", f.Message)), el("RequestId", id))
		if f.Code == "InvalidChangeBatch" {
			root = group("InvalidChangeBatch", group("Messages", el("Message", f.Message)), el("RequestId", id))
		}
		w.Header().Set("X-Amzn-Requestid", id)
		send(w, f.status(), "text/xml", document(root, namespace))
	}
}

func restProtocol(namespace string, routes []route, handlers map[string]handler) protocol {
	return protocol{
		handlers: handlers,
		read: func(c *call, r *http.Request) *Fault {
			c.params = params(r.URL.Query())
			for _, rt := range routes {
				if caught, ok := rt.match(r.Method, r.URL.Path); ok {
					c.action, c.path = rt.action, caught
					return nil
				}
			}
			c.action = r.Method + " " + r.URL.Path
			return fault("UnknownOperationException", "no operation answers %s", c.action)
		},
		answer: func(w http.ResponseWriter, c *call, nodes []node, id string) {
			w.Header().Set("X-Amzn-Requestid", id)
			if c.location != "" {
				w.Header().Set("Location", c.location)
			}
			send(w, max(c.status, http.StatusOK), "text/xml", document(group(c.action+"Response", nodes...), namespace))
		},
		refuse: refuseXML(namespace),
	}
}

// route is one REST call: "*" in the pattern matches a path element.
type route struct {
	method, pattern, action string
}

func (rt route) match(method, path string) ([]string, bool) {
	want, got := strings.Split(rt.pattern, "/"), strings.Split(strings.Trim(path, "/"), "/")
	if method != rt.method || len(want) != len(got) {
		return nil, false
	}
	var caught []string
	for i := range want {
		if want[i] == "*" {
			caught = append(caught, got[i])
		} else if want[i] != got[i] {
			return nil, false
		}
	}
	return caught, true
}

func jsonProtocol(target string, handlers map[string]handler) protocol {
	return protocol{
		handlers: handlers,
		read: func(c *call, r *http.Request) *Fault {
			c.action = strings.TrimPrefix(r.Header.Get("X-Amz-Target"), target+".")
			if handlers[c.action] == nil {
				return fault("UnknownOperationException", "no operation is called %s", c.action)
			}
			return nil
		},
		answer: func(w http.ResponseWriter, c *call, _ []node, id string) {
			sendJSON(w, http.StatusOK, c.json, id)
		},
		refuse: func(w http.ResponseWriter, f *Fault, id string) {
			w.Header().Set("X-Amzn-Errortype", f.Code)
			sendJSON(w, f.status(), map[string]string{"__type": f.Code, "message": f.Message}, id)
		},
	}
}

// decode parses the body of a JSON call.
func (c *call) decode(into any) error {
	if err := json.Unmarshal(c.body, into); err != nil {
		return fault("SerializationException", "%s", err)
	}
	return nil
}

func sendJSON(w http.ResponseWriter, status int, v any, id string) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"__type":"InternalFailure"}`)
	}
	w.Header().Set("X-Amzn-Requestid", id)
	send(w, status, "application/x-amz-json-1.1", body)
}

func send(w http.ResponseWriter, status int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client disconnected
}
