package installer

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ocpctl/ocpctl/internal/secret"
)

const (
	mark         = "[redacted]"
	shortest     = 4        // a shorter literal would blot out half the log
	shortestCore = 8        // … and of base64, in which ordinary words occur by chance
	longestLine  = 64 << 10 // a longer line is data, not a message
	longestBlock = 400      // lines of one PEM block; a block that never ends must not swallow the log
)

// patterns find what looks like a secret whatever its value. The first group, where there is one, stays.
// They follow what the installer is known to print: openshift.md §3.
var patterns = []pattern{
	mustPattern(`(?i)(passw(?:or)?d[\\"']*\s*[:=]).*`),
	mustPattern(`(?i)(pull_?secret[\\"']*\s*[:=]).*`),
	mustPattern(`(\\*"auths?\\*"\s*:).*`),
	mustPattern(`(?i)(authorization[\\"']*\s*[:=]).*`),
	mustPattern(`(?i)((?:secret_?access_?key|se(?:ssion|curity)[_-]?token|api_?key|client_?secret|client-key-data)[\\"']*\s*[:=]\s*)[^\s,]+`),
	mustPattern(`(?i)(X-Amz-(?:Signature|Credential|Security-Token)=)[^&\s"']+`),
	mustPattern(`(?i)(Encoded authorization failure message: )[^\s"'\\]+`), // AWS hides from its caller what it says
	mustPattern(`(://[^/\s:@]+:)[^/\s@]+@`),
	mustPattern(`()\b(?:AKIA|ASIA)[0-9A-Z]{12,}\b`),
	mustPattern(`()\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`),
	mustPattern(`()sha256~[A-Za-z0-9_-]{20,}`),
	mustPattern(`()LS0tLS1CRUdJTi[A-Za-z0-9+/=]*`), // a PEM block in base64
	mustPattern(`()-----BEGIN [A-Z0-9 ]+-----.*?-----END [A-Z0-9 ]+-----`),
}

var (
	blockBegins = mustPattern(`-----BEGIN [A-Z0-9 ]+-----.*`)
	blockEnds   = mustPattern(`-----END [A-Z0-9 ]+-----`)
)

// Redactor knows what must not be seen: literal values, in every spelling a log may give them, and patterns.
// It is safe for concurrent use; a literal counts from the moment Add returns.
type Redactor struct {
	mu       sync.RWMutex
	literals []string
	replace  *strings.Replacer
}

// NewRedactor returns a Redactor that knows the patterns alone.
func NewRedactor() *Redactor { return &Redactor{replace: strings.NewReplacer()} }

// Add makes values literals. Of a value of several lines each line is one too: logs split messages at newlines.
func (r *Redactor) Add(values ...secret.Text) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, value := range values {
		r.literals = append(r.literals, spellings(value.Reveal())...)
		for line := range strings.Lines(value.Reveal()) {
			r.literals = append(r.literals, spellings(strings.TrimSpace(line))...)
		}
	}
	slices.SortFunc(r.literals, func(a, b string) int { return len(b) - len(a) }) // the longest first: it may hold a shorter one
	r.literals = slices.Compact(r.literals)
	pairs := make([]string, 0, 2*len(r.literals))
	for _, literal := range r.literals {
		pairs = append(pairs, literal, mark)
	}
	r.replace = strings.NewReplacer(pairs...)
}

// AddPullSecret makes a pull secret and every credential inside it literals.
func (r *Redactor) AddPullSecret(value secret.Text) {
	r.Add(value)
	var parsed struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
	}
	if json.Unmarshal([]byte(value.Reveal()), &parsed) != nil {
		return // then it is one literal; the installer will say what it thinks of it
	}
	for _, each := range parsed.Auths {
		r.Add(secret.New(each.Auth))
		if plain, err := base64.StdEncoding.DecodeString(each.Auth); err == nil {
			_, password, _ := strings.Cut(string(plain), ":")
			r.Add(secret.New(string(plain)), secret.New(password))
		}
	}
}

// spellings lists the ways a value appears in logs: as it is, quoted as Go, JSON, YAML and shells do it, quoted twice, in
// a URL, and in base64, alone or somewhere inside of something longer.
func spellings(value string) []string {
	if len(value) < shortest {
		return nil
	}
	found := []string{
		value, url.QueryEscape(value), url.PathEscape(value), strings.ReplaceAll(value, `'`, `''`), strings.ReplaceAll(value, `'`, `'\''`), escaped(value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
	}
	for _, quote := range []func(string) string{goQuoted, jsonQuoted} {
		once := quote(value)
		found = append(found, once, goQuoted(once), jsonQuoted(once))
	}
	return append(found, insideBase64(value)...)
}

func goQuoted(value string) string {
	quoted := strconv.Quote(value)
	return quoted[1 : len(quoted)-1]
}

func jsonQuoted(value string) string {
	quoted, _ := json.Marshal(value) // a string always is one in JSON
	return string(quoted[1 : len(quoted)-1])
}

// escaped puts a backslash before whatever a shell would read, as printf %q does.
func escaped(value string) string {
	var out strings.Builder
	for _, r := range value {
		if r < 0x80 && !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// insideBase64 returns what stays of a value when something longer is encoded that holds it: three bytes become four
// letters, so it depends on where the value begins, and the letters at both ends on its neighbours.
func insideBase64(value string) (found []string) {
	for shift := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + value))
		begin := (8*shift + 5) / 6
		end := (8 * (shift + len(value))) / 6
		if core := encoded[begin:end]; len(core) >= shortestCore {
			found = append(found, core, strings.NewReplacer("+", "-", "/", "_").Replace(core))
		}
	}
	return found
}

// Text redacts a text of one or more lines.
func (r *Redactor) Text(text string) string {
	var kept []string
	lines := r.Lines(func(line string) { kept = append(kept, line) })
	_, _ = lines.Write([]byte(text))
	lines.Close()
	return strings.Join(kept, "\n")
}

func (r *Redactor) line(line string) string {
	r.mu.RLock()
	line = r.replace.Replace(line)
	r.mu.RUnlock()
	lower := strings.ToLower(line)
	for _, pattern := range patterns {
		if pattern.maybe(lower) {
			line = pattern.ReplaceAllString(line, "${1}"+mark)
		}
	}
	return line
}
