package resources

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Object is a Kubernetes object that was applied to a cluster: its identity, by whom it was applied and how often. Its content is
// stored as a hash.
type Object struct {
	APIVersion, Kind, Namespace, Name string
	Manager                           string
	Hash                              string
	Applied                           int
	Edit                              string // value of the label ocpctl.io/edit of a namespace; empty: none
}

// objectTag is the prefix of the network's tags that store objects, one tag each: the stand-in has no cluster to store them in.
const objectTag = "ocpctl-standin/object/"

// Objects returns all applied objects, by kind, namespace and name.
func (l *Living) Objects() (all []Object) {
	for key, value := range l.Notes[l.Network] {
		if !strings.HasPrefix(key, objectTag) {
			continue
		}
		var o Object
		var where string
		if n, _ := fmt.Sscan(value, &o.APIVersion, &o.Kind, &where, &o.Manager, &o.Hash, &o.Applied, &o.Edit); n >= 6 {
			o.Namespace, o.Name, _ = strings.Cut(where, "/")
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b Object) int {
		return strings.Compare(a.Kind+"/"+a.Namespace+"/"+a.Name, b.Kind+"/"+b.Namespace+"/"+b.Name)
	})
	return all
}

// Object looks one up by kind, namespace and name.
func (l *Living) Object(kind, namespace, name string) (Object, bool) {
	for _, o := range l.Objects() {
		if o.Kind == kind && o.Namespace == namespace && o.Name == name {
			return o, true
		}
	}
	return Object{}, false
}

// Apply stores an object, or counts that it was applied again.
func (l *Living) Apply(ctx context.Context, o Object, content []byte) error {
	sum := sha256.Sum256(content)
	before, _ := l.Object(o.Kind, o.Namespace, o.Name)
	value := fmt.Sprintf("%s %s %s/%s %s %s %d", o.APIVersion, o.Kind, o.Namespace, o.Name, o.Manager, hex.EncodeToString(sum[:6]), before.Applied+1)
	if o.Edit != "" {
		value += " " + o.Edit
	}
	return l.remember(ctx, l.Network, objectTag+o.key(), value)
}

// Again reads the cluster's current state.
func (l *Living) Again(ctx context.Context) (*Living, error) { return l.On.Again(ctx) }

func (o Object) key() string { return short(o.Kind + "/" + o.Namespace + "/" + o.Name) }

// ApplyWhole stores an object with its content.
func (l *Living) ApplyWhole(ctx context.Context, o Object, content []byte) error {
	if err := l.Apply(ctx, o, content); err != nil {
		return err
	}
	return l.Keep(ctx, o.key(), string(content))
}

// Content returns what an object was stored with; empty: nothing was kept.
func (l *Living) Content(o Object) []byte { return []byte(l.Kept(o.key())) }

// Drop removes an object.
func (l *Living) Drop(ctx context.Context, o Object) error {
	if err := l.Keep(ctx, o.key(), ""); err != nil {
		return err
	}
	return l.remember(ctx, l.Network, objectTag+o.key(), "")
}
