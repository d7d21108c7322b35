package installer

import (
	"bytes"
	_ "embed" // for failures.yaml
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// The reasons that other packages use. failures.yaml has all of them.
const (
	InvalidInstallConfig = "InvalidInstallConfig"
	DeadlineExceeded     = "DeadlineExceeded"
	InstallFailed        = "InstallFailed"
)

// Class is one reason for a failed install, from failures.yaml, or for a refused change of a resource, from teardown.yaml.
type Class struct {
	Reason    string   `yaml:"reason"`
	Patterns  []string `yaml:"patterns"` // regular expressions; case is ignored
	Exits     []int    `yaml:"exits"`    // exit codes with which the patterns count; empty: any
	Alone     []int    `yaml:"alone"`    // exit codes that mean this reason if no line was recognised
	Whose     string   `yaml:"whose"`    // one of the contract's Whose values
	Message   string   `yaml:"message"`  // what happened
	Next      string   `yaml:"next"`     // what to do about it
	Settings  Settings `yaml:"settings"` // what Next names
	Command   string   `yaml:"command"`  // what whoever Next names runs; only of a refusal
	Retryable bool     `yaml:"retryable"`
	Symptom   bool     `yaml:"symptom"` // says what did not come about, not why
	Zonal     bool     `yaml:"zonal"`   // it is about one zone, which a pattern's group "zone" may name; another zone may not have it
	Passing   bool     `yaml:"passing"` // the installer usually gets past it by itself
	Fatal     string   `yaml:"fatal"`   // why an install that repeats it is stopped; empty: it is not stopped
	Samples   []string `yaml:"samples"` // example lines of this class

	compiled []pattern
}

// Settings are the names in the advice of a class that must exist, so that nobody is sent to a setting that there is not.
type Settings struct {
	Profile   []string `yaml:"profile"`   // fields of a profile
	Server    []string `yaml:"server"`    // settings of the server
	Variables []string `yaml:"variables"` // variables that runner.env may have
	Files     []string `yaml:"files"`     // files and folders of the repository
}

// Failure is why one install failed.
type Failure struct {
	Class
	Line string // what the installer itself said about it; empty: no line was recognised
	Raw  string // the same as it was logged
	Zone string // of a zonal class, which the line names; empty: it names none
}

//go:embed failures.yaml
var failuresYAML []byte

var classes = sync.OnceValue(func() []Class {
	parsed, err := parseClasses(failuresYAML, InvalidInstallConfig, DeadlineExceeded, InstallFailed)
	if err != nil {
		panic(err) // the file is part of the program, and a test parses it
	}
	return parsed
})

// Classes lists every reason for which an install can fail, the most specific first.
func Classes() []Class { return slices.Clone(classes()) }

// matchesLine checks a line, given as it is and in lower case.
func (c Class) matchesLine(line, lower string) bool {
	return slices.ContainsFunc(c.compiled, func(p pattern) bool { return p.mayMatch(lower) && p.MatchString(line) })
}

// zoneIn returns the zone that a line of the class names; empty: it names none.
func (c Class) zoneIn(line string) string {
	for _, p := range c.compiled {
		found := p.FindStringSubmatch(line)
		if i := p.SubexpIndex("zone"); i >= 0 && found != nil && found[i] != "" {
			return found[i]
		}
	}
	return ""
}

func newFailure(c Class, line string) Failure {
	return Failure{Class: c, Line: Message(line), Raw: line, Zone: c.zoneIn(line)}
}

func classWithReason(reason string) Class {
	all := classes()
	return all[slices.IndexFunc(all, func(c Class) bool { return c.Reason == reason })]
}

// parseClasses parses a list of classes and reports everything that is wrong with it. needed are the reasons that it must have.
func parseClasses(raw []byte, needed ...string) ([]Class, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	var list []Class
	if err := decoder.Decode(&list); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("failures: %w", err)
	}
	var problems []error
	seen := map[string]bool{}
	for i := range list {
		c := &list[i]
		for _, problem := range c.compilePatterns() {
			problems = append(problems, fmt.Errorf("failures: entry %d (%s): %s", i+1, c.Reason, problem))
		}
		if seen[c.Reason] {
			problems = append(problems, fmt.Errorf("failures: entry %d: reason %q appears twice", i+1, c.Reason))
		}
		seen[c.Reason] = true
	}
	for _, reason := range needed {
		if !seen[reason] {
			problems = append(problems, fmt.Errorf("failures: reason %s is missing", reason))
		}
	}
	return list, errors.Join(problems...)
}

var plainReason = regexp.MustCompile(`^[A-Z][A-Za-z0-9]+$`)

// compilePatterns prepares a class for use and reports what is wrong with it.
func (c *Class) compilePatterns() (problems []string) {
	say := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	say(!plainReason.MatchString(c.Reason), "reason: must be one word in camel case")
	say(!slices.Contains(whose, c.Whose), "whose: %q must be one of %s", c.Whose, strings.Join(whose, ", "))
	say(c.Message == "" || strings.HasSuffix(c.Message, "."), "message: must say what happened, without a final dot")
	say(c.Next == "" || strings.HasSuffix(c.Next, "."), "next: must say what to do, without a final dot")
	say(c.Fatal != "" && len(c.Patterns) == 0, "fatal: requires patterns")
	for _, name := range slices.Concat(c.Settings.Profile, c.Settings.Server, c.Settings.Variables, c.Settings.Files) {
		say(!strings.Contains(c.Next, name), "settings: next does not name %s", name)
	}
	for _, pattern := range c.Patterns {
		compiled, err := compilePattern("(?i)" + pattern)
		if err != nil {
			say(true, "patterns: %v", err)
			continue
		}
		c.compiled = append(c.compiled, compiled)
		say(compiled.SubexpIndex("zone") >= 0 && !c.Zonal, "zonal: must be true, because a pattern names a zone")
		say(!slices.ContainsFunc(c.Samples, compiled.MatchString), "samples: no sample for the pattern %q", pattern)
	}
	for _, sample := range c.Samples {
		say(!c.matchesLine(sample, strings.ToLower(sample)), "samples: no pattern matches %q", sample)
	}
	return problems
}

var whose = []string{contract.WhoseUser, contract.WhoseQuota, contract.WhoseCloud, contract.WhoseInstaller, contract.WhoseOurs}

var logged = regexp.MustCompile(`^time="[^"]*" level=\w+ msg=("(?:[^"\\]|\\.)*")`)

var beginning = regexp.MustCompile(`^(?:time="[^"]*" )?level=\w+ msg="?|^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d `) // ccoctl's lines begin with the date

// Message extracts a line's message, without time, level and quotes, and short enough for people.
func Message(line string) string {
	if found := logged.FindStringSubmatch(line); found != nil {
		if plain, err := strconv.Unquote(found[1]); err == nil {
			return toReadable(plain)
		}
	}
	return toReadable(line[len(beginning.FindString(line)):])
}
