package profiles

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
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
	var p Profile
	if doc := r.document(body, "profile"); doc != nil {
		r.object(doc, "", profileFields(r, &p)...)
		compare(r, p)
	}
	return p, r.sorted()
}
