package aws

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/aws/iampolicy"
	"github.com/ocpctl/ocpctl/devstack/aws/session"
	"github.com/ocpctl/ocpctl/devstack/must"
)

var stsCalls = map[string]handler{
	"GetCallerIdentity": func(c *call) ([]node, error) {
		return []node{el("Arn", c.who.arn), el("UserId", c.who.userID), el("Account", cmp.Or(c.who.account, c.Account))}, nil
	},
	"AssumeRole": assumeRole,
	webIdentity:  assumeWithToken,
}

// Role can be assumed by callers who may call sts:AssumeRole. It belongs to the configured account, whatever SetAccount says, and is
// not a resource: nothing lists or deletes it.
type Role struct {
	Name   string
	Policy string // permissions of its sessions, before their own policy
}

// AWS's limits for AssumeRole: a session lives from 15 minutes to 12 hours, and its policy has a maximum length.
const (
	shortestSession   = 15 * time.Minute
	longestSession    = 12 * time.Hour
	defaultSession    = time.Hour
	longestPolicyText = 2048
)

func assumeRole(c *call) ([]node, error) {
	arn, name := c.params.get("RoleArn"), c.params.get("RoleSessionName")
	i := slices.IndexFunc(c.server.cfg.Roles, func(r Role) bool { return arn == "arn:aws:iam::"+c.server.cfg.Account+":role/"+r.Name })
	must.EndIf(i < 0, fault("AccessDenied", "User: %s is not authorized to perform: sts:AssumeRole on resource: %s", c.who.arn, arn))
	lasts := must.Get(c.sessionLength(name))
	policy := c.params.get("Policy")
	must.EndIf(len(policy) > longestPolicyText,
		fault("PackedPolicyTooLarge", "PackedPolicySize: the session policy has %d characters, and %d are allowed", len(policy), longestPolicyText))
	if policy != "" {
		if _, err := iampolicy.Parse(policy); err != nil {
			return nil, fault("MalformedPolicyDocument", "%s", err)
		}
	}
	role := c.server.cfg.Roles[i]
	s, token := must.Get2(session.New(c.server.cfg.SecretKey, session.Session{
		ARN: "arn:aws:sts::" + c.server.cfg.Account + ":assumed-role/" + role.Name + "/" + name, RolePolicy: role.Policy, Policy: policy,
		Expires: time.Now().UTC().Add(lasts).Truncate(time.Second),
	}))
	return []node{credentialsNode(s, token), assumedRole(s, "AROA"+strings.ToUpper(role.Name), name)}, nil
}

// sessionLength checks a session's name and returns how long it is asked to last.
func (c *call) sessionLength(name string) (time.Duration, error) {
	if !plainSession.MatchString(name) {
		return 0, fault("ValidationError", "Value '%s' at 'roleSessionName' failed to satisfy constraint", name)
	}
	lasts := defaultSession
	if seconds := c.params.number("DurationSeconds"); seconds != 0 {
		lasts = time.Duration(seconds) * time.Second
	}
	if lasts < shortestSession || lasts > longestSession {
		return 0, fault("ValidationError", "The requested DurationSeconds is not between %.0f and %.0f", shortestSession.Seconds(), longestSession.Seconds())
	}
	return lasts, nil
}

func credentialsNode(s session.Session, token string) node {
	return group("Credentials", el("AccessKeyId", s.AccessKey), el("SecretAccessKey", s.SecretKey), el("SessionToken", token),
		el("Expiration", s.Expires.Format(time.RFC3339)))
}

func assumedRole(s session.Session, id, name string) node {
	return group("AssumedRoleUser", el("Arn", s.ARN), el("AssumedRoleId", id+":"+name))
}
