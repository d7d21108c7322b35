package chatops

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// costs estimates the cost by list price.
func costs(c lifecycle.Card) string {
	switch {
	case c.Status == lifecycle.Destroyed && len(c.Identities) == 0:
		return describeCost(c) + "; " + hourly(c)
	case c.Status == lifecycle.Destroyed:
		return describeCost(c) + ", " + hourly(c)
	case c.Status == lifecycle.Pending:
		return hourly(c)
	case !isWanted(c), isAsleep(c): // what it will cost changes with each minute that it sleeps on
		return strings.Join(texts(hourly(c), describeCost(c)), "; ")
	}
	from := slices.MaxFunc([]time.Time{c.UpdatedAt, c.Meter.Since, c.AcceptedAt}, time.Time.Compare)
	whole := fmt.Sprintf("about %s if it runs until its end", price.Dollars(c.Meter.Total(from, c.End())))
	return strings.Join(texts(hourly(c), describeCost(c), whole), "; ")
}

func hourly(c lifecycle.Card) string {
	text := "about " + price.Dollars(int64(c.HourlyCents)) + " an hour by list price"
	if c.SpotSaves > 0 {
		text += ", " + price.Dollars(int64(c.SpotSaves)) + " less than without spot machines"
	}
	return text
}

// describeCost says what it has cost, or has cost so far; empty: nothing runs yet, or the place is not edited as time passes. While the
// cluster runs, only whole hours since the last change of its rate count, so that the text does not change in between.
func describeCost(c lifecycle.Card) string {
	switch {
	case c.Status == lifecycle.Destroyed && len(c.Identities) == 0:
		return "nothing, because nothing was created"
	case c.Status == lifecycle.Destroyed:
		return fmt.Sprintf("about %s in all", price.Dollars(c.Meter.Spent(c.ReleasedAt)))
	case c.Status == lifecycle.Pending, c.UpdatedAt.IsZero():
		return ""
	}
	until := c.Meter.Since.Add(max(0, c.UpdatedAt.Sub(c.Meter.Since)).Truncate(time.Hour))
	if spent := c.Meter.Spent(until); spent > 0 {
		return fmt.Sprintf("about %s so far, as of %s", price.Dollars(spent), moment(until, life(c)))
	}
	if c.HourlyCents == 0 {
		return "nothing so far"
	}
	return "less than " + price.Dollars(int64(c.HourlyCents)) + " so far"
}
