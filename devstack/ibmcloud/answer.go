package ibmcloud

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// refusal is an error of a service.
type refusal struct {
	status int
	code   string
	text   string
	target string // name of the field or parameter, if VPC names one
}

func (r *refusal) Error() string { return r.code + ": " + r.text }

func refuse(status int, code, text string, args ...any) *refusal {
	return &refusal{status: status, code: code, text: fmt.Sprintf(text, args...)}
}

type object = map[string]any

// respond writes a call's answer in the form of its service.
func (c *call) respond(w http.ResponseWriter, out any, err error) {
	status := c.status
	if err != nil {
		r, ok := err.(*refusal)
		if !ok {
			r = refuse(http.StatusInternalServerError, "internal_error", "%s", err)
		}
		status, out = r.status, c.failure(r)
		if status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", strconv.Itoa(c.server.cfg.RetryAfter))
		}
		c.server.log.Debug("ibm cloud call refused", "call", c.op, "status", status, "code", r.code)
	}
	if out == nil {
		if status == 0 {
			status = http.StatusNoContent
		}
		w.WriteHeader(status)
		return
	}
	if status == 0 {
		status = http.StatusOK
	}
	if c.service == "cos" {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_ = xml.NewEncoder(w).Encode(out) // the client disconnected
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out) // the client disconnected
}

// failure is an error's body, which every service writes in its own way.
func (c *call) failure(r *refusal) any {
	switch c.service {
	case "iam":
		if len(c.op) > 4 && isPolicy(c.op) {
			return object{"trace": newUUID(), "errors": []object{{"code": r.code, "message": r.text}}, "status_code": r.status}
		}
		at := time.Now().UTC().Format("02.01.2006 15:04:05:000 UTC")
		return object{
			"context":   object{"requestId": newUUID(), "requestType": "incoming." + c.op, "startTime": at, "endTime": at, "elapsedTime": "1", "locale": "en_US"},
			"errorCode": r.code, "errorMessage": r.text,
		}
	case "rc":
		return object{"error_code": r.code, "message": r.text, "status_code": r.status, "transaction_id": "bss-" + hexes(16)}
	case "cis":
		code, err := strconv.Atoi(r.code)
		if err != nil {
			code = 10000
		}
		return object{"success": false, "errors": []object{{"code": code, "message": r.text}}, "messages": []string{}, "result": nil}
	case "cos":
		return struct {
			XMLName xml.Name `xml:"Error"`
			Code    string
			Message string
		}{Code: r.code, Message: r.text}
	}
	one := object{"code": r.code, "message": r.text, "more_info": "https://cloud.ibm.com/docs"}
	if r.target != "" {
		one["target"] = object{"name": r.target, "type": "parameter"}
	}
	return object{"errors": []object{one}, "trace": newUUID(), "status_code": r.status}
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// after returns one page of resources in order of creation: what follows the token, at most limit (0: all), and the next token. A token
// names the last resource shown, so that pages stay correct while resources come and go.
func after(found []*Resource, token string, limit int) ([]*Resource, string, error) {
	last, err := base64.RawURLEncoding.DecodeString(token)
	seq, numberErr := strconv.ParseInt(string(cmp.Or(string(last), "0")), 10, 64)
	if err != nil || numberErr != nil {
		return nil, "", refuse(http.StatusBadRequest, "invalid_start_token", "The page token is not valid.")
	}
	slices.SortFunc(found, func(a, b *Resource) int { return cmp.Compare(a.Seq, b.Seq) })
	found = slices.DeleteFunc(found, func(r *Resource) bool { return r.Seq <= seq })
	if limit <= 0 || len(found) <= limit {
		return found, "", nil
	}
	found = found[:limit]
	return found, base64.RawURLEncoding.EncodeToString(fmt.Append(nil, found[limit-1].Seq)), nil
}

// number reads a query parameter that has to be a number between 0 and most, and is usual if it is missing.
func (c *call) number(name string, usual, most int) (int, error) {
	text := c.query.Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, refuse(http.StatusBadRequest, "invalid_limit", "The parameter %s must be a number of at most %d.", name, most)
	}
	return n, nil
}

// length is the length of a page: as requested, otherwise the service's default, but not more than a test allows.
func (c *call) length(name string, usual, most int) (int, error) {
	n, err := c.number(name, usual, most)
	n, _ = c.server.Page(n)
	return n, err
}

// slicePage cuts a page out of a list by the number of items before it.
func slicePage[T any](all []T, offset, limit int) []T {
	from := min(offset, len(all))
	return all[from:min(from+limit, len(all))]
}
