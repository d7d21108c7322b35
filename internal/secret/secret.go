// Package secret holds values that must never be shown, and looks them up by reference.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

const masked = "***"

// Text is a secret string. Printing, logging or encoding it gives "***"; only Reveal returns the value.
type Text struct{ value string }

// New wraps a secret value.
func New(value string) Text { return Text{value} }

// Reveal returns the secret itself. Call it only to pass the value to what needs it.
func (t Text) Reveal() string { return t.value }

// Empty reports whether there is no value.
func (t Text) Empty() bool { return t.value == "" }

// String implements fmt.Stringer with a mask.
func (t Text) String() string { return masked }

// Format implements fmt.Formatter, so that every verb, even a wrong one, gives the mask.
func (t Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// LogValue implements slog.LogValuer with a mask.
func (t Text) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalJSON writes the mask.
func (t Text) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// MarshalText writes the mask, also for YAML and text encoders.
func (t Text) MarshalText() ([]byte, error) { return []byte(masked), nil }
