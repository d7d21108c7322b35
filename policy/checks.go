package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/profiles"
)

func (j judging) checkProfile() Check {
	r, c, p, known := j.r, j.terms.Catalogue, j.profile, j.known
	check := Check{Name: "profile", Result: Pass, Asked: r.Profile, Accept: strings.Join(listOffered(r, c), ", ")}
	switch {
	case known && r.Profile == "":
		check.Message = fmt.Sprintf("No profile was named, so it is %s.", p.Name)
	case known:
		check.Message = fmt.Sprintf("%s: %s", p.Name, p.Description)
	case r.Profile == "":
		check.Result, check.Message, check.Next = Fail, "No profile is enabled on this control plane.", "Ask a platform admin to enable one."
	default:
		check.Result, check.Message = Fail, fmt.Sprintf("No profile is called %q%s.", r.Profile, j.defaults.explainProfile(r))
		check.Next, check.NextSaysAccept = "Choose one of: "+check.Accept+".", true
		if near, ok := closest.Match(r.Profile, listOffered(r, c)); ok {
			check.Next = fmt.Sprintf("Did you mean %s? The profiles are: %s.", near, check.Accept)
		}
	}
	return check
}

func checkPlatform(r Request, p profiles.Profile, c profiles.Catalogue) Check {
	check := Check{Name: "platform", Result: Pass, Asked: p.Platform, Message: fmt.Sprintf("Profile %s on %s is enabled.", p.Name, price.PlatformText(p.Platform))}
	if !p.Enabled {
		check.Result, check.Accept = Fail, strings.Join(listOffered(r, c), ", ")
		check.Message = fmt.Sprintf("Profile %s cannot be used: %s.", p.Name, strings.TrimSuffix(p.DisabledReason, "."))
		check.Next, check.NextSaysAccept = "Choose one of: "+check.Accept+".", true
	}
	return check
}

// MayHoldKeys reports whether the principal may hold the control plane's own cloud keys: only a platform admin of every team may.
func (p Principal) MayHoldKeys() bool { return p.Has(EveryTeam, PlatformAdmin) }

// checkAdminOnly restricts a profile whose cluster holds the control plane's own keys to those who may have them.
func checkAdminOnly(r Request, p profiles.Profile, c profiles.Catalogue) Check {
	check := Check{Name: "admin-only", Result: Pass, Asked: string(r.Principal.Role()), Accept: "platform_admin of every team"}
	check.Message = fmt.Sprintf("Profile %s is for platform admins, and %s is one.", p.Name, nameRequester(r))
	if !r.Principal.MayHoldKeys() {
		check.Result = Fail
		check.Message = fmt.Sprintf("Profile %s is only for platform admins of every team: an admin of its cluster can read the control plane's own cloud keys there.", p.Name)
		check.Next = fmt.Sprintf("Choose one of: %s, or ask a platform admin to create it.", strings.Join(listOffered(r, c), ", "))
	}
	return check
}

// listOffered lists the profiles that the requester could have, limited by the repository's file.
func listOffered(r Request, c profiles.Catalogue) []string {
	var names []string
	for _, p := range c.All() {
		if p.Enabled && (!p.AdminOnly || r.Principal.MayHoldKeys()) && r.Listed(p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// checkPermission checks GitHub's permission for requests from there, and the principal's role for all others.
func checkPermission(r Request, act string) Check {
	if r.onGitHub() {
		return checkGitHub(r, act)
	}
	check := Check{Name: "permission", Result: Pass, Asked: string(r.Principal.Role()), Accept: "requester or platform_admin"}
	check.Message = fmt.Sprintf("%s has the role %s.", nameRequester(r), r.Principal.Role())
	switch r.Principal.Role() {
	case Requester, PlatformAdmin:
	case Auditor:
		check.Result, check.Message = Fail, fmt.Sprintf("%s is an auditor, who may look at everything and change nothing.", nameRequester(r))
		check.Next = "Ask a platform admin for the role of a requester."
	default:
		check.Result, check.Message = Fail, fmt.Sprintf("%s has no role here, so cannot %s.", nameRequester(r), act)
		check.Next = "Ask a platform admin for the role of a requester."
	}
	return check
}

// Permissions are the GitHub permissions that an installation can require for having clusters, the lowest first. The first is the
// default.
var Permissions = []string{"write", "maintain", "admin"}

// sufficientPermissions lists the permissions that are enough to request clusters.
func (r Request) sufficientPermissions() []string {
	return Permissions[max(0, slices.Index(Permissions, r.Takes)):]
}

func checkGitHub(r Request, act string) Check {
	enough := r.sufficientPermissions()
	check := Check{Name: "permission", Result: Pass, Asked: r.Permission, Accept: strings.Join(enough, " or "), NextSaysAccept: len(enough) == 1}
	repo := "the repository"
	if r.PR != nil {
		repo = r.PR.Repo
	}
	if r.Bot && r.Source == SourceLabel {
		check.Result = Fail
		check.Message = fmt.Sprintf("%s is a bot. A bot may set labels for people without any permission, so its labels ask for nothing.", nameRequester(r))
		check.Next = fmt.Sprintf("Set the label yourself; it takes %s on %s.", enough[0], repo)
		return check
	}
	if r.Bot && r.Source == SourceEnvironment {
		check.Result = Fail
		check.Message = fmt.Sprintf("%s is a bot. A bot starts runs for people without any permission, so no environment gets a cluster for it.", nameRequester(r))
		check.Next = fmt.Sprintf("Run the workflow yourself; it takes %s on %s. Or let a job without this environment ask with create-cluster; it needs an identity in the catalogue.", enough[0], repo)
		return check
	}
	if slices.Contains(enough, r.Permission) {
		check.Message = fmt.Sprintf("%s has %s permission on %s.", nameRequester(r), r.Permission, repo)
		return check
	}
	has := "no permission"
	if r.Permission != "" && r.Permission != "none" {
		has = fmt.Sprintf("only %s permission", r.Permission)
	}
	check.Result = Fail
	check.Message = fmt.Sprintf("%s has %s on %s; to %s, %s is needed.", nameRequester(r), has, repo, act, enough[0])
	check.Next = fmt.Sprintf("Ask someone with %s permission on %s, or ask its maintainers for it.", enough[0], repo)
	return check
}
