package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/strict"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// CreateRequest is a request for a cluster as an entry point read it: from POST /api/v1/clusters, the form or a file. Empty fields
// take the profile's default.
type CreateRequest struct {
	Name, Platform, Version, Profile, Region, BaseDomain, Pool, Account string
	Anew                                                                string // its name if Name is empty and none of a pool is taken; empty: with Pool, one is made
	Owner, Team, CostCenter, Environment                                string
	TTL                                                                 time.Duration // zero: the profile's default; policy.NoEnd and whatever is below 0 are refused, because every cluster has an end
	SSHPublicKey                                                        string
	ExtraTags                                                           map[string]string
	OffhoursOptIn                                                       *bool       // it sleeps outside working hours; nil: as the profile says
	Addons                                                              *[]string   // names; nil: the profile's default
	Run                                                                 *RunRequest // how it belongs to the run of the requester's token; nil: it ends with that, if there is one

	Show  *clusters.SlackPlace                               // where in Slack the cluster is shown; nil: nowhere
	Key   string                                             // two requests of one principal with one key are the same; empty: this one cannot come twice
	Again Again                                              // in place of which cluster it is requested; zero: of none
	Say   func(policy.Verdict, clusters.Row) *clusters.Reply // the answer that is saved with the result, accepted (with the cluster) or refused; nil: the caller answers

	Explain bool // a dry run's verdict has the rules that do not apply, too

	pull *clusters.PRRef // the pull request that the cluster is for; nil: none, or that of the run

	Wrong  []Field       // what could not be read
	Source policy.Source // the entry point
	Once   *store.Once   // for a request that may be sent again and then has the same result; nil: it cannot
}

// mostHours keeps every lifetime far below the longest time.Duration; policy's maximum is lower still.
const mostHours = 100_000

// ReadCreateRequest reads a request in JSON or YAML strictly. Wrong then names what is wrong field by field, up to mostProblems
// and with the number of the others; the rest is what could be read, so that it can still be judged.
func ReadCreateRequest(body io.Reader) (r CreateRequest) {
	r.Wrong = r.readFrom(body)
	return r
}

func (r *CreateRequest) readFrom(body io.Reader) []Field {
	root, err := strict.Read(body)
	var syntax *strict.SyntaxError
	switch {
	case errors.Is(err, strict.ErrEmpty):
		return []Field{ProblemOf(wholeRequest, messages.Problem{"It is empty.", requestFields()})}
	case errors.As(err, &syntax):
		return []Field{ProblemOf(wholeRequest, messages.Problem{"It cannot be read: " + strings.TrimPrefix(err.Error(), "yaml: ") + ".", []string{"one JSON or YAML object"}})}
	case err != nil, root.Kind != yaml.MappingNode:
		return []Field{ProblemOf(wholeRequest, messages.Problem{"It is not a single object.", requestFields()})}
	}
	return r.readDocument(root)
}

// wholeRequest is the field name for a request that cannot be read at all.
const wholeRequest = "request"

// textFields are the request's string fields, by name.
func (r *CreateRequest) textFields() map[string]*string {
	return map[string]*string{
		"name": &r.Name, "platform": &r.Platform, "version": &r.Version, "profile": &r.Profile, "region": &r.Region, "baseDomain": &r.BaseDomain,
		"owner": &r.Owner, "team": &r.Team, "costCenter": &r.CostCenter, "environment": &r.Environment, "pool": &r.Pool, "account": &r.Account, "sshPublicKey": &r.SSHPublicKey,
	}
}

func requestFields() []string {
	names := append(slices.Collect(maps.Keys((&CreateRequest{}).textFields())), "ttl", "ttlHours", "extraTags", "addons", "offhoursOptIn", "run")
	slices.Sort(names)
	return names
}

func (r *CreateRequest) readDocument(root *yaml.Node) []Field {
	texts, known := r.textFields(), requestFields()
	var wrong problems
	refuse := func(name string, p messages.Problem) {
		wrong.addProblem(func() Field { return ProblemOf(name, p) })
	}
	members := strict.Members(root, known)
	for i, m := range members {
		name, value := m.Name, m.Value
		into, isText := texts[name]
		switch {
		case m.Fault == strict.Twice:
			refuse(name, messages.GivenTwice)
		case m.Fault == strict.Unknown:
			wrong.addProblem(func() Field { return ProblemOf(name, messages.UnknownField(m.Near, known)) })
		case isText && !strict.IsString(value):
			refuse(name, messages.NotAString(asWritten(value)))
		case isText:
			*into = value.Value
		case name == "ttlHours" && strict.Has(members[:i], "ttl"), name == "ttl" && strict.Has(members[:i], "ttlHours"):
			refuse(name, messages.Problem{"The lifetime is given twice.", []string{"ttl or ttlHours, one of them"}})
		case name == "ttlHours":
			hours, err := strconv.Atoi(value.Value)
			if err != nil || value.ShortTag() != "!!int" || hours > mostHours || hours < -mostHours {
				refuse(name, messages.NotHours(asWritten(value)))
				break
			}
			r.TTL = cmp.Or(time.Duration(hours)*time.Hour, policy.NoEnd)
		case name == "ttl":
			ttl, ok := duration.ParseLifetime(value.Value)
			if whole := value.ShortTag() == "!!int"; !ok || !whole && !strict.IsString(value) || ttl.Abs() > mostHours*time.Hour {
				refuse(name, messages.NotADuration(value.Value))
				break
			}
			r.TTL = cmp.Or(ttl, policy.NoEnd)
		case name == "extraTags":
			r.readTags(value, refuse)
		case name == "addons":
			r.readAddons(value, refuse)
		case name == "run":
			r.readRun(value, refuse)
		case name == "offhoursOptIn":
			var yes bool
			if err := value.Decode(&yes); err != nil || value.ShortTag() != "!!bool" {
				refuse(name, messages.NotABoolean(asWritten(value)))
				break
			}
			r.OffhoursOptIn = &yes
		}
	}
	return wrong.listProblems()
}

func (r *CreateRequest) readTags(n *yaml.Node, refuse func(name string, p messages.Problem)) {
	if n.Kind != yaml.MappingNode {
		refuse("extraTags", messages.NotAnObject(asWritten(n)))
		return
	}
	r.ExtraTags = map[string]string{}
	for _, m := range strict.Members(n, nil) {
		switch {
		case m.Fault != "":
			refuse("extraTags."+m.Name, messages.GivenTwice)
		case !strict.IsString(m.Value):
			refuse("extraTags."+m.Name, messages.NotAString(asWritten(m.Value)))
		default:
			r.ExtraTags[m.Name] = m.Value.Value
		}
	}
}

func (r *CreateRequest) readAddons(n *yaml.Node, refuse func(name string, p messages.Problem)) {
	if n.Kind != yaml.SequenceNode || slices.ContainsFunc(n.Content, func(one *yaml.Node) bool { return !strict.IsString(one) }) {
		refuse("addons", messages.NotAList(asWritten(n)))
		return
	}
	names := make([]string, 0, len(n.Content))
	for _, one := range n.Content {
		if slices.Contains(names, one.Value) {
			refuse("addons", messages.GivenTwice)
			return
		}
		names = append(names, one.Value)
	}
	r.Addons = &names
}

// asWritten shows a short refused value, so that people see that 4.20 is a number.
func asWritten(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Value == "" || len(n.Value) > 40 {
		return ""
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return strconv.Quote(n.Value)
	}
	return n.Value
}

// isAbbreviated reports whether a key is abbreviated, as in documentation. No machine would accept it.
func isAbbreviated(key string) bool {
	key = strings.TrimSpace(key)
	return strings.HasPrefix(key, "ssh-") && (strings.HasSuffix(key, "...") || strings.HasSuffix(key, "…"))
}

// The most bytes of a text in a request. What is judged is stored, refused or not, and repeated in every message about it.
const (
	mostText    = 500
	mostKeyText = 16 << 10
)

// dropTooLong removes values that are too long to be valid, and reports them.
func (r CreateRequest) dropTooLong() (CreateRequest, []Field) {
	var wrong []Field
	texts := r.textFields()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		most := mostText
		if name == "sshPublicKey" {
			most = mostKeyText
		}
		if text := texts[name]; len(*text) > most {
			wrong = append(wrong, ProblemOf(name, messages.TooLong(len(*text), most)))
			*text = ""
		}
	}
	if n := len(r.ExtraTags); n > profiles.MaxTags {
		wrong = append(wrong, ProblemOf("extraTags", messages.Problem{fmt.Sprintf("There are %d.", n), []string{fmt.Sprintf("at most %d", profiles.MaxTags)}}))
		r.ExtraTags = nil
	}
	if r.Addons != nil && (len(*r.Addons) > profiles.MostAddons || slices.ContainsFunc(*r.Addons, func(name string) bool { return len(name) > mostText })) {
		wrong = append(wrong, ProblemOf("addons", messages.Problem{fmt.Sprintf("There are %d, or one of their names is too long.", len(*r.Addons)), []string{fmt.Sprintf("at most %d names", profiles.MostAddons)}}))
		r.Addons = nil
	}
	for _, key := range slices.Sorted(maps.Keys(r.ExtraTags)) {
		if value := r.ExtraTags[key]; len(key) > mostText || len(value) > mostText {
			wrong = append(wrong, ProblemOf("extraTags", messages.Problem{fmt.Sprintf("One of them has %d bytes.", len(key)+len(value)), []string{"keys of at most 128 characters, values of at most 256"}}))
			r.ExtraTags = maps.Clone(r.ExtraTags)
			delete(r.ExtraTags, key)
		}
	}
	return r, wrong
}

// checkFields reports what policy does not check, or only in another entry point's terms.
func (r CreateRequest) checkFields(p profiles.Profile, known bool, own policy.Ownership) (wrong []Field) {
	if known && r.Platform != "" && r.Platform != p.Platform {
		wrong = append(wrong, ProblemOf("platform", messages.Problem{fmt.Sprintf("Profile %s is not on %q.", p.Name, r.Platform), []string{p.Platform}}))
	}
	for _, f := range []struct{ name, text, value string }{
		{"owner", "owner", own.Owner}, {"team", "team", own.Team}, {"costCenter", "cost center", own.CostCenter}, {"environment", "environment", own.Environment},
	} {
		switch problem := profiles.TagValueProblem(f.value); {
		case f.value == "":
			wrong = append(wrong, ProblemOf(f.name, messages.MissingOwnership(f.text)))
		case problem != "":
			wrong = append(wrong, ProblemOf(f.name, messages.NotATag(f.value, problem)))
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(r.SSHPublicKey), "\n") {
		if line != "" && !isAbbreviated(line) && !profiles.SSHKey(line) {
			wrong = append(wrong, ProblemOf("sshPublicKey", messages.Problem{"This is not a public key in OpenSSH's format.", []string{`"ssh-ed25519 AAAAC3… comment", as it stands in a .pub file`}}))
			break
		}
	}
	return wrong
}

// fillFromPerson takes the environment from the tag of that name, which people may not set but may well mean; the team from the owner,
// if the caller may create for it; and the profile names that other documents use.
func (r CreateRequest) fillFromPerson(who policy.Principal, c profiles.Catalogue) (CreateRequest, []Field) {
	var wrong []Field
	if tag, given := r.ExtraTags["Environment"]; given {
		if r.Environment != "" && r.Environment != tag {
			wrong = append(wrong, ProblemOf("extraTags.Environment", messages.Problem{fmt.Sprintf("It is %q, but environment is %q.", tag, r.Environment), []string{"environment alone"}}))
		}
		r.Environment, r.ExtraTags = tag, maps.Clone(r.ExtraTags)
		delete(r.ExtraTags, "Environment")
	}
	if r.Team == "" {
		r.Team = teamOf(r, who, c)
	}
	r.Profile = profileAlias(r.Profile, c)
	return r, wrong
}

// teamOf is the caller's only team, or the owner if that names one of several.
func teamOf(r CreateRequest, who policy.Principal, c profiles.Catalogue) string {
	teams, every := who.Teams(policy.RolesFor(policy.ActCreate)...)
	if !every && len(teams) == 1 {
		return teams[0]
	}
	owner := r.Owner
	if owner == "" {
		owner = who.Name
	}
	if _, known, declared := c.Team(owner); slices.Contains(teams, owner) || every && (known || !declared) {
		return owner
	}
	return ""
}

// profileAlias maps ibmcloud-… to ibm-…, if the catalogue has that.
func profileAlias(name string, c profiles.Catalogue) string {
	rest, other := strings.CutPrefix(name, "ibmcloud-")
	if _, known := c.Get(name); known || !other {
		return name
	}
	if _, known := c.Get("ibm-" + rest); known {
		return "ibm-" + rest
	}
	return name
}

// policyRequest returns the request as policy judges it.
func (r CreateRequest) policyRequest(who policy.Principal) policy.Request {
	w := policy.Request{
		Principal: who, Source: r.Source, Profile: r.Profile, Generation: 1, Name: r.Name, Region: r.Region, Version: r.Version, BaseDomain: r.BaseDomain,
		Team: r.Team, Owner: r.Owner, CostCenter: r.CostCenter, Environment: r.Environment, Tags: r.ExtraTags, Addons: r.Addons, OffHours: r.OffhoursOptIn, TTL: r.TTL, Pool: r.Pool, Account: r.Account, Anew: r.Anew,
	}
	if r.Name == "" && r.Anew == "" && r.Pool != "" && r.Pool != policy.NoPool && !r.OfPull() {
		w.Anew = policy.PersonName(who.Name, cmp.Or(r.Key, "a cluster made anew")) // without a key nothing is stored
	}
	return w
}
