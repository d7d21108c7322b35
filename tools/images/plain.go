package main

import (
	"io/fs"
	"time"
)

// plain is a file system whose files have no time and one mode, so that an archive of it is the same wherever it was made.
type plain struct{ fs.FS }

func (p plain) Open(name string) (fs.File, error) {
	file, err := p.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return plainFile{file}, nil
}

func (p plain) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(p.FS, name)
	for i, entry := range entries {
		entries[i] = plainEntry{entry}
	}
	return entries, err
}

type plainFile struct{ fs.File }

func (f plainFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return plainInfo{info}, err
}

type plainEntry struct{ fs.DirEntry }

func (e plainEntry) Info() (fs.FileInfo, error) {
	info, err := e.DirEntry.Info()
	return plainInfo{info}, err
}

type plainInfo struct{ fs.FileInfo }

func (plainInfo) ModTime() time.Time { return time.Time{} }
func (plainInfo) Sys() any           { return nil } // owner and times are this machine's

func (i plainInfo) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir | 0o755
	}
	return 0o644
}
