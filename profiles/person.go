package profiles

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Person links the identities of one human being. Quotas, lists, reports and approvals count the person, whichever identity was used.
// A person gives no role: roles come only from Identity.
type Person struct {
	Name        string   // stable key, e.g. maya
	DisplayName string   // shown to people, and the value of the Owner tag
	Identities  []string // principal ids, e.g. github:maya, saml:maya@acme.example, oidc:<issuer>#<subject>
}

// ID refers to the person where a principal id may be used. No principal id begins with "person:".
func (p Person) ID() string { return "person:" + p.Name }

// IdentityKey returns the form in which two principal ids are compared. GitHub logins and SAML names ignore case; OIDC subjects, ARNs
// and Slack ids do not.
func IdentityKey(id string) string {
	if strings.HasPrefix(id, string(SourceGitHub)+":") || strings.HasPrefix(id, string(SourceSAML)+":") {
		return strings.ToLower(id)
	}
	return id
}

// PersonOf returns the person to whom the catalogue links the principal id.
func (c Catalogue) PersonOf(id string) (Person, bool) {
	key := IdentityKey(id)
	for _, p := range c.People {
		if slices.ContainsFunc(p.Identities, func(i string) bool { return IdentityKey(i) == key }) {
			return p, true
		}
	}
	return Person{}, false
}

// Spellings maps lowercase texts for an owner to the person they mean: the name, the display name and the identities, with and
// without their source. A text that could mean two people is left out.
func Spellings(people []Person) map[string]Person {
	found, twice := map[string]Person{}, map[string]bool{}
	add := func(text string, p Person) {
		key := strings.ToLower(text)
		if other, taken := found[key]; taken && other.Name != p.Name {
			twice[key] = true
		}
		found[key] = p
	}
	for _, p := range people {
		add(p.Name, p)
		add(p.DisplayName, p)
		add(p.ID(), p)
		for _, id := range p.Identities {
			add(id, p)
			source, subject, _ := strings.Cut(id, ":")
			if _, sub, found := strings.Cut(subject, "#"); found && source == string(SourceOIDC) {
				subject = sub
			}
			add(subject, p)
		}
	}
	maps.DeleteFunc(found, func(key string, _ Person) bool { return twice[key] })
	return found
}

const principalAccept = `a principal id: github:<login>, github:id/<number of the account>, saml:<name>, aws:arn:…, slack:<workspace>/<user>, oidc:<issuer>#<subject>, or email:<address> in lower case`

// ByEmail begins the identity of somebody in Slack whose e-mail address is confirmed there and trusted here, e.g. email:maya@example.com.
const ByEmail = "email:"

var emailForm = regexp.MustCompile(`^[^@\s*A-Z]+@[^@\s*A-Z]+\.[^@\s*A-Z]+$`)

// gitHubAccount begins the principal of an account on GitHub, whose number follows. The number never changes and is never given again; a
// login can become another account's. No login contains a slash.
const gitHubAccount = "github:id/"

var accountNumber = regexp.MustCompile(`^[1-9][0-9]{0,17}$`)

// GitHubPrincipal returns the principal id of an account on GitHub.
func GitHubPrincipal(account int64) string { return gitHubAccount + strconv.FormatInt(account, 10) }

// GitHubLogin returns the login of a principal id as people write it, for example in the catalogue: github:<login>. ok is false for other
// ids, and for those with an account's number.
func GitHubLogin(id string) (login string, ok bool) {
	login, ok = strings.CutPrefix(id, string(SourceGitHub)+":")
	return login, ok && login != "" && !strings.Contains(login, "/")
}

// GitHubLogins lists the logins that people and identities name, each once, in lower case.
func (c Catalogue) GitHubLogins() []string {
	var logins []string
	for _, p := range c.People {
		for _, id := range p.Identities {
			if login, ok := GitHubLogin(id); ok {
				logins = append(logins, strings.ToLower(login))
			}
		}
	}
	for _, i := range c.Identities {
		for _, login := range i.Match["login"] {
			if i.Source == SourceGitHub && !strings.Contains(login, "*") {
				logins = append(logins, strings.ToLower(login))
			}
		}
	}
	slices.Sort(logins)
	return slices.Compact(logins)
}

func principalForm(id string) bool {
	if address, ok := strings.CutPrefix(id, ByEmail); ok {
		return emailForm.MatchString(address)
	}
	source, subject, found := strings.Cut(id, ":")
	if !found || subject == "" || !sourceOf(source) || strings.ContainsAny(id, "*") {
		return false
	}
	if number, numbered := strings.CutPrefix(id, gitHubAccount); numbered {
		return accountNumber.MatchString(number)
	}
	if Source(source) == SourceOIDC {
		issuer, sub, ok := strings.Cut(subject, "#")
		return ok && sub != "" && (strings.HasPrefix(issuer, "https://") || strings.HasPrefix(issuer, "http://"))
	}
	return Source(source) != SourceAWS || strings.HasPrefix(subject, "arn:")
}

// IsDisplayName refuses what could look like an unlinked identity: those are shown with the source in parentheses at the end.
func IsDisplayName(s string) bool {
	return isFilled(s) && tagValue(s) && !strings.ContainsAny(s, "()@:#")
}

// personFields describes the fields of one person.
func personFields(r *reader, p *Person) []field {
	return []field{
		text("name", &p.Name, nameAccept, nameForm.MatchString),
		text("displayName", &p.DisplayName, "a valid tag value without ( ) @ : #", IsDisplayName),
		r.texts("identities", &p.Identities, principalAccept, principalForm),
	}
}

// agreePeople checks that no identity belongs to two people and that no two people have the same display name.
func (l *loader) agreePeople() {
	once(l.people, "people", func(p Person) string { return p.Name })
	claimed, shown := map[string]entry[Person]{}, map[string]entry[Person]{}
	for _, e := range l.people {
		for k, id := range e.value.Identities {
			at := fmt.Sprintf("%s[%d]", e.path("identities"), k)
			if other, taken := claimed[IdentityKey(id)]; taken && e.from.good(at) {
				e.from.failAt(at, fmt.Sprintf("%q of %s, which %s (%s) also has", id, e.value.Name, other.value.Name, other.where("identities")),
					"each identity for only one person")
				continue
			}
			claimed[IdentityKey(id)] = e
		}
		at := e.path("displayName")
		if !e.from.good(at) {
			continue
		}
		for _, name := range []string{strings.ToLower(e.value.DisplayName), e.value.Name} {
			if other, taken := shown[name]; taken && other.value.Name != e.value.Name {
				e.from.failAt(at, fmt.Sprintf("%q of %s, which could be confused with %s (%s)", e.value.DisplayName, e.value.Name, other.value.Name, other.where("displayName")),
					"a display name that only one person has")
				break
			}
			shown[name] = e
		}
	}
}

// where returns the file and line of one of the object's fields.
func (e entry[T]) where(field string) string {
	return fmt.Sprintf("%s:%d", e.from.file, cmp.Or(e.from.lines[e.path(field)], 1))
}

// NameOf returns the display name of the catalogue's person with an identity, otherwise UnlinkedName. Service.NameOf in app also
// knows the names of people and accounts that are not in the catalogue.
func (c Catalogue) NameOf(id string) string {
	if p, known := c.PersonOf(id); known {
		return p.DisplayName
	}
	return UnlinkedName(id)
}

// sourceText are the sources as people write them.
var sourceText = map[Source]string{
	SourceSAML: "SAML", SourceOIDC: "OIDC", SourceAWS: "AWS", SourceGitHub: "GitHub", SourceSlack: "Slack",
}

// workloads are how platforms write the subject of a pipeline's or a program's token: what precedes its name, what ends that, and what it is.
var workloads = []struct{ prefix, end, text string }{
	{"repo:", ":", "workflow"},                            // GitHub Actions: repo:acme/shop:ref:refs/heads/main
	{"project_path:", ":", "pipeline"},                    // GitLab: project_path:acme/shop:ref_type:branch:ref:main
	{"system:serviceaccount:", "\x00", "service account"}, // Kubernetes: system:serviceaccount:namespace:name
}

// IsPersonal reports whether a principal is one person, and not a pipeline, a program or a role that several people assume.
func IsPersonal(id string) bool {
	source, subject, _ := strings.Cut(id, ":")
	if Source(source) == SourceSAML {
		return true
	}
	_, subject, _ = strings.Cut(subject, "#")
	for _, w := range workloads {
		if strings.HasPrefix(subject, w.prefix) {
			return false
		}
	}
	return Source(source) == SourceOIDC
}

// UnlinkedName shows a principal that belongs to no person of the catalogue: its part of the id with the source in parentheses, which
// no display name can end in. A text that is not a principal id is returned as it is.
func UnlinkedName(id string) string {
	source, subject, found := strings.Cut(id, ":")
	text, known := sourceText[Source(source)]
	if !found || !known || subject == "" {
		return id
	}
	switch Source(source) {
	case SourceGitHub:
		if number, ok := strings.CutPrefix(id, gitHubAccount); ok {
			subject = "account " + number
		}
	case SourceOIDC:
		if _, sub, ok := strings.Cut(subject, "#"); ok {
			subject = sub
		}
		for _, w := range workloads {
			if rest, ok := strings.CutPrefix(subject, w.prefix); ok {
				subject, _, _ = strings.Cut(rest, w.end)
				text = w.text
			}
		}
	case SourceAWS:
		if at := strings.LastIndexByte(subject, ':'); at >= 0 && at < len(subject)-1 {
			subject = subject[at+1:]
		}
	}
	printable := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, subject)
	return printable + " (" + text + ")"
}
