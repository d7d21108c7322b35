package profiles

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// folders are a catalogue's folders, in the order in which they are read.
var folders = []string{"profiles", "teams", "quotas", "policies", "identities", "people", "addons", "pools", "accounts", "prices"}

// Folders returns a catalogue's folders, in the order in which they are read.
func Folders() []string { return slices.Clone(folders) }

// mostBytes is the largest size of a file.
const mostBytes = 1 << 20

// listing is the content of a catalogue's folder.
type listing struct {
	paths  []string // files to read
	strays Problems // files that look as if they belonged to the catalogue but would not be read
}

// listFiles finds the files of a catalogue. It ignores names that start with a dot: Kubernetes and git-sync keep their own files there. A
// YAML file in the wrong place is a problem, because a limit that is silently not in force would be noticed too late.
func listFiles(files fs.FS) (listing, error) {
	var found listing
	top, err := fs.ReadDir(files, ".")
	if err != nil {
		return found, fmt.Errorf("list the catalogue: %w", err)
	}
	for _, folder := range folders {
		if !slices.ContainsFunc(top, func(d fs.DirEntry) bool { return d.Name() == folder }) {
			continue
		}
		if err := found.folder(files, folder); err != nil {
			return found, err
		}
	}
	for _, d := range top {
		switch name := d.Name(); {
		case strings.HasPrefix(name, ".") || slices.Contains(folders, name):
		case yamlFile(name):
			found.stray(name, "a file outside the directories", "a file in one of the directories "+strings.Join(folders, ", "))
		default:
			inside, _ := fs.ReadDir(files, name) // something that cannot be listed is not ours
			if slices.ContainsFunc(inside, func(d fs.DirEntry) bool { return yamlFile(d.Name()) }) {
				found.stray(name, "an unknown directory with YAML files", "the directories "+strings.Join(folders, ", "))
			}
		}
	}
	return found, nil
}

func (l *listing) folder(files fs.FS, folder string) error {
	inside, err := fs.ReadDir(files, folder)
	if err != nil {
		return fmt.Errorf("list the catalogue: %w", err)
	}
	for _, d := range inside {
		file := path.Join(folder, d.Name())
		if strings.HasPrefix(d.Name(), ".") {
			continue
		}
		info, err := fs.Stat(files, file) // the files of a ConfigMap are links
		if err != nil {
			return fmt.Errorf("list the catalogue: %w", err)
		}
		switch {
		case info.IsDir():
			l.stray(file, "a nested directory", "only files in "+folder)
		case path.Ext(d.Name()) == ".yaml":
			l.paths = append(l.paths, file)
		case yamlFile(d.Name()):
			l.stray(file, "a file named "+path.Ext(d.Name()), "a file named .yaml")
		}
	}
	return nil
}

func (l *listing) stray(file, got, accept string) {
	l.strays = append(l.strays, Problem{File: file, Got: got, Accept: accept})
}

func yamlFile(name string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(path.Ext(name)))
}

func readFile(files fs.FS, file string) ([]byte, error) {
	f, err := files.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read the catalogue: %w", err)
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the catalogue: %w", err)
	}
	if len(body) > mostBytes {
		return nil, fmt.Errorf("read the catalogue: %s is larger than %d bytes; split it", file, mostBytes)
	}
	return body, nil
}

// sum is a hash over files and their names.
type sum struct{ hash.Hash }

func newHash(found listing) sum {
	s := sum{sha256.New()}
	for _, stray := range found.strays {
		s.add(stray.File, nil)
	}
	return s
}

func (s sum) add(file string, body []byte) {
	fmt.Fprintf(s, "%d:%s%d:", len(file), file, len(body))
	s.Write(body)
}

// String returns the first 12 hex digits.
func (s sum) String() string { return hex.EncodeToString(s.Sum(nil))[:12] }

// Hash returns Catalogue.Hash of the folder's current content, whether it is valid or not.
func Hash(files fs.FS) (string, error) {
	found, err := listFiles(files)
	if err != nil {
		return "", err
	}
	s := newHash(found)
	for _, file := range found.paths {
		body, err := readFile(files, file)
		if err != nil {
			return "", err
		}
		s.add(file, body)
	}
	return s.String(), nil
}
