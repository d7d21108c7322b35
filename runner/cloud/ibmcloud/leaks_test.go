package ibmcloud_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
)

// What openshift-install's destroyer leaves on IBM Cloud, each class alone: it is counted, removed, and then the account is clean.
func TestEachLeakIsCountedAndRemoved(t *testing.T) {
	for name, plant := range map[string]func(t *testing.T, s *scene, group string){
		"the resource group alone":   func(*testing.T, *scene, string) {},
		"a volume of a claim":        func(t *testing.T, s *scene, group string) { s.vpcObject(t, "volume", "pvc-1", group, "") },
		"a snapshot of it":           func(t *testing.T, s *scene, group string) { s.vpcObject(t, "snapshot", "by-hand", group, "") },
		"an address put on by hand":  func(t *testing.T, s *scene, group string) { s.vpcObject(t, "floating-ip", "by-hand", group, "") },
		"an SSH key":                 func(t *testing.T, s *scene, group string) { s.vpcObject(t, "key", "by-hand", group, "") },
		"the image, on a later page": func(t *testing.T, s *scene, group string) { s.vpcObject(t, "image", mine+"-rhcos", group, "") },
		"the bootstrap machine":      func(t *testing.T, s *scene, group string) { s.vpcObject(t, "instance", mine+"-bootstrap", group, "") },
		"a security group elsewhere": func(t *testing.T, s *scene, group string) { s.vpcObject(t, "security-group", "by-hand", group, "") },
		"an instance of another service": func(t *testing.T, s *scene, group string) {
			s.plant(t, standin.Resource{Service: "kms", Type: "instance", Name: "by-hand", Group: group})
		},
		"a load balancer of a service": func(t *testing.T, s *scene, group string) {
			vpc := s.vpcObject(t, "vpc", mine+"-vpc", group, "")
			subnet := s.vpcObject(t, "subnet", mine+"-subnet-compute-us-east-2", group, vpc.ID, vpc.ID)
			s.vpcObject(t, "load-balancer", "kube-"+mine+"-0123456789abcdef0123456789abcdef", group, vpc.ID, subnet.ID)
			s.vpcObject(t, "load-balancer", "by-hand", "", vpc.ID, subnet.ID)
			s.vpcObject(t, "endpoint-gateway", "by-hand", group, vpc.ID, vpc.ID)
		},
		"the image registry's storage and its key": func(t *testing.T, s *scene, group string) {
			guid := s.storage(t, mine+"-image-registry", group)
			s.call(t, "POST", "/rc/v2/resource_keys", object{"name": mine + "-image-registry", "source": storageCRN(guid), "role": "Writer"})
		},
		"storage that nobody reclaimed": func(t *testing.T, s *scene, group string) { s.deleteStorage(t, s.storage(t, mine+"-cos", group)) },
		"an authorization":              func(t *testing.T, s *scene, group string) { s.authorization(t, s.storage(t, mine+"-cos", group)) },
		"a service ID": func(t *testing.T, s *scene, group string) {
			s.serviceID(t, myCCO+"-openshift-cluster-csi-drivers-ibm-cloud-credentials", group)
		},
		"the policy of one that is gone": func(t *testing.T, s *scene, group string) { s.access(t, "iam-ServiceId-gone", group) },
		"a tag that is attached to nothing": func(t *testing.T, s *scene, _ string) {
			s.call(t, "POST", "/tags/v3/tags?tag_type=user", object{"tag_names": []string{mine}})
		},
		"a record on a page after the first": func(t *testing.T, s *scene, _ string) {
			for i := range 25 {
				s.record(t, "other"+strconv.Itoa(i)+"."+domain, "elsewhere.example.com")
			}
			s.record(t, "*.apps.shop."+domain, host("gone"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			group := s.group(t, myCCO)
			alone := s.client.Verify(t.Context(), s.target)
			require.False(t, alone.Clean)
			plant(t, s, group)
			if len(s.left()) > 1 {
				require.Greater(t, len(s.client.Verify(t.Context(), s.target).Leftovers), len(alone.Leftovers))
			}
			deleted, err := s.client.Remove(t.Context(), s.target)
			require.NoError(t, err)
			require.NotEmpty(t, deleted)
			pass := s.client.Verify(t.Context(), s.target)
			require.Empty(t, pass.Leftovers)
			require.True(t, pass.Clean)
			require.Empty(t, s.Resources(mine))
		})
	}
}
