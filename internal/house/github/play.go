package github

import "net/http"

func (s *Server) playRoutes(mux *http.ServeMux) {}

func acting(r *http.Request) string { return "" }
