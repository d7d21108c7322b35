package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"path"
	"regexp"
	"strconv"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
)

var (
	expression = regexp.MustCompile(`\$\{\{[^}]*\}\}`)
	unknown    = regexp.MustCompile(`\b(strategy\.job-index|strategy\.job-total|job\.check_run_id)\b`)
)

// values are those of the properties that GitHub has and act does not know, for one job. They are written into the texts of workflows and
// actions, which each job reads for itself.
type values map[string]string

func valuesOf(order workflow.JobOrder) values {
	return values{
		"strategy.job-index": strconv.Itoa(order.Index), "strategy.job-total": strconv.Itoa(max(order.Total, 1)), "job.check_run_id": order.Env["OCPCTL_JOB"],
	}
}

// in writes the values into the expressions of a text.
func (v values) in(text string) string {
	return expression.ReplaceAllStringFunc(text, func(one string) string {
		return unknown.ReplaceAllStringFunc(one, func(name string) string { return "'" + v[name] + "'" })
	})
}

// inAll writes the values into the expressions of workflow files.
func (v values) inAll(files map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range files {
		out[name] = v.in(text)
	}
	return out
}

// inArchive writes the values into the actions of an archive.
func (v values) inArchive(from io.ReadCloser) (io.ReadCloser, error) {
	defer from.Close()
	var out bytes.Buffer
	reader, writer := tar.NewReader(from), tar.NewWriter(&out)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return io.NopCloser(&out), writer.Close()
		}
		if err != nil {
			return nil, err
		}
		raw, err := io.ReadAll(reader)
		if err != nil {
			return nil, err
		}
		if name := path.Base(header.Name); name == "action.yml" || name == "action.yaml" {
			raw = []byte(v.in(string(raw)))
			header.Size = int64(len(raw))
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := writer.Write(raw); err != nil {
			return nil, err
		}
	}
}
