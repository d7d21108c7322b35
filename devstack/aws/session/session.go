// Package session creates and reads the session tokens of the stand-in STS. A token contains the whole session, encrypted, like AWS's
// own. So the stand-in S3, which is another process, needs only the key to know who is asking.
package session

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Session is the session of a temporary key.
type Session struct {
	AccessKey, SecretKey string
	ARN                  string            // arn:aws:sts::<account>:assumed-role/<role>/<session>
	RolePolicy           string            // permissions of the role
	Boundary             string            // the role's permissions boundary; empty: none
	Policy               string            // the session policy; empty: everything that the role may do
	Tags                 map[string]string // of the role, which are those of the principal
	Expires              time.Time
}

// Policies are the documents that must each allow a request.
func (s Session) Policies() []string {
	all := []string{s.RolePolicy}
	for _, limit := range []string{s.Boundary, s.Policy} {
		if limit != "" {
			all = append(all, limit)
		}
	}
	return all
}

// TagKeys returns the condition keys of a principal's tags.
func TagKeys(tags map[string]string) map[string][]string {
	keys := make(map[string][]string, len(tags))
	for key, value := range tags {
		keys["aws:PrincipalTag/"+key] = []string{value}
	}
	return keys
}

// ErrInvalid says that a token is not ours, belongs to another key, or has expired.
var ErrInvalid = errors.New("the security token is invalid or has expired")

// New creates the keys of a session and its token.
func New(key string, s Session) (Session, string, error) {
	s.AccessKey, s.SecretKey = "ASIA"+rand.Text()[:16], rand.Text()+rand.Text()[:14]
	raw, err := json.Marshal(s)
	if err != nil {
		return s, "", fmt.Errorf("encode session: %w", err)
	}
	var packed bytes.Buffer // the token is sent in a header, and policies are long
	deflater, err := flate.NewWriter(&packed, flate.BestCompression)
	if err == nil {
		_, err = deflater.Write(raw)
	}
	if err := errors.Join(err, deflater.Close()); err != nil {
		return s, "", fmt.Errorf("encode session: %w", err)
	}
	box, err := sealer(key)
	if err != nil {
		return s, "", err
	}
	nonce := make([]byte, box.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return s, base64.StdEncoding.EncodeToString(box.Seal(nonce, nonce, packed.Bytes(), nil)), nil
}

// Open reads the session of an access key from its token.
func Open(key, accessKey, token string, now time.Time) (Session, error) {
	var s Session
	raw, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return s, ErrInvalid
	}
	box, err := sealer(key)
	if err != nil {
		return s, err
	}
	if len(raw) < box.NonceSize() {
		return s, ErrInvalid
	}
	packed, err := box.Open(nil, raw[:box.NonceSize()], raw[box.NonceSize():], nil)
	if err != nil {
		return s, ErrInvalid
	}
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil || json.Unmarshal(plain, &s) != nil || s.AccessKey != accessKey || !now.Before(s.Expires) {
		return Session{}, ErrInvalid
	}
	return s, nil
}

func sealer(key string) (cipher.AEAD, error) {
	sum := sha256.Sum256([]byte("session " + key))
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		return nil, fmt.Errorf("session key: %w", err)
	}
	return cipher.NewGCM(block)
}
