package main

import (
	"archive/zip"
	"compress/flate"
	"io"
	"os"
	"path/filepath"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// pack writes programs into the archive that the installer's own build puts within it.
func pack(path string, programs ...string) (err error) {
	defer must.Catch(&err)
	file := must.Get(os.Create(path))
	defer file.Close()
	archive := zip.NewWriter(file)
	archive.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestSpeed) })
	for _, program := range programs {
		must.Do(addFile(archive, program))
	}
	return archive.Close()
}

func addFile(archive *zip.Writer, path string) (err error) {
	defer must.Catch(&err)
	from := must.Get(os.Open(path))
	defer from.Close()
	to := must.Get(archive.Create(filepath.Base(path)))
	_, err = io.Copy(to, from)
	return err
}
