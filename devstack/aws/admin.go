package aws

import (
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/devstack/standin"
)

// admin serves the methods that are not part of AWS, without signatures. Beside those of package standin:
//
//	GET  /_standin/key                                        the administrator's key, for the stand-ins of what runs in a cluster
//	POST /_standin/lag    {"lag":{"create","delete","iam"}}   SetLag
//	POST /_standin/limit  {"code","value"}                    SetLimit
//	POST /_standin/region {"name","value"}                    SetRegion; 0 disables it
//	POST /_standin/note   {"id","name","body"}                Note
func (s *Server) admin() http.Handler {
	mux := standin.Handler[Resource](s, map[string]standin.Act{
		"lag": func(in standin.Input) error {
			var l Lag
			err := in.Lags(map[string]*time.Duration{"create": &l.Create, "delete": &l.Delete, "iam": &l.IAM})
			if err == nil {
				s.SetLag(l)
			}
			return err
		},
		"region": func(in standin.Input) error { return s.SetRegion(in.Name, in.Value != 0) },
		"limit":  func(in standin.Input) error { return s.SetLimit(in.Code, in.Value) },
		"note":   func(in standin.Input) error { return s.Note(in.ID, in.Name, in.Body) },
	})
	mux.HandleFunc("GET /_standin/key", standin.Show(func() any { return map[string]string{"id": s.cfg.AccessKey, "secret": s.cfg.SecretKey} }))
	return mux
}
