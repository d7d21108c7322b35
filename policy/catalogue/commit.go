package catalogue

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// commitFile may name the commit of a folder's files, for folders that are filled by other means than git-sync.
const commitFile = ".commit"

// commitFolder is how git-sync names the folder to which its link points: the commit (v4, and later v3), or rev-<commit> (earlier).
var commitFolder = regexp.MustCompile(`^(?:rev-)?([0-9a-f]{40}|[0-9a-f]{64})$`)

// readCommit returns the commit of the catalogue's repository that a folder holds; empty: the folder does not say. The file commitFile of
// the folder says it, or else git-sync's name of the folder.
func readCommit(dir string) string {
	if dir == "" {
		return ""
	}
	if raw, err := os.ReadFile(filepath.Join(dir, commitFile)); err == nil && len(raw) < 100 {
		if found := commitFolder.FindStringSubmatch(strings.TrimSpace(string(raw))); found != nil {
			return found[1]
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	for part := range strings.SplitSeq(filepath.ToSlash(real), "/") {
		if found := commitFolder.FindStringSubmatch(part); found != nil {
			return found[1]
		}
	}
	return ""
}
