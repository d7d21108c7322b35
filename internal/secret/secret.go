// Package secret holds values that must never be seen, and finds them by reference.
package secret

import (
	"fmt"
	"io"
	"log/slog"
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

// Format implements fmt.Formatter, so that every verb shows the mask, wrong ones too.
func (t Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// LogValue implements slog.LogValuer with a mask.
func (t Text) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalJSON writes the mask.
func (t Text) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// MarshalText writes the mask; YAML and text encoders use it.
func (t Text) MarshalText() ([]byte, error) { return []byte(masked), nil }
