// Package download answers an HTTP request with a file that is generated while it is sent. It must never make an interrupted file
// look complete.
package download

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// slowest is how long a reader may accept nothing before it counts as disconnected.
const slowest = 30 * time.Second

// Send answers with what send writes, as a file with this name. Headers are sent with the first byte: begun says that it was sent, so
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
	_ = d.ctrl.SetWriteDeadline(time.Now().Add(slowest)) // a test's recorder does not support it
	return d.w.Write(part)
}
