package profiles

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed catalogue/*.yaml
var embedded embed.FS

// Embedded is the catalogue the program was built with.
func Embedded() (Catalogue, error) {
	files, err := fs.Sub(embedded, "catalogue")
	if err != nil {
		return Catalogue{}, fmt.Errorf("open the embedded catalogue: %w", err)
	}
	return Load(files)
}

// Load reads every *.yaml file of the folder. What is wrong with their content comes back as Problems, all at once;
// a catalogue with a problem is no catalogue.
func Load(files fs.FS) (Catalogue, error) {
	paths, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return Catalogue{}, fmt.Errorf("list the profiles: %w", err)
	}
	if len(paths) == 0 {
		return Catalogue{}, errors.New("load profiles: no *.yaml file found")
	}
	var c Catalogue
	var problems Problems
	for _, path := range paths {
		body, err := fs.ReadFile(files, path)
		if err != nil {
			return Catalogue{}, fmt.Errorf("read profile %s: %w", path, err)
		}
		p, wrong := parse(path, body)
		problems = append(problems, wrong...)
		c.profiles = append(c.profiles, p)
	}
	if len(problems) > 0 {
		return Catalogue{}, problems
	}
	slices.SortFunc(c.profiles, func(a, b Profile) int { return cmp.Compare(a.Name, b.Name) })
	return c, nil
}

// parse reads one file. The profile is usable only when there are no problems.
func parse(path string, body []byte) (Profile, Problems) {
	r := &reader{file: path, lines: map[string]int{}}
	docs := yaml.NewDecoder(bytes.NewReader(body))
	var doc yaml.Node
	if err := docs.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return Profile{}, Problems{{File: path, Line: 1, Got: "an empty file", Accept: "one profile"}}
		}
		return Profile{}, Problems{{File: path, Line: 1, Got: strings.TrimPrefix(err.Error(), "yaml: "), Accept: "valid YAML"}}
	}
	if err := docs.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		r.fail(doc.Content[0].Line, "", "more than one document", "one profile per file")
	}
	var p Profile
	r.object(doc.Content[0], "", profileFields(r, &p)...)
	compare(r, p)
	return p, r.sorted()
}
