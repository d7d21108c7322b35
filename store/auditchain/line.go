// Package auditchain recomputes the chain of the audit trail from its lines alone: for the server, which reads them from the
// database, and for anybody who verifies a copy without trusting the server.
//
// It shares no code with the SQL that makes the chain, so it detects a fault or a forgery there.
package auditchain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Line is one line of the audit trail, and of its export: one JSON object per line.
type Line struct {
	Seq      int64     `json:"seq"` // 1 for the first line, then counting up
	At       time.Time `json:"at"`
	Actor    string    `json:"actor"`
	Action   string    `json:"action"`
	Source   string    `json:"source,omitempty"`
	Cluster  string    `json:"clusterId,omitempty"`
	Metadata string    `json:"metadata"` // a JSON object, byte for byte what the hash covers
	Previous string    `json:"previous"` // hash of the line before
	Hash     string    `json:"hash"`

	Details json.RawMessage `db:"-" json:"details,omitempty"` // of a copy: the metadata as an object, so that its fields can be read; empty: none
}

// Head is a line's seq and hash. Whoever knows it can verify everything up to it.
type Head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// Start is the head of an empty trail.
var Start = Head{Hash: strings.Repeat("0", 2*sha256.Size)}

// Head returns the line's seq and hash.
func (l Line) Head() Head { return Head{Seq: l.Seq, Hash: l.Hash} }

// timeForm is the form of a time in the hash: UTC, in microseconds.
const timeForm = "2006-01-02T15:04:05.000000Z"

// Sum computes the line's hash: the SHA-256, in hex, over seq, previous, actor, action, entry point, cluster, metadata and time, each
// as its length in bytes, a colon and itself.
func (l Line) Sum() string {
	text := make([]byte, 0, 512)
	for _, part := range []string{
		strconv.FormatInt(l.Seq, 10), l.Previous, l.Actor, l.Action, l.Source, l.Cluster, l.Metadata, l.At.UTC().Format(timeForm),
	} {
		text = strconv.AppendInt(text, int64(len(part)), 10)
		text = append(text, ':')
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// areDetails reports whether the details, if there are any, are the metadata: the hash covers only that.
func (l Line) areDetails() bool {
	details, errOfDetails := json.Marshal(l.Details) // both without spaces
	metadata, err := json.Marshal(json.RawMessage(l.Metadata))
	return len(l.Details) == 0 || errOfDetails == nil && err == nil && bytes.Equal(details, metadata)
}

// near is how far from its seq a line's place is searched.
const near = 64

// belongs returns the seq that the line's hash was made for; 0: none near by.
func (l Line) belongs() int64 {
	here := l.Seq
	for by := int64(1); by <= near; by++ {
		for _, seq := range []int64{here + by, here - by} {
			if l.Seq = seq; l.Sum() == l.Hash {
				return seq
			}
		}
	}
	return 0
}
