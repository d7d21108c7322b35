package ibmcloud_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// oldThings are one thing of each kind that a teardown of the cluster would delete for its name or its place.
func oldThings(s *scene, target cloud.Target) map[string]standin.Resource {
	var group, vpc string
	infraID, ccoName := target.Identities[0].InfraID, target.Identities[0].CCOName
	for _, r := range s.All() {
		switch {
		case r.Type == "resource-group" && r.Name == ccoName:
			group = r.ID
		case r.Type == "vpc" && r.Name == infraID+"-vpc":
			vpc = r.ID
		}
	}
	things := map[string]standin.Resource{
		"an instance in its network":   {Service: "is", Type: "instance", Name: "payroll", VPC: vpc},
		"a resource group of its name": {Service: "resource-controller", Type: "resource-group", Name: infraID},
		"storage of its name":          {Service: "cloud-object-storage", Type: "instance", Name: infraID + "-image-registry"},
		"storage in its group":         {Service: "cloud-object-storage", Type: "instance", Name: "payroll", Group: group},
		"a key store in its group":     {Service: "kms", Type: "instance", Name: "payroll", Group: group},
		"a service ID of its name":     {Service: "iam-identity", Type: "serviceid", Name: ccoName + "-openshift-payroll"},
	}
	for _, kind := range []string{
		"instance", "load-balancer", "snapshot", "endpoint-gateway", "virtual-network-interface", "volume", "subnet", "public-gateway", "floating-ip", "security-group", "image", "key", "vpc",
		"dedicated-host", "share",
	} {
		things[kind+" in its group"] = standin.Resource{Service: "is", Type: kind, Name: "payroll", Group: group}
	}
	for kind, name := range map[string]string{"vpc": "vpc", "instance": "master-7", "image": "rhcos", "subnet": "subnet-control-plane-us-east-3", "load-balancer": "kubernetes-api-public"} {
		things[kind+" of its name"] = standin.Resource{Service: "is", Type: kind, Name: infraID + "-" + name}
	}
	for name, r := range things {
		if r.Service == "is" {
			r.Region, r.Attrs = region, map[string]string{"visibility": "private", "hostname": r.Name + "-us-east.lb.appdomain.cloud", "profile": "bx2-4x16"}
			things[name] = r
		}
	}
	return things
}

// idOf is what Contested calls it.
func idOf(r standin.Resource) string {
	if r.Type == "resource-group" {
		return "resource group " + r.Name
	}
	return r.CRN()
}

// aging is a cluster with a resource group and a network that was accepted at a time, and what is planted for a name of oldThings.
func aging(t *testing.T, accepted, made time.Time, name string) (*scene, standin.Resource) {
	t.Helper()
	s := newScene(t)
	s.target.Accepted = accepted
	s.vpcObject(t, "vpc", mine+"-vpc", s.group(t, myCCO), "")
	old := oldThings(s, s.target)[name]
	old.Created = made
	return s, s.plant(t, old)
}

func TestNothingOlderThanTheClusterIsDeleted(t *testing.T) {
	now := time.Now()
	s := newScene(t)
	for name := range oldThings(s, s.target) {
		t.Run(name, func(t *testing.T) {
			s, planted := aging(t, now, now.AddDate(0, 0, -1), name)
			found, err := s.client.Contested(t.Context(), s.target)
			require.NoError(t, err)
			require.Len(t, found, 1)
			require.Equal(t, idOf(planted), found[0].ID)
			require.False(t, found[0].Mention)

			_, err = s.client.Detach(t.Context(), s.target)
			require.NoError(t, err)
			_, err = s.client.Remove(t.Context(), s.target) // it may have been put there after Contested looked
			require.ErrorContains(t, err, idOf(planted)+" was made at ")
			require.ErrorContains(t, err, "before the cluster was accepted: it was not deleted")
			require.NotEmpty(t, s.Resources(planted.ID))

			for age, made := range map[string]time.Time{
				"made as it was accepted, by another clock; IAM tells whole minutes": now.Add(-59 * time.Second), "IBM Cloud does not say when": time.Time{}.Add(time.Nanosecond),
			} {
				s, _ := aging(t, now, made, name)
				found, err := s.client.Contested(t.Context(), s.target)
				require.NoError(t, err)
				require.Empty(t, found, age)
			}
		})
	}
}

func TestOlderStorageThatWasDeletedIsNotReclaimed(t *testing.T) {
	for name, group := range map[string]func(*scene) string{
		mine + "-cos": func(*scene) string { return "" },
		"payroll":     func(s *scene) string { return s.group(t, myCCO) },
	} {
		s := newScene(t)
		s.target.Accepted = time.Now()
		storage := s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: name, Group: group(s), Created: time.Now().AddDate(0, 0, -1)})
		s.authorization(t, storage.ID)
		s.deleteStorage(t, storage.ID)
		left := s.left()
		found, err := s.client.Contested(t.Context(), s.target)
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, storage.CRN(), found[0].ID)

		ended, err := s.client.Detach(t.Context(), s.target)
		require.NoError(t, err)
		require.Empty(t, ended, "nor does it lose its authorization")
		_, err = s.client.Remove(t.Context(), s.target)
		require.ErrorContains(t, err, storage.CRN()+" was made at ")
		require.Subset(t, s.left(), []string{"instance " + name, "reclamation " + name, "policy"}, left)
	}
}

// Other services than storage have reclamations, too.
func TestAnOlderInstanceThatWasDeletedIsNotReclaimed(t *testing.T) {
	s := newScene(t)
	s.target.Accepted = time.Now()
	keys := s.plant(t, standin.Resource{Service: "kms", Type: "instance", Name: "payroll", Group: s.group(t, myCCO), State: "pending_reclamation", Created: time.Now().AddDate(0, 0, -1)})
	s.plant(t, standin.Resource{Service: "resource-controller", Type: "reclamation", Name: "payroll", Parent: keys.ID, State: "SCHEDULED", Attrs: map[string]string{"crn": keys.CRN()}})
	found, err := s.client.Contested(t.Context(), s.target)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, keys.CRN(), found[0].ID)
	_, err = s.client.Remove(t.Context(), s.target)
	require.ErrorContains(t, err, keys.CRN()+" was made at ")
	require.Subset(t, s.left(), []string{"instance payroll", "reclamation payroll"})
}

func TestAnOlderServiceIDKeepsItsPolicy(t *testing.T) {
	s, id := aging(t, time.Now(), time.Now().AddDate(0, 0, -1), "a service ID of its name")
	policy := s.access(t, "iam-"+id.ID, "")
	_, err := s.client.Remove(t.Context(), s.target)
	require.ErrorContains(t, err, id.CRN())
	require.NotEmpty(t, s.Resources(policy))
}

func TestAnOlderNetworkMayGoOnAskingItsZone(t *testing.T) {
	s := newScene(t)
	s.target.Accepted = time.Now()
	vpc := s.plant(t, standin.Resource{Service: "is", Type: "vpc", Name: mine + "-vpc", Region: region, Created: time.Now().AddDate(0, 0, -1)})
	instance := s.privateZone(t, "payroll.example.com")
	for _, z := range s.All() {
		if z.Type == "zone" && z.Name == "payroll.example.com" {
			s.call(t, "POST", "/dns/v1/instances/"+instance+"/dnszones/"+z.ID+"/permitted_networks", object{"type": "vpc", "permitted_network": object{"vpc_crn": vpc.CRN()}})
		}
	}
	ended, err := s.client.Detach(t.Context(), s.target)
	require.NoError(t, err)
	require.Empty(t, ended)
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.ErrorContains(t, err, vpc.CRN()+" was made at ")
	require.Empty(t, deleted)
}

// The installer's destroyer takes every record below the cluster's domain, so it does not run; everything else goes without it.
func TestRecordsThatAreOlderAreMentions(t *testing.T) {
	for _, private := range []bool{false, true} {
		s := newScene(t)
		s.vpcObject(t, "volume", "pvc-1", s.group(t, myCCO), "")
		if private {
			s.target.BaseDomain = "payroll.example.com"
			s.privateZone(t, s.target.BaseDomain, "api.shop.payroll.example.com")
		} else {
			s.record(t, "api.shop."+domain, host("gone"))
		}
		s.target.Accepted = time.Now()
		found, err := s.client.Contested(t.Context(), s.target)
		require.NoError(t, err)
		require.Empty(t, found, "it was made just now")

		s.target.Accepted = time.Now().Add(time.Hour)
		s.target.Identities[0].CCOName = "" // the volume and its group are not asked for
		found, err = s.client.Contested(t.Context(), s.target)
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, "record api.shop."+s.target.BaseDomain+" in zone "+s.target.BaseDomain, found[0].ID)
		require.Contains(t, found[0].Mark, "before the cluster was accepted")
		require.True(t, found[0].Mention)
		deleted, err := s.client.Remove(t.Context(), s.target)
		require.ErrorContains(t, err, found[0].ID+" was made at ")
		require.Empty(t, deleted)
	}
}
