package profiles

import (
	"cmp"
	"maps"
)

// Object names one object of a catalogue: its folder and its own name, such as teams and shop.
type Object struct{ Folder, Name string }

// Place is where an object begins in the catalogue's files.
type Place struct {
	File string // relative to the catalogue's folder; empty: it is not in a file of this catalogue
	Line int
}

// PlaceOf returns where an object of a folder begins.
func (c Catalogue) PlaceOf(folder, name string) Place { return c.places[Object{folder, name}] }

// addPlaces records where the objects of a folder begin. A whole file begins at its first named field.
func addPlaces[T any](into map[Object]Place, folder string, all []entry[T], name func(T) string) {
	for _, e := range all {
		if e.from.embedded {
			continue
		}
		into[Object{folder, name(e.value)}] = Place{e.from.file, cmp.Or(e.from.lines[e.at], e.from.lines["name"], 1)}
	}
}

// Files returns the content of the catalogue's files by their paths.
func (c Catalogue) Files() map[string]string { return maps.Clone(c.files) }
