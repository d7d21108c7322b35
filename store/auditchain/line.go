// Package auditchain computes the chain of the audit trail again from its lines alone: for the server, which reads them
// from the database, and for whoever holds a copy and trusts nobody.
//
// It shares nothing with the SQL that made the chain, so that a fault or a forgery there is seen here.
package auditchain

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// Line is one line of the trail, and of its export: one JSON object a line.
type Line struct {
	Seq      int64     `json:"seq"` // 1 for the first line, one more for each
	At       time.Time `json:"at"`
	Actor    string    `json:"actor"`
	Action   string    `json:"action"`
	Door     string    `json:"door,omitempty"`
	Cluster  string    `json:"clusterId,omitempty"`
	Metadata string    `json:"metadata"` // a JSON object, byte for byte what the hash is taken over
	Previous string    `json:"previous"` // hash of the line before
	Hash     string    `json:"hash"`
}

// Head is a line's place and hash: what has to be known to be sure of everything up to it.
type Head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// Start is the head of an empty trail.
var Start = Head{Hash: strings.Repeat("0", 2*sha256.Size)}

// Head is the line as a head.
func (l Line) Head() Head { return Head{Seq: l.Seq, Hash: l.Hash} }

// timeForm is the time in UTC, in microseconds.
const timeForm = "2006-01-02T15:04:05.000000Z"

// Sum is what the line's hash has to be: the SHA-256, in hex, over seq, previous, actor, action, door, cluster, metadata and
// time, each as its length in bytes, a colon and itself.
func (l Line) Sum() string {
	text := make([]byte, 0, 512)
	for _, part := range []string{
		strconv.FormatInt(l.Seq, 10), l.Previous, l.Actor, l.Action, l.Door, l.Cluster, l.Metadata, l.At.UTC().Format(timeForm),
	} {
		text = strconv.AppendInt(text, int64(len(part)), 10)
		text = append(text, ':')
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// near is how far from its place a line is looked for.
const near = 64

// belongs finds the place that the line's hash was made for; 0: no place near by.
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
