package policy

import (
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/profiles"
)

// working are terms with one profile, aws-standard, with these lines more.
func working(t *testing.T, more string) Terms {
	t.Helper()
	body, err := os.ReadFile("../profiles/catalogue/profiles/aws-standard.yaml")
	require.NoError(t, err)
	c, err := profiles.Load(fstest.MapFS{"profiles/aws-standard.yaml": {Data: append(body, []byte(more)...)}})
	require.NoError(t, err)
	out := terms(t)
	out.Catalogue, out.Now = c, time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC) // a Thursday
	return out
}

const officeHours = "workHours: {timeZone: UTC, hours: [\"Mon-Fri 07:00-19:00\"]}\n"

func TestAClusterSleepsOutsideWorkingHoursAsTheProfileOrTheRequestSays(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name    string
		asked   *bool
		profile string
		sleeps  bool
		fails   bool
		says    string
	}{
		{"nobody asks", nil, "", false, false, ""},
		{"the profile's default", nil, "offHours: {default: true}\n", true, false, "It sleeps outside working hours, Mon-Fri 07:00-19:00 (UTC). By list prices that saves up to $7.29 of $35.52."},
		{"the request's wish", &yes, "", true, false, "By list prices that saves up to "},
		{"the request's other wish", &no, "offHours: {default: true}\n", false, false, "It is awake outside working hours, too"},
		{"a profile that insists", &no, "offHours: {required: true}\n", false, true, "sleeps outside working hours, Mon-Fri"},
	} {
		r := validRequest()
		r.Profile, r.OffHours, r.TTL = "aws-standard", c.asked, 24*time.Hour
		v := Evaluate(r, Usage{}, working(t, officeHours+c.profile), Settings{})
		require.Equal(t, !c.fails, v.Allowed, "%s: %v", c.name, v.Refusals())
		require.Equal(t, c.sleeps, v.Grant.OffHours, c.name)
		if c.says != "" {
			require.Contains(t, find(t, v, "off-hours").Message, c.says, c.name)
		}
	}
}

func TestSleepOutsideWorkingHoursNeedsHoursAndAWayToSleep(t *testing.T) {
	yes := true
	r := validRequest()
	r.Profile, r.OffHours = "aws-standard", &yes
	for says, more := range map[string]string{"says when people work": "", "cannot sleep": officeHours + "sleep: {mode: never}\n"} {
		check := find(t, Evaluate(r, Usage{}, working(t, more), Settings{}), "off-hours")
		require.Equal(t, []any{Fail, "false"}, []any{check.Result, check.Accept})
		require.Contains(t, check.Message, says)
		require.NotEmpty(t, check.Next)
	}
}

func TestARepositorysFileChoosesForRequestsThatDoNot(t *testing.T) {
	yes, no := true, false
	const file = ".github/ocpctl.yaml of acme/shop"
	for _, c := range []struct {
		name          string
		asked, inFile *bool
		profile       string
		sleeps        bool
		refused, says string
	}{
		{"the file's choice", nil, &yes, officeHours, true, "", "It sleeps outside working hours, Mon-Fri"},
		{"the file against the profile's default", nil, &no, officeHours + "offHours: {default: true}\n", false, "", "It is awake outside working hours, too, as " + file + " says."},
		{"the request against the file", &no, &yes, officeHours, false, "", "too, as the request says."},
		{"a file that says nothing", nil, nil, officeHours + "offHours: {default: true}\n", true, "", "It sleeps outside working hours, Mon-Fri"},
		{"a file against a profile that insists", nil, &no, officeHours + "offHours: {required: true}\n", false, "true", "sleeps outside working hours, Mon-Fri"},
		{"a file without working hours", nil, &yes, "", true, "false", "says when people work"},
		{"a file for clusters that cannot sleep", nil, &yes, officeHours + "sleep: {mode: never}\n", true, "false", "cannot sleep"},
	} {
		r := withFile(profiles.RepositoryFile{OffHours: c.inFile})
		r.Profile, r.OffHours, r.TTL = "aws-standard", c.asked, 24*time.Hour
		v := Evaluate(r, Usage{}, working(t, c.profile), Settings{})
		check := find(t, v, "off-hours")
		require.Contains(t, check.Message, c.says, c.name)
		require.Equal(t, c.refused, check.Accept, c.name)
		if c.refused != "" {
			require.False(t, v.Allowed, c.name)
			require.Contains(t, check.Next, "take offHours out of .github/ocpctl.yaml on the base branch", c.name)
			continue
		}
		require.True(t, v.Allowed, "%s: %v", c.name, v.Refusals())
		require.Equal(t, c.sleeps, v.Grant.OffHours, c.name)
	}
}
