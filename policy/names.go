package policy

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/profiles"
)

const (
	hashLength = 5
	hashedBase = profiles.MaxName - hashLength - 1 // what is left of a name before "-" and the hash
)

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// PRName names the cluster of a pull request and profile: pr<n>-<repo>, sanitised, at most 21 characters. A name that is cut or of a
// later generation ends in "-" and five characters of a hash over repository, number, profile and generation, so that it collides
// with no other. fallback is for when name is taken; it always differs from name.
func PRName(repo string, number int, profile string, generation int) (name, fallback string) {
	_, short, found := strings.Cut(repo, "/")
	if !found {
		short = repo
	}
	plain := fmt.Sprintf("pr%d-%s", number, notInName.ReplaceAllString(strings.ToLower(short), "-"))
	plain = strings.TrimRight(strings.ReplaceAll(plain, "--", "-"), "-")
	seed := fmt.Sprintf("%s\n%d\n%s\n%d", strings.ToLower(repo), number, profile, generation)
	hashed := withHash(plain, seed)
	if len(plain) <= profiles.MaxName && generation <= 1 {
		return plain, hashed
	}
	return hashed, withHash(plain, seed+"\nagain")
}

func withHash(plain, seed string) string {
	sum := sha256.Sum256([]byte(seed))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:hashLength]
	if len(plain) > hashedBase {
		plain = strings.TrimRight(plain[:hashedBase], "-")
	}
	return plain + "-" + hash
}
