package slack

import (
	"crypto/rand"
	"encoding/hex"
)

// random returns hexadecimal digits.
func random(n int) string { return hex.EncodeToString(noise((n + 1) / 2))[:n] }

// digits returns decimal digits, of which the first is not 0.
func digits(n int) string {
	return pick(n, "123456789", "0123456789")
}

// id returns the part of an id after its letter.
func id(n int) string { return pick(n, "0", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") }

func pick(n int, first, rest string) string {
	out := noise(n)
	for i, b := range out {
		from := rest
		if i == 0 {
			from = first
		}
		out[i] = from[int(b)%len(from)]
	}
	return string(out)
}

func noise(n int) []byte {
	raw := make([]byte, n)
	if _, err := rand.Read(raw); err != nil {
		panic(err) // never happens on any supported system
	}
	return raw
}
