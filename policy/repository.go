package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/profiles"
)

// fileDefaults records what the repository's file filled in.
type fileDefaults struct{ profile, ttl bool }

// explainProfile explains, in a refusal of the profile, that the request did not name it.
func (f fileDefaults) explainProfile(r Request) string {
	if !f.profile {
		return ""
	}
	return ", which " + fileOf(r) + " names as default"
}

// fileOf names the repository's file in a sentence.
func fileOf(r Request) string {
	if r.PR == nil {
		return profiles.RepositoryFilePath
	}
	return profiles.RepositoryFilePath + " of " + r.PR.Repo
}

// Listed reports whether the repository's file allows the profile.
func (r Request) Listed(profile string) bool {
	return r.File == nil || len(r.File.Profiles) == 0 || profiles.FitsAny(r.File.Profiles, profile)
}

// fileProfile uses the profile of the repository's file if the request names none.
func (j judging) fileProfile() judging {
	if f := j.r.File; f != nil && f.Default != "" && j.r.Profile == "" {
		j.r.Profile, j.defaults.profile = f.Default, true
	}
	return j
}

// defaultProfile returns the catalogue's default, or one from the file's list that can be had.
func (j judging) defaultProfile() (profiles.Profile, bool) {
	if f := j.r.File; f != nil && len(f.Profiles) > 0 {
		if p, ok := j.terms.Catalogue.DefaultOf(f.Profiles); ok {
			return p, true
		}
	}
	return j.terms.Catalogue.Default()
}

// fileTTL uses the lifetime of the repository's file if the request names none, limited by the profile's maximum.
func (j judging) fileTTL() judging {
	if f := j.r.File; f != nil && f.TTL > 0 && j.r.TTL == 0 && j.known {
		j.r.TTL, j.defaults.ttl = min(f.TTL, j.profile.MaxTTL), true
	}
	return j
}

// mostGrace returns the longest grace period that the repository's file may set.
func (j judging) mostGrace() time.Duration {
	if j.settings.MaxGrace > 0 {
		return j.settings.MaxGrace
	}
	return j.ownGrace()
}

// ownGrace returns the grace period without a file.
func (j judging) ownGrace() time.Duration {
	if j.settings.Grace > 0 {
		return j.settings.Grace
	}
	return j.profile.Grace
}

// gracePeriod returns how long the cluster stays after its pull request was closed or lost the label.
func (j judging) gracePeriod() time.Duration {
	if f := j.r.File; f != nil && f.Grace != nil {
		return min(j.settings.Scale(*f.Grace), j.mostGrace())
	}
	return j.ownGrace()
}

// checkFile says what the repository's file changes about the request. A file narrows and fills in; filled-in values are checked like
// requested ones, so a file never allows what the server does not.
func (j judging) checkFile() Check {
	r, f := j.r, j.r.File
	var checks []Check
	name := orDefault(r.Profile, j.profile.Name)
	if len(f.Profiles) > 0 && name != "" {
		checks = append(checks, j.checkFileList(name))
	}
	if j.defaults.profile {
		checks = append(checks, Check{Name: "default", Result: Pass, Accept: f.Default, Message: fmt.Sprintf("No profile was named, and %s names %s.", fileOf(r), f.Default)})
	}
	if j.defaults.ttl {
		checks = append(checks, j.checkCut("ttl", "lifetime", f.TTL, j.profile.MaxTTL, "profile "+j.profile.Name, f.TTL > j.profile.MaxTTL))
	}
	if f.Grace != nil && j.known {
		checks = append(checks, j.checkCut("grace", "grace", *f.Grace, j.mostGrace(), "this installation", j.settings.Scale(*f.Grace) > j.mostGrace()))
	}
	return combineChecks("repository file", fileOf(r)+" has nothing against it.", checks)
}

// checkFileList checks that the profile is on the file's list.
func (j judging) checkFileList(name string) Check {
	r := j.r
	check := Check{Name: "profiles", Result: Pass, Asked: name, Accept: strings.Join(r.File.Profiles, ", "), Message: fmt.Sprintf("%s lets the repository have profile %s.", fileOf(r), name)}
	if r.Listed(name) {
		return check
	}
	check.Result = Fail
	check.Message = fmt.Sprintf("Profile %s is not among those that %s lets the repository have: %s.", name, fileOf(r), check.Accept)
	check.Next = fmt.Sprintf("Ask the repository's maintainers to add it to profiles in %s on the base branch.", profiles.RepositoryFilePath)
	if could := listOffered(r, j.terms.Catalogue); len(could) > 0 {
		check.NextSaysAccept = slices.Equal(could, r.File.Profiles)
		check.Next = fmt.Sprintf("Choose one of: %s, or ask the repository's maintainers to add it to profiles in %s on the base branch.", strings.Join(could, ", "), profiles.RepositoryFilePath)
	}
	return check
}

// checkCut says whether a duration from the file was used as it is or limited.
func (j judging) checkCut(key, what string, asked, most time.Duration, whose string, above bool) Check {
	check := Check{Name: key, Result: Pass, Asked: duration.Format(asked), Accept: "at most " + duration.Format(most), Message: fmt.Sprintf("The %s of %s is %s.", what, fileOf(j.r), duration.Format(asked))}
	if above {
		check.Result = Warn
		check.Message = fmt.Sprintf("The %s of %s, %s, is more than the %s that %s gives at most, so it is %s.", what, fileOf(j.r), tooLong(asked, most), duration.Format(most), whose, duration.Format(most))
		check.Next = fmt.Sprintf("Give at most %s as %s in %s.", duration.Format(most), key, profiles.RepositoryFilePath)
	}
	return check
}
