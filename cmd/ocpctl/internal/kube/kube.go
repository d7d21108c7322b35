// Package kube writes kubeconfigs: with a token or with a program that gets one, merged into the one that kubectl reads, or in a private
// folder that is deleted again. It also keeps the tokens of clusters between the calls of that program. Only their owner can read the
// files.
package kube

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
)

// Default is the path of the kubeconfig that kubectl writes to: the first of KUBECONFIG, or ~/.kube/config.
func Default(env func(string) string) string {
	for _, path := range filepath.SplitList(env("KUBECONFIG")) {
		if path != "" {
			return path
		}
	}
	return filepath.Join(env("HOME"), ".kube", "config")
}

// Write writes a kubeconfig to a file atomically.
func Write(path string, raw []byte) error { return connect.WriteFile(path, raw) }

// listNames are the parts of a kubeconfig that contain named things.
func listNames() []string { return []string{"clusters", "users", "contexts"} }

// Merge adds a cluster's kubeconfig to a file, as the context with this name, and makes it the current one if asked to. Entries with
// that name are replaced if an earlier Merge wrote them. If somebody else did, nothing is changed and the error names them. Everything
// else, including comments, stays as it is.
func Merge(path, name string, added []byte, use bool) error {
	own, err := renameEntries(added, name)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays a link
	}
	unlock, err := lockFile(path)
	if err != nil {
		return err
	}
	defer unlock()
	doc, err := loadFile(path)
	if err != nil {
		return err
	}
	root := doc.Content[0]
	if foreign := foreignEntries(root, name); len(foreign) > 0 {
		return fmt.Errorf("%s already has the %s %s, which ocpctl did not write, so nothing was changed. Rename or delete it, or write the kubeconfig to a file of its own with -f",
			path, strings.Join(foreign, " and the "), name)
	}
	for _, list := range listNames() {
		into := memberOf(root, list)
		if into == nil || into.Kind != yaml.SequenceNode {
			into = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
			setMember(root, list, into)
		}
		into.Style = 0
		putElement(into, memberOf(own, list).Content[0], name)
	}
	if current := memberOf(root, "current-context"); use || current == nil || current.Value == "" {
		setMember(root, "current-context", textNode(name))
	}
	raw, err := encodeDocument(doc)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return Write(path, raw)
}

func encodeDocument(doc *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := errors.Join(encoder.Encode(doc), encoder.Close())
	return out.Bytes(), err
}

// renameEntries gives the only cluster, user and context of a kubeconfig the name, so that two clusters' "admin" can be in one file.
func renameEntries(raw []byte, name string) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("read the cluster's kubeconfig: it is not a valid kubeconfig")
	}
	root := doc.Content[0]
	for _, list := range listNames() {
		all := memberOf(root, list)
		if all == nil || len(all.Content) != 1 || all.Content[0].Kind != yaml.MappingNode {
			return nil, fmt.Errorf("read the cluster's kubeconfig: it must have exactly one entry in %s to be merged; write it to a separate file with -f", list)
		}
		setMember(all.Content[0], "name", textNode(name))
		what := strings.TrimSuffix(list, "s")
		content := memberOf(all.Content[0], what)
		if content == nil || content.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("read the cluster's kubeconfig: its %s is empty", what)
		}
		markMerged(content)
	}
	context := memberOf(memberOf(root, "contexts").Content[0], "context")
	setMember(context, "cluster", textNode(name))
	setMember(context, "user", textNode(name))
	return root, nil
}

// extension marks what Merge wrote. Kubernetes' own programs keep the extensions of clusters, users and contexts when they change the file.
// https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/#NamedExtension
const extension = "ocpctl.io/merged"

// markMerged adds the extension to the content of an entry.
func markMerged(content *yaml.Node) {
	entry := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	setMember(entry, "name", textNode(extension))
	setMember(entry, "extension", &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle})
	setMember(content, "extensions", &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{entry}})
}

// isMarked reports whether the content of an entry has the extension.
func isMarked(content *yaml.Node) bool {
	extensions := memberOf(content, "extensions")
	return extensions != nil && slices.ContainsFunc(extensions.Content, func(e *yaml.Node) bool {
		name := memberOf(e, "name")
		return name != nil && name.Value == extension
	})
}

// foreignEntries returns which of cluster, user and context with this name Merge did not write.
func foreignEntries(root *yaml.Node, name string) (foreign []string) {
	for _, list := range listNames() {
		entries, what := memberOf(root, list), strings.TrimSuffix(list, "s")
		if entries != nil && slices.ContainsFunc(entries.Content, func(e *yaml.Node) bool {
			n := memberOf(e, "name")
			return n != nil && n.Value == name && !isMarked(memberOf(e, what))
		}) {
			foreign = append(foreign, what)
		}
	}
	return foreign
}

// loadFile reads a kubeconfig to add to; a missing file is an empty one.
func loadFile(path string) (*yaml.Node, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("apiVersion: v1\nkind: Config\n")
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("read %s: %w; nothing was changed", path, err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("read %s: it is not a kubeconfig; nothing was changed", path)
	}
	return &doc, nil
}

// lockFile takes kubectl's own lock: kubectl does not write while path.lock exists.
func lockFile(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	file, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_EXCL, 0)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w; if no other program is writing the file, delete %s.lock", path, err, path)
	}
	return func() { file.Close(); os.Remove(file.Name()) }, nil
}

// putElement replaces the element with the name, or adds one.
func putElement(list, element *yaml.Node, name string) {
	for i, old := range list.Content {
		if n := memberOf(old, "name"); n != nil && n.Value == name {
			list.Content[i] = element
			return
		}
	}
	list.Content = append(list.Content, element)
}

func memberOf(of *yaml.Node, name string) *yaml.Node {
	if of == nil || of.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value == name {
			return of.Content[i+1]
		}
	}
	return nil
}

func setMember(of *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value == name {
			of.Content[i+1] = value
			return
		}
	}
	of.Content = append(of.Content, textNode(name), value)
}

func textNode(s string) *yaml.Node {
	var n yaml.Node
	n.SetString(s)
	return &n
}

// Private makes a folder that nobody else can enter, in memory if the machine has a file system for that. remove deletes it with all
// that is in it.
func Private(env func(string) string) (folder string, remove func() error, err error) {
	folder, err = os.MkdirTemp(env("XDG_RUNTIME_DIR"), "ocpctl-")
	if err != nil {
		folder, err = os.MkdirTemp("", "ocpctl-")
	}
	if err != nil {
		return "", nil, fmt.Errorf("make a private folder: %w", err)
	}
	return folder, func() error { return os.RemoveAll(folder) }, nil
}
