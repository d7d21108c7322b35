package aws

import (
	"crypto/rand"
	"encoding/hex"
	"hash/fnv"
	"strings"
)

// newID is prefix and seventeen hexadecimal digits, as EC2 makes them.
func newID(prefix string) string {
	var b [9]byte
	_, _ = rand.Read(b[:]) // crypto/rand never fails
	return prefix + hex.EncodeToString(b[:])[:17]
}

// newUpper is an upper-case id as IAM and Route 53 make them.
func newUpper(prefix string, n int) string {
	var b [20]byte
	_, _ = rand.Read(b[:])
	return prefix + strings.ToUpper(hex.EncodeToString(b[:]))[:n]
}

// newRequestID is a UUID, as every service puts into its answers.
func newRequestID() string {
	h := newID("") + newID("")
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:32]
}

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // a hash never refuses
	return h.Sum32()
}
