package ibmcloud

import (
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
