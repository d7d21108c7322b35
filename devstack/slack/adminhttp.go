package slack

import (
	"encoding/json"
	"net/http"
)

// adminRoutes let other processes of a demo decide what goes wrong and what people do. They are not part of Slack, and take no credentials:
//
//	POST /_standin/fail       {"method","times","code","retry_after"}      the next calls of a method, such as chat.postMessage, get this answer
//	POST /_standin/write      {"who","channel","text","thread","subtype"}  a person writes; subtype is file_share, thread_broadcast or me_message
//	POST /_standin/change-id  {"channel"}                                  the channel gets another id
func (s *Server) adminRoutes(mux *http.ServeMux) {
	ownPages := http.NewCrossOriginProtection() // no other site's page may act through a browser
	type input struct {
		Method     string `json:"method"`
		Times      int    `json:"times"`
		Code       string `json:"code"`
		RetryAfter int    `json:"retry_after"`
		Who        string `json:"who"`
		Channel    string `json:"channel"`
		Text       string `json:"text"`
		Thread     string `json:"thread"`
		Subtype    string `json:"subtype"`
	}
	act := func(name string, do func(*http.Request, input) (any, error)) {
		mux.Handle("POST /_standin/"+name, ownPages.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var in input
			d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
			d.DisallowUnknownFields()
			err := d.Decode(&in)
			var out any
			if err == nil {
				out, err = do(r, in)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(out) // the caller disconnected
		})))
	}
	act("fail", func(_ *http.Request, in input) (any, error) {
		s.Break(in.Method, Fault{Times: in.Times, Code: in.Code, RetryAfter: in.RetryAfter})
		return object{}, nil
	})
	act("write", func(r *http.Request, in input) (any, error) {
		ts, err := s.Write(r.Context(), in.Who, Post{Channel: in.Channel, Text: in.Text, Thread: in.Thread, Subtype: in.Subtype})
		return object{"ts": ts}, err
	})
	act("change-id", func(r *http.Request, in input) (any, error) {
		is, err := s.ChangeID(r.Context(), in.Channel)
		return object{"channel": is}, err
	})
}
