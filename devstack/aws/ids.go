package aws

import (
	"crypto/rand"
	"encoding/hex"
	"hash/fnv"
	"strings"
)

// newID returns the prefix and seventeen hexadecimal digits, like EC2's ids.
func newID(prefix string) string {
	var b [9]byte
	_, _ = rand.Read(b[:]) // crypto/rand never fails
	return prefix + hex.EncodeToString(b[:])[:17]
}

// newUpper returns an upper-case id like those of IAM and Route 53.
func newUpper(prefix string, n int) string {
	var b [20]byte
	_, _ = rand.Read(b[:])
	return prefix + strings.ToUpper(hex.EncodeToString(b[:]))[:n]
}

// newRequestID returns a UUID, as every service has it in its responses.
func newRequestID() string {
	h := newID("") + newID("")
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:32]
}

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // a hash never fails
	return h.Sum32()
}
