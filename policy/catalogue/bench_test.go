package catalogue

import (
	"os"
	"testing"

	"github.com/ocpctl/ocpctl/profiles"
)

// BenchmarkLook is what each look at a folder costs that did not change.
func BenchmarkLook(b *testing.B) {
	files := os.DirFS("../../profiles/testdata/example")
	for b.Loop() {
		if _, err := profiles.Hash(files); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoad is what it costs to read a changed one and to compile its rules.
func BenchmarkLoad(b *testing.B) {
	files := os.DirFS("../../profiles/testdata/example")
	for b.Loop() {
		if _, err := Load(files); err != nil {
			b.Fatal(err)
		}
	}
}
