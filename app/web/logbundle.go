package web

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/ocpctl/ocpctl/internal/download"
	"github.com/ocpctl/ocpctl/policy"
)

// logBundle needs a POST for the same reason as kubeconfig. A large file may take longer than a page: each part has its own time
// limit, and it ends when the reader disconnects.
func (p *pages) logBundle(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	id := r.PathValue("id")
	attempt, err := strconv.Atoi(r.FormValue("attempt"))
	if err != nil {
		attempt = 0 // the newest
	}
	bundle, err := p.Credentials.LogBundle(r.Context(), who, id, attempt, originOf(r))
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	ctx := context.WithoutCancel(r.Context())
	begun, err := download.Send(w, bundle.Name, "application/gzip", func(out io.Writer) error { return bundle.Send(ctx, out) })
	switch {
	case err != nil && begun:
		p.Log.ErrorContext(r.Context(), "log bundle broken off", "cluster", id, "err", err)
		panic(http.ErrAbortHandler)
	case err != nil:
		p.showError(w, r, who, err)
	}
}
