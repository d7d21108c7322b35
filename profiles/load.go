package profiles

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/price/list"
)

//go:embed catalogue/*/*.yaml
var embedded embed.FS

// EmbeddedFiles returns the catalogue folder that is built into the program.
func EmbeddedFiles() fs.FS {
	files, err := fs.Sub(embedded, "catalogue")
	if err != nil {
		panic(err) // the folder is embedded above, so this cannot fail
	}
	return files
}

// Embedded returns the catalogue that is built into the program.
func Embedded() (Catalogue, error) { return Load(EmbeddedFiles()) }

// Load reads a catalogue's folder: profiles, and optionally teams, quotas, policies, identities, people, add-ons, pools and accounts, each a
// folder of *.yaml files. All problems with their content come back at once, as Problems, and then there is no catalogue. Rules are read but
// not compiled; package policy/rules does that.
func Load(files fs.FS) (Catalogue, error) {
	c, problems, err := Read(files)
	if err != nil {
		return Catalogue{}, err
	}
	if len(problems) > 0 {
		return Catalogue{}, problems
	}
	return c, nil
}

// Read is Load for callers with more checks: with the problems it returns the objects that could be read without one. The error says
// that files could not be read at all. gitHub are issuers of GitHub Actions whose addresses do not show that.
func Read(files fs.FS, gitHub ...string) (Catalogue, Problems, error) {
	found, err := listFiles(files)
	if err != nil {
		return Catalogue{}, nil, err
	}
	l := loader{problems: found.strays, gitHub: gitHub, texts: map[string]string{}}
	sum := newHash(found)
	for _, file := range found.paths {
		body, err := readFile(files, file)
		if err != nil {
			return Catalogue{}, nil, err
		}
		sum.add(file, body)
		l.texts[file] = string(body)
		l.read(file, body)
	}
	if len(l.profiles) == 0 {
		l.problems = append(l.problems, Problem{File: "profiles", Got: "no *.yaml file", Accept: "one or more profiles, each in a file profiles/<name>.yaml"})
	}
	l.addEmbeddedPrices()
	l.agree()
	c := l.catalogue()
	c.Hash, c.files = sum.String(), l.texts
	return c, l.all(), nil
}

// entry is one object of a catalogue and its position.
type entry[T any] struct {
	value T
	from  *reader
	at    string // path in its file; empty: the file is the object
}

// sound reports that the object has no problem.
func (e entry[T]) sound() bool {
	if e.at == "" {
		return len(e.from.problems) == 0
	}
	return !e.from.wrong(e.at)
}

// path returns the path of one of the object's fields.
func (e entry[T]) path(field string) string { return join(e.at, field) }

// loader holds everything that was read until it is compared and reported.
type loader struct {
	readers  []*reader
	problems Problems          // that belong to no file
	gitHub   []string          // see Read
	texts    map[string]string // content of the files by path

	profiles   []entry[Profile]
	teams      []entry[Team]
	quotas     []entry[Quota]
	policies   []entry[Policy]
	identities []entry[Identity]
	people     []entry[Person]
	addons     []entry[Addon]
	pools      []entry[Pool]
	accounts   []entry[Account]
	prices     []entry[list.List]
}

// read reads one file according to its folder.
func (l *loader) read(file string, body []byte) {
	r := &reader{file: file, lines: map[string]int{}, gitHub: l.gitHub}
	l.readers = append(l.readers, r)
	switch path.Dir(file) {
	case "profiles":
		l.profiles = append(l.profiles, entry[Profile]{readProfile(r, body), r, ""})
	case "teams":
		l.teams = append(l.teams, entry[Team]{readTeam(r, body), r, ""})
	case "policies":
		l.policies = append(l.policies, entry[Policy]{readPolicy(r, body), r, ""})
	case "addons":
		l.addons = append(l.addons, entry[Addon]{readAddon(r, body), r, ""})
	case "pools":
		l.pools = append(l.pools, entry[Pool]{readPool(r, body), r, ""})
	case "accounts":
		l.accounts = append(l.accounts, entry[Account]{readAccount(r, body), r, ""})
	case "prices":
		l.prices = append(l.prices, entry[list.List]{readPrices(r, body), r, ""})
	case "quotas":
		l.quotas = append(l.quotas, readList(r, body, "quotas", "a quota", quotaFields)...)
	case "identities":
		l.identities = append(l.identities, readList(r, body, "identities", "an identity", identityFields)...)
	case "people":
		l.people = append(l.people, readList(r, body, "people", "a person", personFields)...)
	}
}

// readList reads a file that holds a list under one key; what is the text for one entry.
func readList[T any](r *reader, body []byte, key, what string, fields func(*reader, *T) []field) []entry[T] {
	var all []entry[T]
	if doc := r.document(body, "mapping with "+key); doc != nil {
		r.object(doc, "", r.objects(key, what, func(at string) []field {
			all = append(all, entry[T]{from: r, at: at})
			return fields(r, &all[len(all)-1].value)
		}))
	}
	return all
}

// catalogue returns all objects without problems, ordered by name.
func (l *loader) catalogue() Catalogue {
	places := map[Object]Place{}
	return Catalogue{
		profiles:   sound(places, "profiles", l.profiles, func(p Profile) string { return p.Name }),
		Teams:      sound(places, "teams", l.teams, func(t Team) string { return t.Name }),
		Quotas:     sound(places, "quotas", l.quotas, func(q Quota) string { return q.Name }),
		Policies:   sound(places, "policies", l.policies, func(p Policy) string { return p.Name }),
		Identities: sound(places, "identities", l.identities, func(i Identity) string { return i.Name }),
		People:     sound(places, "people", l.people, func(p Person) string { return p.Name }),
		Addons:     sound(places, "addons", l.addons, func(a Addon) string { return a.Name }),
		Pools:      sound(places, "pools", l.pools, func(p Pool) string { return p.Name }),
		Accounts:   sound(places, "accounts", l.accounts, func(a Account) string { return a.Name }),
		Prices:     sound(places, "prices", l.prices, func(p list.List) string { return p.Cloud }),
		places:     places,
	}
}

// sound returns the objects of a folder without problems, ordered by name, and records their places.
func sound[T any](places map[Object]Place, folder string, all []entry[T], name func(T) string) []T {
	addPlaces(places, folder, all, name)
	var out []T
	for _, e := range all {
		if e.sound() {
			out = append(out, e.value)
		}
	}
	slices.SortFunc(out, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
	return out
}

// all returns the problems of every file, in the order of files and lines.
func (l *loader) all() Problems {
	all := l.problems
	for _, r := range l.readers {
		all = append(all, r.problems...)
	}
	return all.Sorted()
}

// checkName checks that an object in a file of its own has the file's name, so that names are unique.
func checkName(r *reader, name string) {
	if file := strings.TrimSuffix(path.Base(r.file), ".yaml"); r.good("name") && name != file {
		r.failAt("name", fmt.Sprintf("%q", name), "the file's own name, "+file)
	}
}
