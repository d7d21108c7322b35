package profiles

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
)

// sshTypes are the key types that the nodes' sshd accepts.
var sshTypes = []string{
	"ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
	"sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
}

const sshText = "public keys such as \"ssh-ed25519 AAAAC3… comment\", one per line"

// SSHKey reports whether a line is a public key in OpenSSH's format, as the installer demands: a type, a base64 key that names the
// same type, and optionally a comment.
func SSHKey(line string) bool {
	words := strings.Fields(line)
	if len(words) < 2 || !slices.Contains(sshTypes, words[0]) {
		return false
	}
	raw, err := base64.StdEncoding.DecodeString(words[1])
	if err != nil || len(raw) < 4 {
		return false
	}
	length := int64(binary.BigEndian.Uint32(raw))
	return length < int64(len(raw)-4) && string(raw[4:4+length]) == words[0]
}
