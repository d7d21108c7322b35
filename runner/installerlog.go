package runner

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ocpctl/ocpctl/runner/installer"
)

// packedLog is the beginning of the archive name of the installer's own log.
const packedLog = "installer-log-"

// packLog puts the installer's own log, redacted, into an archive beside the installer's bundles, so that it is stored with them.
// Errors are logged and fail nothing.
func (a *attempt) packLog() {
	err := a.writePackedLog(filepath.Join(a.dir, packedLog+a.cfg.Now().UTC().Format("20060102150405")+".tar.gz"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		a.noteLine("the installer's own log could not be packed: %v", err)
	}
}

func (a *attempt) writePackedLog(path string) (err error) {
	plain, err := a.redactLog()
	if err != nil {
		return err
	}
	defer func() {
		plain.Close()
		os.Remove(plain.Name()) // only the archive is needed
	}()
	return writeArchive(path, func(archive *tar.Writer) error { return addFile(archive, "openshift_install.log", plain) })
}

// writeArchive writes a .tar.gz completely or not at all.
func writeArchive(path string, fill func(*tar.Writer) error) (err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			os.Remove(path) // half an archive is useless
		}
	}()
	compressed := gzip.NewWriter(out)
	archive := tar.NewWriter(compressed)
	err = fill(archive)
	return errors.Join(err, archive.Close(), compressed.Close())
}

// addFile adds an open file under a name.
func addFile(archive *tar.Writer, name string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	err = archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: info.Size(), ModTime: info.ModTime()})
	if err != nil {
		return err
	}
	_, err = io.CopyN(archive, f, info.Size()) // what is appended meanwhile is left out
	return err
}

// redactLog returns a copy of the installer's own log without its secrets, opened at the beginning.
func (a *attempt) redactLog() (*os.File, error) {
	in, err := os.Open(filepath.Join(a.dir, installer.LogName))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, err := os.CreateTemp(a.dir, "redacted-*.log")
	if err != nil {
		return nil, err
	}
	buffer := bufio.NewWriter(out)
	lines := a.cfg.Redact.Lines(func(line string) { fmt.Fprintln(buffer, line) }) // Flush returns the first error
	_, err = io.Copy(lines, in)
	err = errors.Join(err, lines.Close(), buffer.Flush())
	if err == nil {
		_, err = out.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, out.Close(), os.Remove(out.Name()))
	}
	return out, nil
}
