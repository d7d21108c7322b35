package httpbody

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
)

// File is a body that stays the same while the program runs. It is compressed once.
type File struct {
	Hash string // of the content, for addresses that may be kept for ever

	contentType    string
	plain, zip     []byte
	plainTag, zTag string
}

// NewFile returns a file.
func NewFile(contentType string, content []byte) *File {
	sum := sha256.Sum256(content)
	f := &File{Hash: hex.EncodeToString(sum[:8]), contentType: contentType, plain: content}
	f.plainTag, f.zTag = `"`+f.Hash+`"`, `"`+f.Hash+`-gzip"` // a tag names bytes, so each coding has its own
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is valid
	}
	_, _ = zip.Write(content) // a buffer takes everything
	_ = zip.Close()
	if f.zip = out.Bytes(); len(f.zip) >= len(content) {
		f.zip = nil
	}
	return f
}

// Serve answers with the file, or that the reader's copy is still good.
func (f *File) Serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Add("Vary", "Accept-Encoding")
	body, tag := f.plain, f.plainTag
	if f.zip != nil && AcceptsGzip(r) {
		body, tag = f.zip, f.zTag
	}
	h.Set("ETag", tag)
	if isKnown(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if tag == f.zTag {
		h.Set("Content-Encoding", "gzip")
	}
	_, _ = w.Write(body) // the reader disconnected and will retry
}

// isKnown reports whether If-None-Match names the tag.
func isKnown(header, tag string) bool {
	return slices.ContainsFunc(strings.Split(header, ","), func(one string) bool {
		one = strings.TrimSpace(one)
		return one == "*" || strings.TrimPrefix(one, "W/") == tag
	})
}
