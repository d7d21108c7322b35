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

// folders are those of a catalogue, in the order in which they are read.
var folders = []string{"profiles", "teams", "quotas", "policies", "identities", "people", "addons"}

// mostBytes is how large one file may be.
const mostBytes = 1 << 20

// listing is what lies in a catalogue's folder.
type listing struct {
	paths  []string // files to read
	strays Problems // files that look as if they should be read and would not be
}

// list finds the files of a catalogue. Whatever starts with a dot is passed over: Kubernetes and git-sync keep their own
// there. A limit that is not in force because its file is in the wrong place would be found out too late, so a YAML file
// that is not read is a problem.
func list(files fs.FS) (listing, error) {
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
			inside, _ := fs.ReadDir(files, name) // what cannot be listed is none of ours
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
		info, err := fs.Stat(files, file) // a ConfigMap's files are links
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

// String is the first 12 hex digits.
func (s sum) String() string { return hex.EncodeToString(s.Sum(nil))[:12] }

// Hash is Catalogue.Hash of what lies in the folder now, whether it is sound or not.
func Hash(files fs.FS) (string, error) {
	found, err := list(files)
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
