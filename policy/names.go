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

// PersonName names a cluster that somebody requested without a name: their own name, sanitised, and five characters of a hash over
// seed, at most 21 characters in all. The same seed gives the same name.
func PersonName(person, seed string) string {
	plain := strings.Trim(notInName.ReplaceAllString(strings.ToLower(person), "-"), "-")
	if plain == "" || plain[0] < 'a' || plain[0] > 'z' {
		plain = strings.TrimRight("c-"+plain, "-")
	}
	return withHash(plain, person+"\n"+seed)
}

// RunName names a cluster for which jobs of a workflow run wait: the repository, and five characters of a hash over the run's address,
// its attempt and what else is in the seed. The same seed gives the same name.
func RunName(repo, seed string) string {
	_, short, _ := strings.Cut(repo, "/")
	return PersonName(short, seed)
}

func withHash(plain, seed string) string {
	sum := sha256.Sum256([]byte(seed))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:hashLength]
	if len(plain) > hashedBase {
		plain = strings.TrimRight(plain[:hashedBase], "-")
	}
	return plain + "-" + hash
}
