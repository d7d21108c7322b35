package profiles

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatTheCatalogueHasNoUseForIsToldAtItsPlace(t *testing.T) {
	c := catalogue(t).Without(map[string]string{"ibmcloud": "off"})
	const could = "aws-minimal-test, aws-standard"
	for name, example := range map[string]struct{ file, want string }{
		"nothing said":          {"", ""},
		"what can be had":       {"defaultProfile: aws-standard\nprofiles: [aws-*]\nttl: 4h\n", ""},
		"a default misspelt":    {"ttl: 4h\ndefaultProfile: aws-standart\n", `2:17: defaultProfile: "aws-standart", which matches no profile of the catalogue; accepted: aws-standard (closest match); one of ` + could},
		"one that is disabled":  {"profiles: [aws-*, ibm-standard]\n", `1:19: profiles[1]: "ibm-standard", which is disabled; accepted: ` + could},
		"one for admins":        {"profiles:\n- aws-standard\n- aws-minimal-mint\n", `3:3: profiles[1]: "aws-minimal-mint", which only platform admins may have; accepted: ` + could},
		"a glob that fits none": {"profiles: [gcp-*]\n", `1:12: profiles[0]: "gcp-*", which matches no profile of the catalogue; accepted: ` + could},
		"a lifetime that is cut": {"ttl: 700h\nprofiles: [aws-minimal-*]\n",
			`1:6: ttl: 700h, which is limited to the maximum of aws-minimal-test; accepted: at most ` + maxHours(t, "aws-minimal-test")},
		"a file nobody can read": {"ttl: never\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			doubts := c.Doubts([]byte(example.file))
			require.Equal(t, example.want, strings.ReplaceAll(doubts.Error(), RepositoryFilePath+":", ""))
		})
	}
}

func maxHours(t *testing.T, profile string) string {
	t.Helper()
	return strings.TrimSuffix(get(t, profile).MaxTTL.String(), "0m0s")
}

func TestAChoiceAboutOffHoursThatAProfileDoesNotAllowIsDoubted(t *testing.T) {
	c := catalogue(t)
	for i := range c.profiles {
		switch p := &c.profiles[i]; p.Name {
		case "aws-standard":
			p.OffHours.Required = true
		case "aws-minimal-test":
			p.Sleep = SleepNever
		}
	}
	for file, want := range map[string]string{
		"offHours: true\n":                             RepositoryFilePath + ":1:11: offHours: true, and clusters of aws-minimal-test cannot sleep; accepted: profiles whose clusters can sleep, or no offHours",
		"offHours: false\n":                            RepositoryFilePath + ":1:11: offHours: false, and every cluster of aws-standard sleeps outside working hours; accepted: true, or no offHours",
		"offHours: true\nprofiles: [aws-standard]\n":   "",
		"offHours: false\nprofiles: [aws-minimal-*]\n": "",
		"ttl: 4h\n": "",
	} {
		require.Equal(t, want, c.Doubts([]byte(file)).Error(), file)
	}
}
