package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// side is one of the two that are compared: a tree and its test binaries.
type side struct {
	tree string
	bin  string
}

// chooseBase returns the commit to compare with, and says how it was chosen.
func (g *gate) chooseBase(ctx context.Context, asked string) (commit, how string, err error) {
	if asked != "" {
		commit, err = g.git(ctx, "rev-parse", "--verify", asked+"^{commit}")
		return commit, asked, err
	}
	if tag, err := g.git(ctx, "describe", "--tags", "--abbrev=0", "--match", "v*.*.*", "HEAD"); err == nil {
		commit, err = g.git(ctx, "rev-parse", tag+"^{commit}")
		return commit, tag + ", the last tag", err
	}
	head, err := g.git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return "", "", err
	}
	if left, err := g.git(ctx, "merge-base", "main", "HEAD"); err == nil && left != head {
		return left, "where this branch left main", nil
	}
	commit, err = g.git(ctx, "rev-parse", "--verify", "HEAD~1")
	return commit, "the commit before; there is no tag", err
}

// exportBase puts the files of a commit below the work folder. The folder is always the same: what Go has compiled there is found again.
func (g *gate) exportBase(ctx context.Context, commit string) (string, error) {
	tree, archive := filepath.Join(g.work, "base"), filepath.Join(g.work, "base.tar")
	if err := os.RemoveAll(tree); err != nil {
		return "", err
	}
	if err := os.MkdirAll(tree, 0o755); err != nil {
		return "", err
	}
	if _, err := g.git(ctx, "archive", "--output", archive, commit); err != nil {
		return "", err
	}
	defer os.Remove(archive)
	if out, err := exec.CommandContext(ctx, "tar", "-x", "-f", archive, "-C", tree).CombinedOutput(); err != nil {
		return "", fmt.Errorf("unpack %s: %w: %s", commit, err, out)
	}
	return tree, nil
}

// build compiles the test binaries of a tree. It leaves out packages that the tree does not have.
func (g *gate) build(ctx context.Context, name, tree string) (side, error) {
	s := side{tree: tree, bin: filepath.Join(g.work, name+"-bin")}
	if err := os.RemoveAll(s.bin); err != nil {
		return side{}, err
	}
	if err := os.MkdirAll(s.bin, 0o755); err != nil {
		return side{}, err
	}
	var packages []string
	for _, i := range g.chosen {
		p := g.plan.Runs[i].Package
		if _, err := os.Stat(filepath.Join(tree, p)); err == nil && !slices.Contains(packages, p) {
			packages = append(packages, p)
		}
	}
	for _, p := range packages {
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-buildvcs=false", "-o", s.binary(p), p)
		cmd.Dir = tree
		if out, err := cmd.CombinedOutput(); err != nil {
			return side{}, fmt.Errorf("build the tests of %s in %s: %w: %s", p, tree, err, out)
		}
	}
	return s, nil
}

func (s side) binary(pkg string) string {
	return filepath.Join(s.bin, strings.ReplaceAll(strings.TrimPrefix(pkg, "./"), "/", "-")+".test")
}

func (g *gate) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = g.root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
