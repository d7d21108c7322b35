package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// systemLayer holds the directories for volumes and, without a base, what every program expects of a system. Directories for volumes
// are writable for every user, because OpenShift runs containers as a user that no image knows.
func (r *recipe) systemLayer(bare bool) (v1.Layer, error) {
	l := newLayer(r)
	l.dir("/tmp", fs.ModeSticky|0o777)
	for _, dir := range r.dirs {
		l.dir(dir, 0o777)
	}
	if bare {
		l.file("/etc/passwd", 0o644, []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n"))
		l.file("/etc/group", 0o644, []byte("root:x:0:\nnonroot:x:65532:\n"))
		l.file("/etc/nsswitch.conf", 0o644, []byte("hosts: files dns\n"))
		l.file("/etc/ssl/certs/ca-certificates.crt", 0o644, rootCertificates()) // where Go looks first
	}
	return l.close()
}

// programLayer holds the program and what was added to it.
func (r *recipe) programLayer() (v1.Layer, error) {
	l := newLayer(r)
	for _, to := range slices.Sorted(maps.Keys(r.files)) {
		l.tree(to, r.files[to])
	}
	return l.close()
}

// rootCertificates returns Mozilla's root certificates, as the Go project publishes them.
func rootCertificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil { // one with a constraint is trusted for a part only, which PEM cannot say
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return out.Bytes()
}

// layer is a layer in progress. The first error is returned by close.
type layer struct {
	r     *recipe
	raw   bytes.Buffer
	tar   *tar.Writer
	known map[string]bool
	err   error
}

func newLayer(r *recipe) *layer {
	l := &layer{r: r, known: map[string]bool{"/": true}}
	l.tar = tar.NewWriter(&l.raw)
	return l
}

func (l *layer) close() (v1.Layer, error) {
	if l.err == nil {
		l.err = l.tar.Close()
	}
	if l.err != nil {
		return nil, fmt.Errorf("make a layer: %w", l.err)
	}
	raw := l.raw.Bytes()
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil })
}

func (l *layer) header(h *tar.Header) {
	h.Name = strings.TrimPrefix(h.Name, "/")
	h.ModTime, h.Format = l.r.created, tar.FormatPAX
	if l.err == nil {
		l.err = l.tar.WriteHeader(h)
	}
}

// parents writes the directories above a path that this layer does not have yet.
func (l *layer) parents(name string) {
	if dir := path.Dir(name); !l.known[dir] {
		l.dir(dir, 0o755)
	}
}

func (l *layer) dir(name string, mode fs.FileMode) {
	if l.known[name] {
		return
	}
	l.parents(name)
	l.known[name] = true
	bits := int64(mode.Perm())
	if mode&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	l.header(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: bits})
}

func (l *layer) file(name string, mode fs.FileMode, content []byte) {
	l.parents(name)
	l.header(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(mode.Perm()), Size: int64(len(content))})
	if l.err == nil {
		_, l.err = l.tar.Write(content)
	}
}

// tree copies a file or a folder of this machine. Every program stays executable, and nothing is writable.
func (l *layer) tree(to, from string) {
	err := filepath.WalkDir(from, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		name := path.Join(to, filepath.ToSlash(below))
		info, err := os.Stat(file) // follows a link: an image must not point to this machine
		switch {
		case err != nil:
			return err
		case info.IsDir() && entry.IsDir():
			l.dir(name, 0o755)
		case info.Mode().IsRegular():
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			l.file(name, 0o444|info.Mode().Perm()&0o111, content)
		default:
			return fmt.Errorf("%s is neither a file nor a folder", file)
		}
		return l.err
	})
	if l.err == nil {
		l.err = err
	}
}
