package createform

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/policy"
)

// AddonsFor is the value with the profile for which add-ons were chosen. It is no field.
const AddonsFor = "addonsFor"

// Values is what is filled in, by field. Add-ons are joined by commas; without that key none were chosen yet, so the profile's count.
type Values map[string]string

// Read takes the fields from a function that returns what is typed in one, without surrounding space.
func Read(value func(name string) string) Values {
	v := Values{}
	for _, name := range Names {
		if name != Addons {
			v[name] = strings.TrimSpace(value(name))
		}
	}
	return v
}

// ProposeName returns the values with a name if they have none: the person's own, with characters that follow from the seed.
func (v Values) ProposeName(person, seed string) Values {
	out := Values{}
	maps.Copy(out, v)
	out[Name] = cmp.Or(out[Name], policy.PersonName(person, seed))
	return out
}

// Request converts the values to a request. What cannot be read is in its Wrong.
func (v Values) Request(source policy.Source) app.CreateRequest {
	r := app.CreateRequest{
		Name: v[Name], Profile: v[Profile], Region: v[Region], Version: v[Version], BaseDomain: v[BaseDomain],
		Team: v[Team], Owner: v[Owner], CostCenter: v[CostCenter], Environment: v[Environment], SSHPublicKey: v[SSHPublicKey], Source: source,
	}
	if text := v[TTL]; text != "" {
		ttl, ok := duration.ParseLifetime(text)
		if r.TTL = cmp.Or(ttl, policy.NoEnd); !ok {
			r.TTL, r.Wrong = 0, append(r.Wrong, app.ProblemOf(TTL, messages.NotADuration(text)))
		}
	}
	if picked, given := v[Addons]; given && v[AddonsFor] == v[Profile] {
		names := splitList(picked)
		r.Addons = &names
	}
	if yes, err := strconv.ParseBool(v[OffHours]); err == nil {
		r.OffhoursOptIn = &yes
	}
	var unread []app.Field
	r.ExtraTags, unread = parseTags(v[ExtraTags])
	r.Wrong = append(r.Wrong, unread...)
	return r
}

// parseTags parses lines of Key=value.
func parseTags(text string) (map[string]string, []app.Field) {
	var wrong []app.Field
	out := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		_, again := out[key]
		switch {
		case line == "":
		case !ok || key == "":
			wrong = append(wrong, app.ProblemOf(ExtraTags, messages.Problem{fmt.Sprintf("%q is not a tag", line), []string{"a line such as Purpose=smoke"}}))
		case again:
			wrong = append(wrong, app.ProblemOf(ExtraTags, messages.Problem{key + " is given twice", []string{"each key once"}}))
		default:
			out[key] = value
		}
	}
	if len(out) == 0 {
		return nil, wrong
	}
	return out, wrong
}

// Hash is the SHA-256 of everything that the values request, in hex.
func (v Values) Hash() string {
	h := sha256.New()
	for _, name := range append(slices.Clone(Names), AddonsFor) {
		text := strings.ReplaceAll(v[name], "\r\n", "\n")
		fmt.Fprintf(h, "%s %d %s\n", name, len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// splitList splits values that are joined by commas, each once.
func splitList(joined string) []string {
	out := []string{}
	for one := range strings.SplitSeq(joined, ",") {
		if one = strings.TrimSpace(one); one != "" && !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}
