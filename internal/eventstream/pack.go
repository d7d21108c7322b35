package eventstream

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"sync"

	"github.com/ocpctl/ocpctl/internal/httpbody"
)

// Packed has the stream's events compressed, if the reader accepts that. Each event is compressed by itself, which needs no memory
// between two events (a compressor takes most of a megabyte) and never sets one event's text beside another's.
func (s *Stream) Packed(r *http.Request) *Stream {
	s.w.Header().Add("Vary", "Accept-Encoding")
	if httpbody.AcceptsGzip(r) {
		s.pack = &packer{}
	}
	return s
}

var (
	gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff} // RFC 1952: deflate, no name, no time, unknown system
	lastBlock  = []byte{1, 0, 0, 0xff, 0xff}                   // RFC 1951: the final block, stored and empty
)

var compressors = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.DefaultCompression)
	if err != nil {
		panic(err) // the level is valid
	}
	return w
}}

// packer makes the one gzip member that a stream consists of. Every text ends on a byte, so that it can be read at once.
type packer struct{ sum, size uint32 }

func (p *packer) packText(text string) []byte {
	raw := []byte(text)
	p.sum, p.size = crc32.Update(p.sum, crc32.IEEETable, raw), p.size+uint32(len(raw))
	w, _ := compressors.Get().(*flate.Writer)
	defer compressors.Put(w)
	var out bytes.Buffer
	w.Reset(&out)
	_, _ = w.Write(raw) // a buffer takes everything
	_ = w.Flush()
	return out.Bytes()
}

func (p *packer) packEnd() []byte {
	out := binary.LittleEndian.AppendUint32(bytes.Clone(lastBlock), p.sum)
	return binary.LittleEndian.AppendUint32(out, p.size)
}
