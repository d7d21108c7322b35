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
	shortest     = 4        // a shorter literal would hide half the log
	shortestCore = 8        // the same for base64, in which short words occur by chance
	longestLine  = 64 << 10 // a longer line is data, not a message
	longestBlock = 400      // lines of one PEM block; a block without an end must not swallow the log
)

// patterns match what looks like a secret, whatever its value. The first group, if there is one, is kept. They follow what the
// installer is known to print.
var patterns = []pattern{
	mustPattern(`(?i)(passw(?:or)?d[\\"']*\s*[:=]).*`),
	mustPattern(`(?i)(pull_?secret[\\"']*\s*[:=]).*`),
	mustPattern(`(\\*"auths?\\*"\s*:).*`),
	mustPattern(`(?i)(authorization[\\"']*\s*[:=]).*`),
	mustPattern(`(?i)((?:secret_?access_?key|se(?:ssion|curity)[_-]?token|api_?key|client_?secret|client-key-data)[\\"']*\s*[:=]\s*)[^\s,]+`),
	mustPattern(`(?i)(X-Amz-(?:Signature|Credential|Security-Token)=)[^&\s"']+`),
	mustPattern(`(?i)(Encoded authorization failure message: )[^\s"'\\]+`), // AWS hides its content from the caller
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

// Redactor knows what must not be seen: patterns, and literal values in every spelling that a log may give them. It is safe for
// concurrent use; a literal is effective from the moment Add returns.
type Redactor struct {
	mu       sync.RWMutex
	literals []string
	replace  *strings.Replacer
}

// NewRedactor returns a Redactor that knows only the patterns.
func NewRedactor() *Redactor { return &Redactor{replace: strings.NewReplacer()} }

// Add registers values as literals. Each line of a multi-line value becomes a literal too, because logs split messages at newlines.
func (r *Redactor) Add(values ...secret.Text) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, value := range values {
		r.literals = append(r.literals, listSpellings(value.Reveal())...)
		for line := range strings.Lines(value.Reveal()) {
			r.literals = append(r.literals, listSpellings(strings.TrimSpace(line))...)
		}
	}
	slices.SortFunc(r.literals, func(a, b string) int { return len(b) - len(a) }) // the longest first, because it may contain a shorter one
	r.literals = slices.Compact(r.literals)
	pairs := make([]string, 0, 2*len(r.literals))
	for _, literal := range r.literals {
		pairs = append(pairs, literal, mark)
	}
	r.replace = strings.NewReplacer(pairs...)
}

// AddPullSecret registers a pull secret and every credential inside it as literals.
func (r *Redactor) AddPullSecret(value secret.Text) {
	r.Add(value)
	var parsed struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
	}
	if json.Unmarshal([]byte(value.Reveal()), &parsed) != nil {
		return // it is not valid JSON, so it is one literal; the installer will report what is wrong with it
	}
	for _, each := range parsed.Auths {
		r.Add(secret.New(each.Auth))
		if plain, err := base64.StdEncoding.DecodeString(each.Auth); err == nil {
			_, password, _ := strings.Cut(string(plain), ":")
			r.Add(secret.New(string(plain)), secret.New(password))
		}
	}
}

// listSpellings lists the forms in which a value appears in logs: as it is, quoted as in Go, JSON, YAML and shells, quoted twice, in a
// URL, and in base64, alone or inside something longer.
func listSpellings(value string) []string {
	if len(value) < shortest {
		return nil
	}
	found := []string{
		value, url.QueryEscape(value), url.PathEscape(value), strings.ReplaceAll(value, `'`, `''`), strings.ReplaceAll(value, `'`, `'\''`), escapeForShell(value),
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
	quoted, _ := json.Marshal(value) // a string can always be encoded in JSON
	return string(quoted[1 : len(quoted)-1])
}

// escapeForShell puts a backslash before every character that a shell would interpret, like printf %q.
func escapeForShell(value string) string {
	var out strings.Builder
	for _, r := range value {
		if r < 0x80 && !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// insideBase64 returns the fixed parts of a value's base64 encoding inside something longer: three bytes become four letters, so the
// encoding depends on where the value begins, and the letters at both ends on its neighbours.
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

func (r *Redactor) redactLine(line string) string {
	r.mu.RLock()
	line = r.replace.Replace(line)
	r.mu.RUnlock()
	lower := strings.ToLower(line)
	for _, pattern := range patterns {
		if pattern.mayMatch(lower) {
			line = pattern.ReplaceAllString(line, "${1}"+mark)
		}
	}
	return line
}
