package artifacts

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/klauspost/compress/zstd"
)

// packed is an archive on disk that is not uploaded yet.
type packed struct {
	file  *os.File // positioned at its beginning
	sum   []byte   // SHA-256 of the archive
	size  int64
	files []File
}

// discardFile deletes the archive from disk.
func (p packed) discardFile() { _, _ = p.file.Close(), os.Remove(p.file.Name()) }

// packArchive writes the allowed files of dir into a temporary archive. Compression runs on all cores in parallel with reading.
func (s *Store) packArchive(t Type, dir string) (packed, error) {
	names, folders, err := chooseFiles(t, dir)
	if err != nil {
		return packed{}, err
	}
	out, err := os.CreateTemp(s.cfg.TempDir, "ocpctl-archive-*") // 0600
	if err != nil {
		return packed{}, fmt.Errorf("create a temporary archive: %w", err)
	}
	p := packed{file: out}
	sum := sha256.New()
	if p.files, err = writeArchive(io.MultiWriter(out, sum), dir, names, folders); err == nil {
		p.size, err = out.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		err = checkLimits(p.files, p.size)
	}
	if err == nil {
		_, err = out.Seek(0, io.SeekStart)
	}
	if err != nil {
		p.discardFile()
		return packed{}, fmt.Errorf("pack %s: %w", dir, err)
	}
	p.sum = sum.Sum(nil)
	return p, nil
}

func writeArchive(w io.Writer, dir string, names, folders []string) ([]File, error) {
	compressed, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)), zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	for _, name := range folders {
		if err := addFolder(archive, dir, name); err != nil {
			return nil, errors.Join(err, compressed.Close())
		}
	}
	files := make([]File, 0, len(names))
	buffer := make([]byte, 256<<10)
	for _, name := range names {
		f, err := addFile(archive, dir, name, buffer)
		if err != nil {
			return nil, errors.Join(err, compressed.Close())
		}
		files = append(files, f)
	}
	return files, errors.Join(archive.Close(), compressed.Close())
}

func addFolder(archive *tar.Writer, dir, name string) error {
	info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	return archive.WriteHeader(&tar.Header{
		Typeflag: tar.TypeDir, Name: name + "/", Mode: int64(info.Mode().Perm()), ModTime: info.ModTime(),
	})
}

// addFile adds one file and hashes it. A file that grows meanwhile (the installer may be running) is cut at its initial size; one
// that shrinks is an error, so that the manifest always matches the archive.
func addFile(archive *tar.Writer, dir, name string, buffer []byte) (File, error) {
	in, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return File{}, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return File{}, err
	}
	if err := archive.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime(),
	}); err != nil {
		return File{}, err
	}
	sum := sha256.New()
	limited := io.LimitReader(in, info.Size())
	n, err := io.CopyBuffer(onlyWriter{io.MultiWriter(archive, sum)}, limited, buffer)
	if err == nil && n != info.Size() {
		err = fmt.Errorf("%s shrank while it was read", name)
	}
	return File{
		Path: name, Mode: fmt.Sprintf("%04o", info.Mode().Perm()), Size: n, SHA256: hex.EncodeToString(sum.Sum(nil)),
	}, err
}

// onlyWriter hides all other methods, so that CopyBuffer uses the given buffer.
type onlyWriter struct{ io.Writer }
