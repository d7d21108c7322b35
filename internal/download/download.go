// Package download answers an HTTP request with a file that is made while it is sent. It must never present a file that broke off
// as a whole one.
package download

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// slowest is how long a reader may take nothing before it counts as gone.
const slowest = 30 * time.Second

// Send answers with what send writes, as a file of this name. Headers go out with the first byte: begun says that there was one, and
// that an error can only be shown by breaking the connection (panic with http.ErrAbortHandler).
func Send(w http.ResponseWriter, name, contentType string, send func(io.Writer) error) (begun bool, err error) {
	out := &writer{w: w, ctrl: http.NewResponseController(w), name: name, contentType: contentType}
	err = send(out)
	return out.begun, err
}

type writer struct {
	w                 http.ResponseWriter
	ctrl              *http.ResponseController
	name, contentType string
	begun             bool
}

func (d *writer) Write(part []byte) (int, error) {
	if !d.begun {
		d.begun = true
		h := d.w.Header()
		h.Set("Content-Type", d.contentType)
		h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", d.name))
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
	}
	_ = d.ctrl.SetWriteDeadline(time.Now().Add(slowest)) // a recorder in a test has none
	return d.w.Write(part)
}
