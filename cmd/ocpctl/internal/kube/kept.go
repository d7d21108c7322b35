package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
)

// Kept is a cluster's token that is kept between the calls of kubectl.
type Kept struct {
	Token   Token
	Expires time.Time
	Checked time.Time // when the server said last that it is still to be had
}

// Keep is where the tokens are kept: a folder of files, one for each server, cluster and way to ask.
type Keep struct{ Folder string }

// DefaultKeep is in memory if the machine has a file system for that, which is empty after the person signs out, and otherwise with the
// user's other caches.
func DefaultKeep(env func(string) string) Keep {
	if base := env("XDG_RUNTIME_DIR"); filepath.IsAbs(base) {
		return Keep{filepath.Join(base, "ocpctl", "tokens")}
	}
	base := env("XDG_CACHE_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(env("HOME"), ".cache")
	}
	return Keep{filepath.Join(base, "ocpctl", "tokens")}
}

// Read returns what is kept for a question to a server; ok is false if there is nothing, or nothing that can be read.
func (k Keep) Read(server, question string) (kept Kept, ok bool) {
	raw, err := os.ReadFile(k.pathOf(server, question))
	if err != nil {
		return Kept{}, false
	}
	var file keptFile
	if err := json.Unmarshal(raw, &file); err != nil || file.Token == "" {
		return Kept{}, false
	}
	return Kept{Token{file.Token}, file.Expires, file.Checked}, true
}

// Write keeps a token.
func (k Keep) Write(server, question string, kept Kept) error {
	raw, err := json.Marshal(keptFile{kept.Token.text, kept.Expires, kept.Checked})
	if err != nil {
		return err
	}
	path := k.pathOf(server, question)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep a token: %w", err)
	}
	return connect.WriteFile(path, raw)
}

// Drop deletes what is kept for a question to a server; without a question, all that is kept of that server.
func (k Keep) Drop(server, question string) error {
	path := k.pathOf(server, question)
	if question == "" {
		path = filepath.Dir(path)
	}
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("delete a token: %w", err)
	}
	return nil
}

// keptFile is a token's file.
type keptFile struct {
	Token   string    `json:"token"`
	Expires time.Time `json:"expires"`
	Checked time.Time `json:"checked"`
}

// pathOf hides which server and cluster a file is of; nobody needs to know.
func (k Keep) pathOf(server, question string) string {
	return filepath.Join(k.Folder, digestOf(strings.TrimRight(server, "/")), digestOf(question)+".json")
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}
