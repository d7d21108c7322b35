package ibmcloud

import (
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/devstack/standin"
)

// admin serves the methods that are not part of IBM Cloud, without tokens. Beside those of package standin:
//
//	GET  /_standin/journal                                      Journal
//	GET  /_standin/token?account=ID                             Token
//	POST /_standin/lag     {"lag":{"groups","create","delete"}} SetLag
//	POST /_standin/limit   {"name","value"}                     SetLimit
//	POST /_standin/fail    {"call","times","status","body"}     Fail
//	POST /_standin/expire  {}                                   ExpireTokens
//	POST /_standin/note    {"id","name","body"}                 Note
func (s *Server) admin() http.Handler {
	mux := standin.Handler[Resource](s, map[string]standin.Act{
		"lag": func(in standin.Input) error {
			var l Lag
			err := in.Lags(map[string]*time.Duration{"groups": &l.Groups, "create": &l.Create, "delete": &l.Delete})
			if err == nil {
				s.SetLag(l)
			}
			return err
		},
		"limit":  func(in standin.Input) error { return s.SetLimit(in.Name, in.Value) },
		"fail":   func(in standin.Input) error { s.Fail(in.Call, in.Times, in.Status, in.Body); return nil },
		"expire": func(standin.Input) error { s.ExpireTokens(); return nil },
		"note":   func(in standin.Input) error { return s.Note(in.ID, in.Name, in.Body) },
	})
	mux.HandleFunc("GET /_standin/journal", standin.Show(func() any { return s.Journal() }))
	mux.HandleFunc("GET /_standin/token", func(w http.ResponseWriter, r *http.Request) {
		token, err := s.Token(r.URL.Query().Get("account"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		standin.Show(func() any { return token })(w, r)
	})
	return mux
}
