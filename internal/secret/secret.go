// Package secret holds values that must never be seen, and finds them by reference.
package secret

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
)

const masked = "***"

// Text is a secret string. Printing, logging or marshalling it shows "***"; only Reveal gives the value.
type Text struct{ value string }

// New wraps a secret value.
func New(value string) Text { return Text{value} }

// Reveal returns the secret itself. Call it only where the value is handed to what needs it.
func (t Text) Reveal() string { return t.value }

// Empty reports whether there is no value.
func (t Text) Empty() bool { return t.value == "" }

// String implements fmt.Stringer with a mask.
func (t Text) String() string { return masked }

// GoString implements fmt.GoStringer, so that %#v shows the mask too.
func (t Text) GoString() string { return masked }

// LogValue implements slog.LogValuer with a mask.
func (t Text) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalJSON writes the mask.
func (t Text) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// MarshalText writes the mask; YAML and text encoders use it.
func (t Text) MarshalText() ([]byte, error) { return []byte(masked), nil }

// Lookup resolves a reference to its secret. It knows "file:/path": the file's content without its final newline.
// The error names the reference, which is no secret, and never the value.
func Lookup(ref string) (Text, error) {
	scheme, rest, ok := strings.Cut(ref, ":")
	if !ok || scheme != "file" || rest == "" {
		return Text{}, fmt.Errorf("secret reference %q: want file:/path", ref)
	}
	raw, err := os.ReadFile(rest)
	if err != nil {
		return Text{}, fmt.Errorf("read secret reference %q: %w", ref, err)
	}
	return Text{strings.TrimSuffix(string(raw), "\n")}, nil
}
