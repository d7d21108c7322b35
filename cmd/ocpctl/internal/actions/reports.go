package actions

import (
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/junit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/kube"
)

// mostReports limits the size of all reports together.
const mostReports = 50 << 20

// findReports returns the files that the input names.
func (s *step) findReports() (files []string) {
	patterns := s.Lines("files")
	if len(patterns) == 0 {
		s.Wrong("files", "Required.", "paths of JUnit XML files, one on each line, e.g. build/**/TEST-*.xml")
	}
	for _, pattern := range patterns {
		found, err := findFiles(pattern)
		if err != nil {
			s.Wrong("files", fmt.Sprintf("%q is not a pattern: %v.", pattern, err))
		}
		for _, file := range found {
			files = append(files, filepath.Clean(file))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// findFiles returns the files for a pattern, in which ** stands for any number of folders.
func findFiles(pattern string) (files []string, err error) {
	root, rest, deep := strings.Cut(filepath.ToSlash(pattern), "**")
	if !deep {
		return filepath.Glob(pattern)
	}
	rest = strings.TrimPrefix(rest, "/")
	if _, err := path.Match(rest, ""); err != nil || strings.Contains(rest, "**") {
		return nil, errors.Join(err, errors.New("it may contain ** once"))
	}
	parts := strings.Count(rest, "/") + 1
	if root == "" {
		root = "."
	}
	err = filepath.WalkDir(filepath.Clean(root), func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
		names := strings.Split(filepath.ToSlash(file), "/")
		if is, _ := path.Match(rest, strings.Join(names[max(0, len(names)-parts):], "/")); is {
			files = append(files, file)
		}
		return nil
	})
	return files, err
}

// readReports sums up the files.
func readReports(files []string) (sum junit.Summary, err error) {
	left := int64(mostReports)
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return sum, err
		}
		bounded := &io.LimitedReader{R: file, N: left + 1}
		err = errors.Join(sum.Read(bounded), file.Close())
		if bounded.N == 0 {
			return sum, exit.With(exit.Usage, fmt.Errorf("the test reports are larger than %d MiB together. Report them in several steps, or without the tests' output", mostReports>>20))
		}
		if err != nil {
			return sum, exit.With(exit.Usage, fmt.Errorf("%s cannot be read as a JUnit report: %w", name, err))
		}
		left = bounded.N - 1
	}
	return sum, nil
}

// leastSecret is the length from which a secret is looked for in a text: a shorter one could be any word.
const leastSecret = 8

// hideSecrets removes from a summary's texts the secrets that this job is known to have. Unlike the log, a test report is not masked by the
// runner.
func (s *step) hideSecrets(sum *junit.Summary) {
	secrets := s.jobSecrets()
	hidden := func(texts ...*string) {
		for _, text := range texts {
			for _, secret := range secrets {
				*text = removeSecret(*text, secret)
			}
		}
	}
	for _, list := range [][]junit.Failure{sum.Failures, sum.Crashes, sum.FlakyTests} {
		for i := range list {
			f := &list[i]
			hidden(&f.Suite, &f.Name, &f.Message, &f.Details)
		}
	}
	for i := range sum.Slowest {
		hidden(&sum.Slowest[i].Suite, &sum.Slowest[i].Name)
	}
}

// jobSecrets returns the secrets in the job's environment and in its kubeconfigs.
func (s *step) jobSecrets() (secrets []string) {
	for _, name := range []string{"ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_RUNTIME_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "OCPCTL_TOKEN"} {
		secrets = append(secrets, s.Env(name))
	}
	for _, file := range filepath.SplitList(s.Env("KUBECONFIG")) {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it is gone, and a report does not depend on it
		}
		if found, err := kube.Secrets(raw); err == nil {
			secrets = append(secrets, found...)
		}
	}
	return secrets
}

func removeSecret(text, secret string) string {
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= leastSecret && !strings.HasPrefix(line, "-----") {
			text = strings.ReplaceAll(text, line, "***")
		}
	}
	return text
}

// testSummary shows the tests in the job's summary.
func testSummary(sum junit.Summary, address string) string {
	sh := newSheet(countTests(sum))
	if address != "" {
		fmt.Fprintf(&sh.b, "%s\n\n", formatLink(address))
	}
	for _, f := range sum.Crashes {
		fmt.Fprintf(&sh.b, "**%s**: %s\n\n", escapeMarkdown(f.Name), escapeMarkdown(f.Message))
	}
	for _, f := range sum.FlakyTests {
		fmt.Fprintf(&sh.b, "- flaky, failed and then passed: %s\n", escapeMarkdown(testCaption(f.Suite, f.Name)+": "+shortenText(f.Message, mostMessage)))
	}
	if sum.Flaky > 0 {
		sh.b.WriteString("\n")
	}
	for _, f := range sum.Failures {
		title := humanize.Line(testCaption(f.Suite, f.Name) + ": " + shortenText(f.Message, mostMessage))
		fmt.Fprintf(&sh.b, "<details><summary>%s</summary>\n\n<pre>%s</pre>\n</details>\n\n", html.EscapeString(title), html.EscapeString(shortenText(humanize.Clean(f.Details), mostDetails)))
	}
	if left := sum.Failed - len(sum.Failures); left > 0 {
		fmt.Fprintf(&sh.b, "%d more failed.\n\n", left)
	}
	if len(sum.Slowest) > 0 {
		sh.b.WriteString("| slowest | |\n|---|---|\n")
		for _, t := range sum.Slowest {
			fmt.Fprintf(&sh.b, "| %s | %.2f s |\n", escapeMarkdown(testCaption(t.Suite, t.Name)), t.Seconds)
		}
		sh.b.WriteString("\n")
	}
	return sh.b.String()
}
