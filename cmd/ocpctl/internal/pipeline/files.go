package pipeline

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// The files that the runner reads when the step has ended, whatever its result.
const (
	outputFile  = "GITHUB_OUTPUT"
	envFile     = "GITHUB_ENV"
	pathFile    = "GITHUB_PATH"
	summaryFile = "GITHUB_STEP_SUMMARY"
)

// mostSummary is the runner's limit for the summary of one step.
const mostSummary = 1 << 20

// The forms of a name of an output and of a variable.
var (
	output   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Output sets an output of the step.
func (r *Runner) Output(name, value string) error { return r.setValue(outputFile, output, name, value) }

// Export sets an environment variable of the job's next steps.
func (r *Runner) Export(name, value string) error { return r.setValue(envFile, variable, name, value) }

// AddPath puts a folder before the others on the PATH of the job's next steps.
func (r *Runner) AddPath(folder string) error {
	if strings.ContainsAny(folder, "\r\n") {
		return errors.New("add to PATH: the folder's name contains a line end")
	}
	return r.appendFile(pathFile, folder+"\n")
}

// Summary adds Markdown to the job's summary.
func (r *Runner) Summary(markdown string) error {
	if len(markdown) > mostSummary {
		return fmt.Errorf("write the job summary: it has %d bytes, and at most %d are shown", len(markdown), mostSummary)
	}
	return r.appendFile(summaryFile, markdown)
}

// setValue adds a name and a value of any number of lines. The line that ends the value is random, so no value can contain it and set more.
func (r *Runner) setValue(file string, form *regexp.Regexp, name, value string) error {
	if !form.MatchString(name) {
		return fmt.Errorf("write %s: %q is not a valid name", file, name)
	}
	end := "ocpctl_" + rand.Text()
	if strings.Contains(value, end) {
		return fmt.Errorf("write %s: the value of %s contains its own end", file, name)
	}
	return r.appendFile(file, name+"<<"+end+"\n"+value+"\n"+end+"\n")
}

func (r *Runner) appendFile(file, text string) error {
	path := r.env(file)
	if path == "" {
		return fmt.Errorf("%s is not set: this command is run by a step of GitHub Actions", file)
	}
	into, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	_, err = into.WriteString(text)
	if err = errors.Join(err, into.Close()); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
