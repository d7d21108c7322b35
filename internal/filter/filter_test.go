package filter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/filter"
)

var (
	now  = time.Date(2026, 11, 28, 15, 4, 5, 0, time.UTC)
	maya = filter.Reader{Principal: "saml:maya", Name: "maya", Now: now}
)

func day(month time.Month, d int) time.Time { return time.Date(2026, month, d, 0, 0, 0, 0, time.UTC) }

func term(key filter.Key, values ...string) filter.Term {
	t := filter.Term{Key: key}
	for _, v := range values {
		t.Values = append(t.Values, filter.Value{Is: v})
	}
	return t
}

func not(t filter.Term) filter.Term { t.Not = true; return t }

func span(key filter.Key, from, to time.Time) filter.Term {
	return filter.Term{Key: key, Values: []filter.Value{{From: from, To: to}}}
}

func TestAFilterIsReadAsPeopleTypeIt(t *testing.T) {
	mine := filter.Term{Key: filter.Owner, Values: []filter.Value{{Is: "maya", Principal: "saml:maya"}}}
	for text, want := range map[string][]filter.Term{
		"":                                   nil,
		"  \t ":                              nil,
		"owner:me status:ready":              {mine, term(filter.Status, "ready")},
		"mine failed":                        {mine, term(filter.Status, "failed")},
		"OWNER:@Will Team:Payments":          {term(filter.Owner, "Will"), term(filter.Team, "payments")},
		"owner:slack:T1/U2":                  {{Key: filter.Owner, Values: []filter.Value{{Principal: "slack:T1/U2"}}}},
		"owner:me,will":                      {{Key: filter.Owner, Values: []filter.Value{{Is: "maya", Principal: "saml:maya"}, {Is: "will"}}}},
		"status:ready,FAILED,":               {term(filter.Status, "ready", "failed")},
		"-team:a -shop":                      {not(term(filter.Team, "a")), not(term(filter.Word, "shop"))},
		`"ready" "two words"`:                {term(filter.Word, "ready"), term(filter.Word, "two words")},
		`owner:"Maya Lin",will`:              {term(filter.Owner, "Maya Lin", "will")},
		`owner:"Lin, Maya"`:                  {term(filter.Owner, "Lin, Maya")},
		`team:“a b`:                          {term(filter.Team, "a b")},
		"shop#41 pr:#41":                     {term(filter.Word, "shop#41"), term(filter.Pull, "41")},
		"platform:ibm version:4.20":          {term(filter.Platform, "ibmcloud"), term(filter.Version, "4.20")},
		"https://ci.example.com/runs/7":      {term(filter.Run, "https://ci.example.com/runs/7")},
		"source:label,slack repo:ACME/shop":  {term(filter.Source, "label", "slack"), term(filter.Repo, "acme/shop")},
		"ends:<2h":                           {span(filter.Ends, time.Time{}, now.Add(2*time.Hour))},
		"ends:>2h ends:today":                {span(filter.Ends, now.Add(2*time.Hour), time.Time{}), span(filter.Ends, day(11, 28), day(11, 29))},
		"created:<1d ended:>3d":              {span(filter.Created, now.Add(-24*time.Hour), time.Time{}), span(filter.Ended, time.Time{}, now.Add(-72*time.Hour))},
		"ended:yesterday created:2026-11-01": {span(filter.Ended, day(11, 27), day(11, 28)), span(filter.Created, day(11, 1), day(11, 2))},
		":x -":                               {term(filter.Word, ":x")},
	} {
		q, problems := filter.Parse(text, maya)
		require.Empty(t, problems, text)
		require.Equal(t, want, q.Terms, text)
	}
	q, _ := filter.Parse("shop sort:ends", maya)
	require.Equal(t, "ends", q.Order)
}

func TestWhatIsNotUnderstoodSaysWhatWouldBe(t *testing.T) {
	for text, want := range map[string]string{
		"onwer:me":       "There is no filter onwer:. Did you mean owner:me?",
		"-stauts:ready":  "There is no filter stauts:. Did you mean status:ready?",
		"colour:red":     "There is no filter colour:.",
		"status:redy":    `status: does not take "redy". Did you mean status:ready?`,
		"source:phone":   `source: does not take "phone".`,
		"sort:-ends":     `sort: does not take "-ends". Did you mean sort:ends?`,
		"platform:azure": `platform: does not take "azure".`,
		"ends:soon":      `ends: takes a time, but "soon" is not one.`,
		"pr:shop":        `pr: takes the number of a pull request, but "shop" is not one.`,
		"team:":          "team: needs a value.",
		"ends:>9999999h": `ends: takes a time, but ">9999999h" is not one.`,
	} {
		_, problems := filter.Parse("shop "+text, maya)
		require.Len(t, problems, 1, text)
		require.Equal(t, want, problems[0].Text())
		require.Equal(t, text, problems[0].Part)
		require.True(t, text == "team:" || len(problems[0].Accept) > 0, text)
	}
	_, problems := filter.Parse("a:1 b:2 status:ready", maya)
	require.Len(t, problems, 2, "all at once")
	_, problems = filter.Parse(strings.Repeat("x", filter.MaxLength+1), maya)
	require.Contains(t, problems[0].Text(), "501 bytes")
	_, problems = filter.Parse(strings.Repeat("x ", 21), maya)
	require.Contains(t, problems[0].Text(), "21 conditions")
}

func TestAConditionIsReplacedInTheText(t *testing.T) {
	require.Equal(t, "shop team:payments", filter.Set("shop team:a -team:b", filter.Team, "payments"))
	require.Equal(t, "shop", filter.Set("team:a shop", filter.Team, ""))
	require.Equal(t, `shop owner:"Maya Lin"`, filter.Set("shop", filter.Owner, "Maya Lin"))
	require.Equal(t, "Maya Lin", filter.Get(`shop owner:"Maya Lin"`, filter.Owner))
	require.Empty(t, filter.Get("team:a,b", filter.Team))
	require.Empty(t, filter.Get("-team:a", filter.Team))
}

// Whatever is typed, reading it ends, and what was set is read back.
func TestAnyTextIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([-a-z:," “<>#é]|owner:|ends:<|status:){0,12}`).Draw(t, "text")
		filter.Parse(text, maya)
		value := rapid.StringMatching(`[a-z]([a-z ,]{0,6}[a-z])?`).Draw(t, "value")
		set := filter.Set(text, filter.Team, value)
		require.Equal(t, set, filter.Set(set, filter.Team, value))
	})
}
