package devstack_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// newLeftovers destroys three clusters, has one's name used again, and loses the rows of two others.
func newLeftovers(t *testing.T) *leftovers {
	w := &leftovers{life: newLife(t, time.Hour)}
	w.left.id, w.cut.id, w.living.id, w.reused.id = w.labelled("Left"), w.labelled("Cut"), w.labelled("Living"), w.requested("reused", "first")
	w.runUntil("all are ready", 3*time.Minute, w.every("ready"))
	for _, s := range []*subject{&w.left, &w.cut, &w.living, &w.reused} {
		w.describe(s)
	}
	for _, s := range []subject{w.left, w.cut, w.reused} {
		w.destroy(s.id)
	}
	w.runUntil("three are destroyed", 3*time.Minute, func() bool { return w.count("SELECT count(*) FROM clusters WHERE phase = 'released'") == 3 })
	w.nameUser = w.requested("reused", "second")
	w.runUntil("the name is used again", 3*time.Minute, func() bool { return w.count("SELECT count(*) FROM clusters WHERE phase = 'ready'") == 2 })

	w.backUp()
	for i := range 2 {
		name := fmt.Sprintf("lost-%d", i)
		require.NoError(t, installer.SetFault(w.Faults(), "create/"+name, &installer.Fault{FailAt: "bootstrap", Pause: true}))
		w.lost = append(w.lost, subject{id: w.requested(name, name)})
	}
	w.runUntil("they have machines", 3*time.Minute, func() bool { return w.machinesOf(w.lost[0].id) > 0 && w.machinesOf(w.lost[1].id) > 0 })
	for i := range w.lost {
		w.describe(&w.lost[i])
	}
	runners := w.runners(w.lost[0].id, w.lost[1].id)
	w.restore()
	require.NoError(t, w.StartServer(w.ctx))
	require.Equal(t, 2, w.count("SELECT count(*) FROM clusters WHERE phase = 'ready'"), "the backup does not know the last two")
	w.runUntil("the runners that the database does not know have stopped", time.Minute, func() bool { return w.ended(runners) })
	for _, s := range w.lost {
		w.expire(s)
	}
	return w
}

// requested has a cluster made without a pull request.
func (l *life) requested(name, key string) (id string) {
	l.t.Helper()
	return l.as("admin").create(v1.CreateRequest{Name: name, Profile: "aws-minimal-test", Team: "platform"}, key).ClusterID
}

func (l *life) destroy(id string) {
	l.t.Helper()
	ask[v1.Accepted](l.as("admin"), http.MethodPost, "/api/v1/clusters/"+id+"/destroy", nil, http.StatusAccepted)
}

// describe fills in what is known of a cluster while it lives.
func (w *leftovers) describe(s *subject) {
	w.t.Helper()
	require.NoError(w.t, w.pool.QueryRow(w.ctx, `
		SELECT coalesce(c.pr_number, 0), c.name, a.infra_id FROM clusters c JOIN attempts a ON a.cluster_id = c.id AND a.infra_id <> '' WHERE c.id = $1`, s.id).Scan(&s.pr, &s.name, &s.infra))
	for _, r := range w.AWS.Resources("") {
		if r.Type == "vpc" && r.Tags[tagkey.ClusterID] == s.id {
			s.tags = maps.Clone(r.Tags)
		}
	}
	require.NotEmpty(w.t, s.tags)
	maps.DeleteFunc(s.tags, func(key, _ string) bool { // what only a VPC has
		return key == tagkey.Name || strings.HasPrefix(key, tagkey.ProviderCluster) || strings.HasPrefix(key, "ocpctl-standin/")
	})
}

// expire makes what a cluster has say that its end was two hours ago. Until then, it might be another control plane's, and be used.
func (l *life) expire(s subject) {
	l.t.Helper()
	over := time.Now().Add(-2 * time.Hour).UTC().Format(time.RFC3339)
	require.NoError(l.t, l.AWS.Retag(func(r aws.Resource) bool { return r.Tags[tagkey.ClusterID] == s.id }, tagkey.TTLExpiry, over))
	bucket := "openshift-bootstrap-data-" + s.infra
	tags, err := l.S3.Client().GetBucketTagging(l.ctx, &s3.GetBucketTaggingInput{Bucket: &bucket})
	require.NoError(l.t, err)
	for i, t := range tags.TagSet {
		if *t.Key == tagkey.TTLExpiry {
			tags.TagSet[i].Value = &over
		}
	}
	_, err = l.S3.Client().PutBucketTagging(l.ctx, &s3.PutBucketTaggingInput{Bucket: &bucket, Tagging: &types.Tagging{TagSet: tags.TagSet}})
	require.NoError(l.t, err)
}

func (l *life) plant(r aws.Resource) aws.Resource {
	l.t.Helper()
	planted, err := l.AWS.Plant(r)
	require.NoError(l.t, err)
	return planted
}

// plantLeft makes something of a destroyed cluster appear again: with its tags, and, if all is asked for, also what only its name tells of.
func (w *leftovers) plantLeft(s subject, all bool) []aws.Resource {
	w.t.Helper()
	list := []aws.Resource{
		{Service: "ec2", Type: "volume", Tags: s.tags, Attrs: map[string]string{"type": "gp3", "size": "100"}},
		{Service: "ec2", Type: "elastic-ip", Tags: s.tags},
	}
	if all {
		record := "api." + s.name + ".labs.example.com."
		list = append(list, aws.Resource{Service: "iam", Type: "instance-profile", Name: s.infra + "-worker-profile"}, aws.Resource{
			Service: "route53", Type: "record", ID: w.zone() + "/" + record + "/A/", Name: record, Parent: w.zone(), Attrs: map[string]string{
				"type": "A", "alias": s.infra + "-ext-5e6fc35bad251653.elb.us-east-1.amazonaws.com.", "alias-zone": "Z26RNL4JYFTOTI", "alias-health": "false",
			},
		})
		require.NoError(w.t, w.S3.CreateBucket(w.ctx, "openshift-bootstrap-data-"+s.infra))
	}
	for i := range list {
		list[i] = w.plant(list[i])
	}
	return list
}

// zone is the id of the base domain's public zone.
func (l *life) zone() string {
	all := l.AWS.All()
	return all[slices.IndexFunc(all, func(r aws.Resource) bool { return r.Type == "hostedzone" && r.Stands && r.Account == devstack.Account })].ID
}

// plantLookAlikes puts into the account what is not ours to take, however much it looks like that.
func (w *leftovers) plantLookAlikes() {
	w.t.Helper()
	w.stand = w.plantForeign([]int{w.left.pr, w.cut.pr, w.living.pr})
	with := func(s subject, changed map[string]string) map[string]string {
		tags := maps.Clone(s.tags)
		delete(tags, tagkey.KubernetesCluster+s.infra)
		maps.Copy(tags, changed)
		return tags
	}
	mark := tagkey.KubernetesCluster + "somebody-x2x4x"
	for _, r := range []aws.Resource{
		{Service: "ec2", Type: "volume", Tags: with(w.cut, map[string]string{mark: tagkey.Owned})},                                                                     // forged: a destroyed cluster's id
		{Service: "ec2", Type: "volume", Tags: with(w.living, map[string]string{mark: tagkey.Owned})},                                                                  // forged: a living cluster's id
		{Service: "ec2", Type: "volume", Tags: with(w.cut, map[string]string{tagkey.KubernetesCluster + w.cut.infra: tagkey.Owned, tagkey.Installation: "elsewhere"})}, // another installation's
		{Service: "ec2", Type: "vpc", Tags: map[string]string{mark: tagkey.Owned, tagkey.Owner: "gus"}},                                                                // a person's own cluster
		{Service: "ec2", Type: "volume", Region: "us-west-2", Tags: w.left.tags},                                                                                       // in a region that is denied
	} {
		w.stand = append(w.stand, w.plant(r))
	}
}
