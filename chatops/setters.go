package chatops

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/commands"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/policy"
)

// setters write the value of an option into the command. problem says what is wrong with the value; empty: nothing.
var setters = map[string]func(r *reading, value string) (problem string){
	"name":      func(r *reading, v string) string { r.command.Name = v; return "" },
	"ttl":       setTTL,
	"for":       setFor,
	"region":    func(r *reading, v string) string { r.command.Region = v; return "" },
	"version":   func(r *reading, v string) string { r.command.Version = v; return "" },
	"team":      setTeam,
	"off-hours": setOffHours,
	"pool":      setPool,
	"account":   func(r *reading, v string) string { r.command.Account = v; return "" },
	"no-pool":   func(r *reading, _ string) string { return setPool(r, policy.NoPool) },
	"with":      setWith,
	"dry-run":   func(r *reading, _ string) string { r.command.DryRun = true; return "" },
	"reason":    setReason,
	"profile":   setProfile,
	"owner":     setOwner,
	"repo":      setRepo,
	"off":       func(r *reading, _ string) string { r.command.Off = true; return "" },
	"lines":     setLines,
	"replicas":  setReplicas,
	"role":      setRole,
}

func setTTL(r *reading, value string) (problem string) {
	ttl, ok := parseLifetime(value)
	if !ok {
		return fmt.Sprintf("%s is not a lifetime. Give %s.", Code(value), duration.Accepted)
	}
	r.command.TTL = ttl
	return ""
}

// parseLifetime reads a lifetime. One without an end is read, too, so that policy can explain its refusal.
func parseLifetime(text string) (time.Duration, bool) {
	d, ok := duration.ParseLifetime(text)
	if ok && d == 0 {
		return policy.NoEnd, true
	}
	return d, ok
}

// setFor reads for how long a cluster sleeps.
func setFor(r *reading, value string) (problem string) {
	d, ok := duration.ParseHours(value)
	if !ok || d <= 0 {
		return fmt.Sprintf("%s is not a duration. Give %s.", Code(value), duration.Accepted)
	}
	r.command.TTL = d
	return ""
}

// setOffHours reads --off-hours, --off-hours=true and --off-hours=false.
func setOffHours(r *reading, value string) (problem string) {
	yes := value == ""
	if !yes {
		var err error
		if yes, err = strconv.ParseBool(value); err != nil {
			return Code(value) + " is neither true nor false."
		}
	}
	r.command.OffHours = &yes
	return ""
}

func setPool(r *reading, value string) (problem string) {
	if r.command.Pool != "" {
		return fmt.Sprintf("Give one of %s and %s.", Code("--pool"), Code("--no-pool"))
	}
	r.command.Pool = value
	return ""
}

func setReason(r *reading, value string) (problem string) {
	if len(value) > maxReason {
		return fmt.Sprintf("The reason has %d bytes; the audit trail keeps up to %d.", len(value), maxReason)
	}
	r.command.Reason = value
	return ""
}

func setLines(r *reading, value string) (problem string) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > MaxLogLines {
		return fmt.Sprintf("%s is not a number of lines from 1 to %d.", Code(value), MaxLogLines)
	}
	r.command.Lines = n
	return ""
}

func setReplicas(r *reading, value string) (problem string) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > maxReplicas {
		return fmt.Sprintf("%s is not a number of workers from 0 to %d.", Code(value), maxReplicas)
	}
	r.command.Replicas = n
	return ""
}

func setRole(r *reading, value string) (problem string) {
	role := policy.ClusterRole(strings.ToLower(value))
	if !role.Known() {
		return fmt.Sprintf("%s is not a role in a cluster; the roles are view, edit and admin.", Code(value))
	}
	r.command.Role = role
	return ""
}

func setTeam(r *reading, value string) (problem string) {
	if r.verb == VerbList {
		r.command.Filter.Team = value
	} else {
		r.command.Team = value
	}
	return ""
}

// setWith takes a person or group of Slack too.
func setWith(r *reading, value string) (problem string) {
	if r.at != commands.Slack || !r.takesSomebody(value) {
		r.command.With = value
	}
	return ""
}

func setProfile(r *reading, value string) (problem string) {
	r.command.Filter.Profile = strings.TrimPrefix(strings.ToLower(value), LabelPrefix)
	return ""
}

func setOwner(r *reading, value string) (problem string) {
	if m := slackPerson.FindStringSubmatch(value); m != nil {
		value = m[1]
	}
	r.command.Filter.Owner = strings.TrimPrefix(value, "@")
	return ""
}

// repository matches owner/name as GitHub allows them.
var repository = regexp.MustCompile(`^[A-Za-z0-9][-_A-Za-z0-9]{0,38}/[-_.A-Za-z0-9]{1,100}$`)

func setRepo(r *reading, value string) (problem string) {
	if !repository.MatchString(value) {
		return fmt.Sprintf("%s is not a repository; it is written owner/name, for example %s.", Code(value), Code("acme/shop"))
	}
	r.command.Repo = value
	return ""
}
