// Package standin is what the stand-ins of clouds have in common: the world of resources (World), what a test may do with it (Control),
// and the administration API, for other processes of a demo or a test. The API is not part of any cloud, and takes no credentials:
//
//	GET  /_standin/resources?match=TEXT   Resources
//	GET  /_standin/all                    All
//	GET  /_standin/faults                 Faults
//	GET  /_standin/calls                  Calls
//	GET  /_standin/meter                  Meter
//	POST /_standin/refuse   {"call","times","code"}   /_standin/lift    {"call"}
//	POST /_standin/delay    {"call","delay"}          /_standin/account {"account"}
//	POST /_standin/throttle {"call","first","every"}  /_standin/pages   {"value"}
//	POST /_standin/pin      {"id"}    /_standin/unpin {"id"}    /_standin/free {"id"}
//	POST /_standin/protect  {"id","code"}             Protect, until unpin or free
//	POST /_standin/plant    {"resource"}              returns the planted resource
//	POST /_standin/note     {"id","name","body"}      /_standin/limit {"code" or "name","value"}
//	POST /_standin/lag      {"lag":{"create","delete", on AWS "iam", on IBM Cloud "groups"}}
//
// Each stand-in adds its own acts.
package standin

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/devstack/faults"
	"github.com/ocpctl/ocpctl/devstack/meter"
)

// Cloud is a stand-in, whose resources are of type R.
type Cloud[R any] interface {
	Resources(text string) []R
	All() []R
	Faults() map[string]string
	Calls() map[string]faults.Count
	Meter() []meter.Used

	Refuse(call string, times int, code string)
	Lift(call string)
	Delay(call string, d time.Duration)
	Throttle(call string, first, every int)
	Pages(most int)

	SetAccount(id string) error
	Pin(id string) error
	Protect(id, how string) error
	Unpin(id string) error
	Free(id string) error
	Plant(r R) (R, error)
	Note(id, key, value string) error

	SetLimit(name string, value int) error
	ReadLag(texts map[string]string) error
}

// Input is the input of an act, which uses the fields that it needs.
type Input struct {
	Call     string            `json:"call"`
	Times    int               `json:"times"`
	Code     string            `json:"code"`
	Status   int               `json:"status"`
	Body     string            `json:"body"`
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Account  string            `json:"account"`
	Delay    string            `json:"delay"` // a Go duration
	Value    int               `json:"value"`
	First    int               `json:"first"`
	Every    int               `json:"every"`
	Lag      map[string]string `json:"lag"` // Go durations; empty: none
	Resource json.RawMessage   `json:"resource"`
}

// Act does what a call of the administration API asks for.
type Act func(Input) error

// Handler serves the administration API with the acts that only one stand-in has, by their names.
func Handler[R any](c Cloud[R], own map[string]Act) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_standin/resources", func(w http.ResponseWriter, r *http.Request) { answer(w, c.Resources(r.URL.Query().Get("match"))) })
	mux.HandleFunc("GET /_standin/all", Show(func() any { return c.All() }))
	mux.HandleFunc("GET /_standin/faults", Show(func() any { return c.Faults() }))
	mux.HandleFunc("GET /_standin/calls", Show(func() any { return c.Calls() }))
	mux.HandleFunc("GET /_standin/meter", Show(func() any { return c.Meter() }))
	mux.HandleFunc("POST /_standin/plant", post(func(in Input) (any, error) {
		var r R
		if len(in.Resource) > 0 {
			if err := json.Unmarshal(in.Resource, &r); err != nil {
				return nil, err
			}
		}
		return c.Plant(r)
	}))
	acts := shared(c)
	maps.Copy(acts, own)
	for name, do := range acts {
		mux.HandleFunc("POST /_standin/"+name, post(func(in Input) (any, error) { return struct{}{}, do(in) }))
	}
	return mux
}

func shared[R any](c Cloud[R]) map[string]Act {
	return map[string]Act{
		"refuse": func(in Input) error { c.Refuse(in.Call, in.Times, in.Code); return nil },
		"lift":   func(in Input) error { c.Lift(in.Call); return nil },
		"delay": func(in Input) error {
			d, err := time.ParseDuration(in.Delay)
			if err == nil {
				c.Delay(in.Call, d)
			}
			return err
		},
		"throttle": func(in Input) error { c.Throttle(in.Call, in.First, in.Every); return nil },
		"pages":    func(in Input) error { c.Pages(in.Value); return nil },
		"account":  func(in Input) error { return c.SetAccount(in.Account) },
		"pin":      func(in Input) error { return c.Pin(in.ID) },
		"protect":  func(in Input) error { return c.Protect(in.ID, in.Code) },
		"unpin":    func(in Input) error { return c.Unpin(in.ID) },
		"free":     func(in Input) error { return c.Free(in.ID) },
		"note":     func(in Input) error { return c.Note(in.ID, in.Name, in.Body) },
		"limit":    func(in Input) error { return c.SetLimit(cmp.Or(in.Code, in.Name), in.Value) },
		"lag":      func(in Input) error { return c.ReadLag(in.Lag) },
	}
}

func post(do func(Input) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in Input
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in)
		var out any
		if err == nil {
			out, err = do(in)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, out)
	}
}

// Show answers with what a function returns.
func Show(look func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { answer(w, look()) }
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client disconnected
}
