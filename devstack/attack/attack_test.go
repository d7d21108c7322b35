package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func TestEveryAttackIsNamedAfterItsSideAndSaysWhatIsTried(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sides() {
		require.NotEmpty(t, s.attacks, s.name)
		for _, a := range s.attacks {
			require.Regexp(t, regexp.MustCompile(`^[a-z]+/[a-z0-9-]+$`), a.name)
			require.False(t, seen[a.name], "%s is there twice", a.name)
			require.NotEmpty(t, a.who, a.name)
			require.NotEmpty(t, a.tried, a.name)
			require.NotNil(t, a.play, a.name)
			seen[a.name] = true
		}
	}
	require.Len(t, Names(), len(seen))
}

func TestTheShortFormHasAttacksOfEverySide(t *testing.T) {
	short := map[string]int{}
	for _, s := range (Config{Short: true}).wanted() {
		short[s.name] = len(s.attacks)
	}
	for _, s := range sides() {
		require.Positive(t, short[s.name], s.name)
	}
}

func TestOnlyWhatIsAskedForIsPlayed(t *testing.T) {
	wanted := Config{Only: "runner/record-"}.wanted()
	require.Len(t, wanted, 1)
	for _, a := range wanted[0].attacks {
		require.True(t, strings.HasPrefix(a.name, "runner/record-"), a.name)
	}
	require.ErrorContains(t, Run(t.Context(), Config{Only: "nobody/"}), `no attack is named "nobody/"`)
}

func TestAnAttackGotThroughThatBrokeARule(t *testing.T) {
	breaks := func() (err error) {
		defer must.Catch(&err)
		throughIf(true, "%d clusters", 2)
		return nil
	}
	for name, play := range map[string]func(context.Context, *target) (result, error){
		"in the play":         func(context.Context, *target) (result, error) { throughIf(true, "%d clusters", 2); return held("none") },
		"in what it calls":    func(context.Context, *target) (result, error) { must.Do(breaks()); return held("none") },
		"as its result":       func(context.Context, *target) (result, error) { return through("2 clusters") },
		"in a returned error": func(context.Context, *target) (result, error) { return result{}, fmt.Errorf("it: %w", breaks()) },
	} {
		got, err := attack{play: play}.try(t.Context(), nil)
		require.NoError(t, err, name)
		require.Equal(t, result{through: true, evidence: "2 clusters"}, got, name)
	}
}

func TestARunIsGoodOnlyIfEveryAttackWasHeld(t *testing.T) {
	one := func(name string, through bool, err error) outcome {
		return outcome{attack: attack{name: name, who: "who", tried: "tried"}, result: result{through: through, evidence: "what\nwas seen"}, err: err}
	}
	for name, c := range map[string]struct {
		outcomes []outcome
		says     string // the error; empty: none
		shows    string
	}{
		"all held":    {[]outcome{one("a/held", false, nil)}, "", "│ held"},
		"one through": {[]outcome{one("a/held", false, nil), one("a/through", true, nil)}, "1 of 2 attacks got through: a/through", "│ GOT THROUGH"},
		"one broken":  {[]outcome{one("a/held", false, nil), one("a/broken", false, errors.New("no demo"))}, "1 of 2 attacks could not be played: a/broken", "no demo"},
		"broken counts as no success of the attack": {[]outcome{one("a/broken", true, errors.New("no demo"))}, "could not be played", "│ BROKEN"},
		"none": {nil, "no attack was played", "0 attacks"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := report(&out, c.outcomes, 0, 0)
			if c.says == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.says)
			}
			require.Contains(t, out.String(), c.shows)
			require.NotContains(t, out.String(), "what\n", "evidence is one line")
		})
	}
}

// The eyes of the attacks: what they do not see got through unnoticed.
func TestLiveMarkupIsSeen(t *testing.T) {
	for body, live := range map[string]bool{
		"`https://evil.example/x` is no profile": false, "```\n@acme/everybody\n```": false, "``x`@acme/everybody``": false, "evil&#46;example": false,
		"No profile is called \"https://evil.example/x\".": true, "@acme/everybody": true, "`a` [x](https://evil.example)": true, "see acme/shop#1": true,
		"`unclosed\n\nwww.evil.example`": true, "<img src=x>": true,
	} {
		require.Equal(t, live, liveMarkdown(body) != "", body)
	}
	for page, live := range map[string]bool{
		"<td>&lt;img src=x onerror=alert(1)&gt;</td>": false, `<a href="/clusters/1">`: false,
		"<td>" + element + "</td>": true, `<input value="` + attribute: true, `<a href="javascript:alert(1)">`: true, `<a href="https://evil.example">`: true,
	} {
		require.Equal(t, live, liveHTML(page) != "", page)
	}
}

func TestAnAddressThatLeadsAwayIsSeen(t *testing.T) {
	for location, away := range map[string]bool{
		"/": false, "/clusters/1?x=//y": false, "": false,
		"https://evil.example": true, "//evil.example": true, `/\evil.example`: true, "\t//evil.example": true, "/\t/evil.example": true, "javascript:alert(1)": true,
	} {
		require.Equal(t, away, leadsAway(location), "%q", location)
	}
}

func TestACookieThatIsNotThisHostsAloneIsSeen(t *testing.T) {
	for set, good := range map[string]bool{
		"__Host-ocpctl_session=x; Path=/; HttpOnly; Secure; SameSite=Lax":           true,
		"__Host-ocpctl_said=x; Path=/; HttpOnly; Secure; SameSite=Strict":           true,
		"ocpctl_session=x; Path=/; HttpOnly; Secure; SameSite=Lax":                  false,
		"__Host-ocpctl_session=x; Path=/clusters; HttpOnly; Secure; SameSite=Lax":   false,
		"__Host-ocpctl_session=x; Path=/; Secure; SameSite=Lax":                     false,
		"__Host-ocpctl_session=x; Path=/; HttpOnly; SameSite=Lax":                   false,
		"__Host-ocpctl_session=x; Path=/; Domain=a; HttpOnly; Secure; SameSite=Lax": false,
		"__Host-ocpctl_session=x; Path=/; HttpOnly; Secure; SameSite=None":          false,
	} {
		require.Equal(t, good, cookieIn(set) == "", set)
	}
}
