package slack

import (
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/internal/blockkit"
)

// A response_url works five times within half an hour. https://docs.slack.dev/interactivity/handling-user-interaction
const (
	hookUses = 5
	hookLife = 30 * time.Minute
)

// hook is a response_url.
type hook struct {
	person, channel, message string
	issued                   time.Time
	uses                     int
}

// newHook returns a response_url, under the lock.
func (s *Server) newHook(kind, person, channel, message string) string {
	for key, h := range s.hooks {
		if s.cfg.Now().Sub(h.issued) > 2*hookLife {
			delete(s.hooks, key)
		}
	}
	key := kind + "/" + Workspace + "/" + digits(12) + "/" + random(24)
	s.hooks[key] = &hook{person: person, channel: channel, message: message, issued: s.cfg.Now()}
	return s.base + "/hooks/" + key
}

// hooked is what an app posts to a response_url.
type hooked struct {
	Type    string `json:"response_type"`
	Text    string
	Blocks  json.RawMessage
	Thread  string `json:"thread_ts"`
	Replace bool   `json:"replace_original"`
	Delete  bool   `json:"delete_original"`
}

func (s *Server) serveHook(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	var said hooked
	status, code := http.StatusBadRequest, "invalid_payload"
	if err == nil && json.Unmarshal(raw, &said) == nil {
		s.mu.Lock()
		status, code = s.useHook(r.PathValue("key"), said)
		s.mu.Unlock()
	}
	if code == "" {
		_, _ = io.WriteString(w, "ok") // the caller disconnected
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(no(code)) // the caller disconnected
}

// useHook posts, replaces or deletes a message, or says why it does not. Under the lock.
func (s *Server) useHook(key string, said hooked) (status int, code string) {
	hasBlocks := len(said.Blocks) > 0 && string(said.Blocks) != "[]"
	h := s.hooks[key]
	switch {
	case h == nil, s.cfg.Now().Sub(h.issued) > hookLife:
		return http.StatusNotFound, "expired_url"
	case h.uses >= hookUses:
		return http.StatusNotFound, "used_url"
	case !said.Delete && said.Text == "" && !hasBlocks:
		return http.StatusInternalServerError, "no_text"
	case hasBlocks && len(blockkit.Message(message(said.Text, said.Blocks))) > 0:
		return http.StatusBadRequest, "invalid_blocks"
	}
	h.uses++
	m := Message{Kind: KindEphemeral, Channel: h.channel, From: Bot, To: h.person, Text: said.Text, Thread: s.root(h.channel, said.Thread)}
	if hasBlocks {
		m.Blocks = identified(said.Blocks)
	}
	if said.Type == "in_channel" {
		m.Kind, m.To = KindChannel, ""
	}
	var err error
	original := s.message(h.channel, h.message)
	switch {
	case said.Delete && original != nil:
		original.Deleted, err = true, s.save()
	case said.Replace && original != nil:
		original.Text, original.Blocks = m.Text, m.Blocks
		original.Edits++
		err = s.save()
	default:
		_, err = s.say(m)
	}
	if err != nil {
		return http.StatusInternalServerError, "internal_error"
	}
	return http.StatusOK, ""
}
