package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/profiles"
)

// listed names the kinds of value that have an allow-list.
var listed = map[string]string{"version": "Version", "base-domain": "Base domain", "region": "Region"}

// checkListed checks a value against the profile's allow-list. An empty value takes the default.
func checkListed(name, asked string, list profiles.Allowed, p profiles.Profile) Check {
	check := Check{Name: name, Result: Pass, Asked: asked, Accept: strings.Join(list.Allow, ", ")}
	switch {
	case asked == "":
		check.Message = fmt.Sprintf("%s %s, the profile's default.", listed[name], list.Default)
	case list.Has(asked):
		check.Message = fmt.Sprintf("%s %s is on the profile's list.", listed[name], asked)
	default:
		check.Result = Fail
		check.Message = fmt.Sprintf("%s %q is not on the list of profile %s.", listed[name], asked, p.Name)
		check.Next, check.NextSaysAccept = "Choose one of: "+check.Accept+".", true
		if near, ok := closest.Match(asked, list.Allow); ok && name == "region" {
			check.Next = fmt.Sprintf("Did you mean %s? The list: %s.", near, check.Accept)
		}
	}
	return check
}

func oneOf(zones []string) string {
	if len(zones) == 1 {
		return zones[0]
	}
	return "one of " + strings.Join(zones, ", ")
}

// checkTTL checks that the cluster has an end within the profile's maximum. It compares the hours that people type, not a demo's
// scaled hours.
func checkTTL(r Request, p profiles.Profile) Check {
	check := Check{Name: "ttl", Result: Pass, Accept: "above 0, at most " + duration.Format(p.MaxTTL)}
	next := fmt.Sprintf("The longest is %s; the default is %s.", duration.Format(p.MaxTTL), duration.Format(p.DefaultTTL))
	if p.Name == "" { // without a known profile there is no maximum to compare with
		check.Accept, next = "above 0, at most the profile's maximum", "Ask for a lifetime such as 24h, or leave it out."
	}
	switch {
	case r.TTL == 0:
		check.Message = fmt.Sprintf("It lives %s, the profile's default; at most %s with extensions.", duration.Format(p.DefaultTTL), duration.Format(p.MaxTTL))
	case r.TTL < 0:
		check.Result, check.Asked, check.Next = Fail, "no end", next
		check.Message = "Every cluster has an end: a lifetime of 0, below 0 or \"never\" is not given."
	case r.TTL > p.MaxTTL:
		check.Result, check.Asked, check.Next = Fail, tooLong(r.TTL, p.MaxTTL), next
		check.Message = fmt.Sprintf("%s is more than the %s that profile %s allows.", check.Asked, duration.Format(p.MaxTTL), p.Name)
	default:
		check.Asked = duration.Format(r.TTL)
		check.Message = fmt.Sprintf("It lives %s; at most %s with extensions.", duration.Format(r.TTL), duration.Format(p.MaxTTL))
	}
	return check
}

// checkPrice never refuses. It says what the cluster costs and how much of this month's budget the team has left.
func (j judging) checkPrice() Check {
	if !j.priced {
		return Check{Name: "price", Result: Warn, Message: "The price is known once region and lifetime are.", Next: "Put region and lifetime right first."}
	}
	region, _ := j.profile.Region(j.region)
	check := Check{Name: "price", Result: Pass, Asked: price.Dollars(j.price), Message: fmt.Sprintf("About %s an hour and %s until its end, by list prices of %s.",
		price.Dollars(int64(region.HourlyCents)), price.Dollars(j.price), j.profile.PricesAsOf)}
	if spot := (Grant{HourlyCents: region.HourlyCents, OnDemand: region.OnDemand, MaxTries: j.profile.Attempts}).DescribeSpot(); spot != "" {
		check.Message += " " + spot
	}
	if budget := j.team.Budget.MonthlyCents; budget > 0 {
		left := max(0, budget-j.teamSpending())
		check.Have = price.Dollars(j.teamSpending())
		check.Message += fmt.Sprintf(" Before this, team %s has %s of its %s left this month.", j.own.Team, price.Dollars(left), price.Dollars(budget))
	}
	return check
}

// DescribeSpot says what spot machines save and risk; empty: the cluster gets none.
func (g Grant) DescribeSpot() string {
	if g.OnDemand == nil {
		return ""
	}
	return fmt.Sprintf("Its workers are spot machines: that saves about %s an hour, AWS may take them back with two minutes' notice, and the last of %d tries is on demand.",
		price.Dollars(int64(*g.OnDemand-g.HourlyCents)), g.MaxTries)
}

// NameCheck checks the form of a name that a person chose.
func NameCheck(name string) Check { return checkName(Request{Name: name}, "") }

func checkName(r Request, profile string) Check {
	name, _ := nameOf(r, profile)
	check := Check{Name: "name", Result: Pass, Asked: r.Name, Message: fmt.Sprintf("Its name is %s.", name),
		Accept: fmt.Sprintf("up to %d characters: a to z, 0 to 9 and dashes, starting with a letter and not ending with a dash", profiles.MaxName)}
	if len(name) <= profiles.MaxName && profiles.NameForm.MatchString(name) {
		if r.Name == "" && r.Pool != "" && r.Pool != NoPool {
			check.Message = fmt.Sprintf("One from a pool keeps its name; one that is made anew is called %s.", name)
		}
		return check
	}
	check.Result, check.Next, check.NextSaysAccept = Fail, "Use "+check.Accept+".", true
	if r.PR != nil {
		check.Next = "Use " + check.Accept + ", or leave the name out."
	}
	check.Message = fmt.Sprintf("%q cannot be a cluster's name.", name)
	if len(name) > profiles.MaxName {
		check.Message = fmt.Sprintf("The name %q has %d characters; at most %d fit.", name, len(name), profiles.MaxName)
	}
	if name == "" {
		check.Message = "A cluster that comes from no pull request needs a name."
	}
	return check
}

// tooLong writes a duration that is above a maximum, exactly if it would otherwise look like the maximum.
func tooLong(d, most time.Duration) string {
	if text := duration.Format(d); text != duration.Format(most) {
		return text
	}
	return duration.Typed(d)
}
