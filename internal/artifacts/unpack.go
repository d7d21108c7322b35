package artifacts

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// archiveReader reads an archive once and checks everything against its manifest.
type archiveReader struct {
	manifest Manifest
	files    map[string]File
	folders  map[string]bool // folders with files of the manifest
	buffer   []byte
}

// readArchive hashes every file of the archive in raw and compares it with the manifest. With root, it also writes the files there; they may
// be used only after read returned nil.
func (r *archiveReader) readArchive(raw io.Reader, root *os.Root) error {
	sum := sha256.New()
	limited := io.LimitReader(raw, r.manifest.Size+1)
	counted := &counter{r: io.TeeReader(limited, sum)}
	if err := r.readEntries(counted, root); err != nil {
		return classifyReadError(counted, err)
	}
	if _, err := io.CopyBuffer(io.Discard, onlyReader{counted}, r.buffer); err != nil { // what the decoder left unread is hashed too
		return fmt.Errorf("read archive: %w", err)
	}
	if counted.n != r.manifest.Size || hex.EncodeToString(sum.Sum(nil)) != r.manifest.SHA256 {
		return fmt.Errorf("%w: the archive's checksum is not the manifest's", ErrCorrupt)
	}
	return nil
}

func (r *archiveReader) readEntries(raw *counter, root *os.Root) error {
	decoder, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(runtime.GOMAXPROCS(0)), zstd.WithDecoderMaxWindow(mostWindow))
	if err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	defer decoder.Close()
	archive := tar.NewReader(decoder)
	modes, seen := map[string]fs.FileMode{}, map[string]bool{}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = r.addFolder(header, modes)
		case tar.TypeReg:
			if seen[header.Name] {
				return fmt.Errorf("%w: file %q appears twice", ErrCorrupt, header.Name)
			}
			seen[header.Name] = true
			err = r.readFileEntry(archive, header, root)
		default:
			err = fmt.Errorf("%w: %q is neither a file nor a folder", ErrCorrupt, header.Name)
		}
		if err != nil {
			return err
		}
	}
	if len(seen) != len(r.files) {
		return fmt.Errorf("%w: the archive contains %d files, its manifest names %d", ErrCorrupt, len(seen), len(r.files))
	}
	return setModes(root, modes)
}

// classifyReadError classifies an error: a broken connection or a full disk says nothing about the object, anything else is a broken archive.
func classifyReadError(raw *counter, err error) error {
	var local localError
	switch {
	case errors.As(err, &local) || errors.Is(err, ErrCorrupt):
		return err
	case raw.err != nil && !errors.Is(raw.err, io.EOF):
		return fmt.Errorf("read archive: %w", raw.err)
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// localError is a problem with the local disk.
type localError struct{ error }

func (e localError) Unwrap() error { return e.error }

// localWriter marks its errors as local.
type localWriter struct{ io.Writer }

func (w localWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		err = localError{err}
	}
	return n, err
}

// addFolder records a folder's mode. Only folders with a file of the manifest are allowed, each once.
func (r *archiveReader) addFolder(header *tar.Header, modes map[string]fs.FileMode) error {
	name := strings.TrimSuffix(header.Name, "/")
	if !r.folders[name] {
		return fmt.Errorf("%w: folder %q contains no file of the manifest", ErrCorrupt, header.Name)
	}
	if _, twice := modes[name]; twice {
		return fmt.Errorf("%w: folder %q appears twice", ErrCorrupt, header.Name)
	}
	modes[name] = fs.FileMode(header.Mode).Perm() | 0o700 // its owner must be able to delete it
	return nil
}

func (r *archiveReader) readFileEntry(archive io.Reader, header *tar.Header, root *os.Root) error {
	want, ok := r.files[header.Name]
	if !ok || header.Size != want.Size {
		return fmt.Errorf("%w: file %q does not match the manifest", ErrCorrupt, header.Name)
	}
	sum := sha256.New()
	sink := io.Writer(sum)
	if root != nil {
		mode, err := strconv.ParseUint(want.Mode, 8, 32)
		if err != nil {
			return fmt.Errorf("%w: wrong mode of %q", ErrCorrupt, want.Path)
		}
		out, err := createFile(root, want.Path, fs.FileMode(mode).Perm())
		if err != nil {
			return localError{err}
		}
		defer out.Close()
		sink = io.MultiWriter(sum, localWriter{out})
	}
	if _, err := io.CopyBuffer(onlyWriter{sink}, archive, r.buffer); err != nil {
		return fmt.Errorf("read %q: %w", header.Name, err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != want.SHA256 {
		return fmt.Errorf("%w: wrong checksum of %q", ErrCorrupt, header.Name)
	}
	return nil
}

// createFile creates a new file with exactly this mode. The root refuses every path and link that leads outside.
func createFile(root *os.Root, name string, mode fs.FileMode) (*os.File, error) {
	if folder := path.Dir(name); folder != "." {
		if err := root.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("create folder %q: %w", folder, err)
		}
	}
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create file %q: %w", name, err)
	}
	if err := out.Chmod(mode); err != nil { // not at creation, because the umask would change it
		return nil, errors.Join(fmt.Errorf("set the mode of %q: %w", name, err), out.Close())
	}
	return out, nil
}

func setModes(root *os.Root, modes map[string]fs.FileMode) error {
	if root == nil {
		return nil
	}
	for name, mode := range modes {
		if err := root.Chmod(name, mode); err != nil {
			return localError{fmt.Errorf("set the mode of %q: %w", name, err)}
		}
	}
	return nil
}

// counter counts the bytes that were read and keeps the source's last error.
type counter struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil {
		c.err = err
	}
	return n, err
}

// onlyReader hides WriteTo, so that CopyBuffer uses the given buffer.
type onlyReader struct{ io.Reader }

// newArchiveReader prepares to read the archive that a manifest describes.
func newArchiveReader(raw []byte) (*archiveReader, error) {
	m, files, err := parseManifest(bytes.TrimSpace(raw))
	if err != nil {
		return nil, err
	}
	folders := map[string]bool{}
	for file := range files {
		for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
			folders[folder] = true
		}
	}
	return &archiveReader{manifest: m, files: files, folders: folders, buffer: make([]byte, 256<<10)}, nil
}
