package ibmcloud

import (
	"encoding/json"
	"net/http"
	"time"
)

// adminInput is the input of the administration API; each call uses the fields that it needs.
type adminInput struct {
	Call     string    `json:"call"`
	Times    int       `json:"times"`
	Code     string    `json:"code"`
	Status   int       `json:"status"`
	Body     string    `json:"body"`
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Account  string    `json:"account"`
	Delay    string    `json:"delay"` // a Go duration
	Value    int       `json:"value"`
	First    int       `json:"first"`
	Every    int       `json:"every"`
	Lag      lagInput  `json:"lag"`
	Resource *Resource `json:"resource"`
}

// lagInput is a Lag as Go durations; empty: none.
type lagInput struct{ Groups, Create, Delete string }

func (in lagInput) lag() (out Lag, err error) {
	for text, d := range map[*string]*time.Duration{&in.Groups: &out.Groups, &in.Create: &out.Create, &in.Delete: &out.Delete} {
		if *text == "" {
			continue
		}
		if *d, err = time.ParseDuration(*text); err != nil {
			return Lag{}, err
		}
	}
	return out, nil
}

// admin serves the methods that are not part of IBM Cloud, without tokens, for other processes of a demo or a test:
//
//	GET  /_standin/resources?match=TEXT   Resources
//	GET  /_standin/all                    All
//	GET  /_standin/faults                 Faults
//	GET  /_standin/calls                  Calls
//	GET  /_standin/journal                Journal
//	GET  /_standin/meter                  Meter
//	POST /_standin/refuse  {"call","times","code"}           /_standin/lift    {"call"}
//	POST /_standin/fail    {"call","times","status","body"}  /_standin/pages   {"value"}
//	POST /_standin/delay   {"call","delay"}                  /_standin/account {"account"}
//	POST /_standin/pin     {"id"}    /_standin/unpin  {"id"}    /_standin/free {"id"}
//	POST /_standin/throttle {"call","first","every"}         /_standin/expire  {}
//	POST /_standin/lag     {"lag":{"groups","create","delete"}}
//	POST /_standin/limit   {"name","value"}                  SetLimit
//	POST /_standin/note    {"id","name","body"}              Note
//	POST /_standin/plant   {"resource"}                      returns the planted resource
//	POST /_standin/token   {"account"}                       Token
func (s *Server) admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_standin/resources", func(w http.ResponseWriter, r *http.Request) {
		adminAnswer(w, s.Resources(r.URL.Query().Get("match")))
	})
	mux.HandleFunc("GET /_standin/all", func(w http.ResponseWriter, _ *http.Request) { adminAnswer(w, s.All()) })
	mux.HandleFunc("GET /_standin/faults", func(w http.ResponseWriter, _ *http.Request) { adminAnswer(w, s.Faults()) })
	mux.HandleFunc("GET /_standin/calls", func(w http.ResponseWriter, _ *http.Request) { adminAnswer(w, s.Calls()) })
	mux.HandleFunc("GET /_standin/journal", func(w http.ResponseWriter, _ *http.Request) { adminAnswer(w, s.Journal()) })
	mux.HandleFunc("GET /_standin/meter", func(w http.ResponseWriter, _ *http.Request) { adminAnswer(w, s.Meter()) })
	for name, do := range s.adminCalls() {
		mux.HandleFunc("POST /_standin/"+name, func(w http.ResponseWriter, r *http.Request) {
			var in adminInput
			if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			out, err := do(in)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			adminAnswer(w, out)
		})
	}
	return mux
}

func (s *Server) adminCalls() map[string]func(adminInput) (any, error) {
	done := struct{}{}
	return map[string]func(adminInput) (any, error){
		"refuse": func(in adminInput) (any, error) { s.Refuse(in.Call, in.Times, in.Code); return done, nil },
		"fail":   func(in adminInput) (any, error) { s.Fail(in.Call, in.Times, in.Status, in.Body); return done, nil },
		"lift":   func(in adminInput) (any, error) { s.Lift(in.Call); return done, nil },
		"delay": func(in adminInput) (any, error) {
			d, err := time.ParseDuration(in.Delay)
			if err == nil {
				s.Delay(in.Call, d)
			}
			return done, err
		},
		"throttle": func(in adminInput) (any, error) { s.Throttle(in.Call, in.First, in.Every); return done, nil },
		"pages":    func(in adminInput) (any, error) { s.Pages(in.Value); return done, nil },
		"expire":   func(adminInput) (any, error) { s.ExpireTokens(); return done, nil },
		"lag": func(in adminInput) (any, error) {
			lag, err := in.Lag.lag()
			if err == nil {
				s.SetLag(lag)
			}
			return done, err
		},
		"limit":   func(in adminInput) (any, error) { return done, s.SetLimit(in.Name, in.Value) },
		"account": func(in adminInput) (any, error) { return done, s.SetAccount(in.Account) },
		"note":    func(in adminInput) (any, error) { return done, s.Note(in.ID, in.Name, in.Body) },
		"token":   func(in adminInput) (any, error) { return s.Token(in.Account) },
		"pin":     func(in adminInput) (any, error) { return done, s.Pin(in.ID) },
		"unpin":   func(in adminInput) (any, error) { return done, s.Unpin(in.ID) },
		"free":    func(in adminInput) (any, error) { return done, s.Free(in.ID) },
		"plant": func(in adminInput) (any, error) {
			if in.Resource == nil {
				in.Resource = &Resource{}
			}
			return s.Plant(*in.Resource)
		},
	}
}

func adminAnswer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client disconnected
}
