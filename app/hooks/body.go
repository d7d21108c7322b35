package hooks

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// errFull says that as many large bodies are being read as may be.
var errFull = errors.New("too many large bodies at once")

// read takes the whole body, at most size bytes; a body that says it is larger is refused unread. No memory is taken on a
// sender's word alone: a large body needs a place among the large ones first. done gives the place back.
func (d *door) read(w http.ResponseWriter, r *http.Request, size int64) (body []byte, done func(), err error) {
	done = func() {}
	if r.ContentLength > size {
		return nil, done, &http.MaxBytesError{Limit: size}
	}
	var buf bytes.Buffer
	source := http.MaxBytesReader(w, r.Body, size)
	if r.ContentLength <= smallBody {
		n, err := io.CopyN(&buf, source, smallBody)
		if errors.Is(err, io.EOF) {
			return buf.Bytes(), done, nil
		}
		if err != nil || n < smallBody {
			return nil, done, err
		}
	}
	select {
	case d.large <- struct{}{}:
		done = func() { <-d.large }
	default:
		return nil, done, errFull
	}
	buf.Grow(int(max(r.ContentLength, 0)) + bytes.MinRead)
	_, err = io.Copy(&buf, source)
	return buf.Bytes(), done, err
}
