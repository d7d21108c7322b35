package count_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
)

// leak is one class of leftovers: what is planted, and what of it is foreign.
type leak struct {
	ours    func(*testing.T, *scene)
	foreign func(*testing.T, *scene)
	want    []string // types that are counted, sorted
}

func leaks() map[string]leak {
	image := attribute("serviceName", "is") + "," + attribute("resourceType", "image")
	reads := func(guid string) string {
		return attribute("serviceName", "cloud-object-storage") + "," + attribute("serviceInstance", guid)
	}
	return map[string]leak{
		"a VPC and what is in it, by name and by VPC": {
			ours: func(t *testing.T, s *scene) {
				vpc := s.is(t, "vpc", mine+"-vpc").ID
				s.is(t, "subnet", mine+"-subnet-compute-us-south-1", inVPC(vpc))
				s.is(t, "security-group", "made-by-hand", inVPC(vpc))
				s.is(t, "instance", mine+"-worker-2-x7k2p", inVPC(vpc)) // looks like another cluster's
				s.is(t, "endpoint-gateway", "of-a-workload", inVPC(vpc))
			},
			foreign: func(t *testing.T, s *scene) {
				vpc := s.is(t, "vpc", namesake+"-vpc").ID
				s.is(t, "vpc", neighbour+"-vpc")
				s.is(t, "instance", namesake+"-master-0", inVPC(vpc))
				s.is(t, "subnet", "x"+mine+"-subnet", inVPC(vpc))
			},
			want: []string{"endpoint-gateway", "instance", "security-group", "subnet", "vpc"},
		},
		"a load balancer of a service": {
			ours: func(t *testing.T, s *scene) {
				s.is(t, "load-balancer", "kube-"+mine+"-0123456789abcdef0123456789abcd")
			},
			foreign: func(t *testing.T, s *scene) {
				s.is(t, "load-balancer", "kube-"+namesake+"-0123456789abcdef0123456789")
				s.is(t, "load-balancer", "kube-"+neighbour+"-0123456789abcdef0123456789")
			},
			want: []string{"load-balancer"},
		},
		"volumes by group and by tag": {
			ours: func(t *testing.T, s *scene) {
				s.is(t, "volume", "pvc-1", inGroup(s.group(t, myCCO)))
				s.is(t, "volume", "pvc-2", tagged("kubernetes-io-cluster-"+mine+":owned"))
			},
			foreign: func(t *testing.T, s *scene) {
				s.is(t, "volume", "pvc-3", inGroup(s.group(t, theirCCO)))
				s.is(t, "volume", "pvc-4", tagged("kubernetes-io-cluster-"+neighbour+":owned"))
			},
			want: []string{"resource-group", "user-tag", "volume", "volume"},
		},
		"an image, a floating IP, a key and a snapshot": {
			ours: func(t *testing.T, s *scene) {
				s.is(t, "image", mine+"-rhcos", func(r *standin.Resource) { r.Attrs = map[string]string{"visibility": "private"} })
				s.is(t, "floating-ip", mine+"-bootstrap")
				s.is(t, "key", mine+"-key")
				s.is(t, "snapshot", mine+"-snapshot")
				s.is(t, "public-gateway", mine+"-pgateway-us-south-1")
				s.is(t, "virtual-network-interface", mine+"-vni")
			},
			foreign: func(t *testing.T, s *scene) {
				s.is(t, "image", neighbour+"-rhcos", func(r *standin.Resource) { r.Attrs = map[string]string{"visibility": "private"} })
				s.is(t, "floating-ip", namesake+"-bootstrap")
			},
			want: []string{"floating-ip", "image", "key", "public-gateway", "snapshot", "virtual-network-interface"},
		},
		"Object Storage, its authorization and its key": {
			ours: func(t *testing.T, s *scene) {
				cos := s.instance(t, "cloud-object-storage", mine+"-cos", "")
				s.policy(t, "authorization", image, reads(cos.ID))
				registry := s.instance(t, "cloud-object-storage", mine+"-image-registry", "")
				s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "resource-key", Name: mine + "-image-registry", Parent: registry.ID})
			},
			foreign: func(t *testing.T, s *scene) {
				cos := s.instance(t, "cloud-object-storage", neighbour+"-cos", "")
				s.policy(t, "authorization", image, reads(cos.ID))
				s.policy(t, "authorization", image, reads("00000000-0000-0000-0000-000000000000")) // of an instance that is gone
				s.policy(t, "authorization", attribute("serviceName", "is"), attribute("serviceName", "kms"))
			},
			want: []string{"authorization-policy", "resource-key", "service-instance", "service-instance"},
		},
		"a reclamation, by name": {
			ours: func(t *testing.T, s *scene) {
				cos := s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: mine + "-cos", State: "pending_reclamation"})
				s.plant(t, standin.Resource{Service: "resource-controller", Type: "reclamation", Name: cos.Name, Parent: cos.ID, State: "SCHEDULED", Attrs: map[string]string{"crn": cos.CRN()}})
				s.policy(t, "authorization", image, reads(cos.ID))
			},
			foreign: func(t *testing.T, s *scene) {
				cos := s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: neighbour + "-cos", State: "pending_reclamation"})
				s.plant(t, standin.Resource{Service: "resource-controller", Type: "reclamation", Name: cos.Name, Parent: cos.ID, State: "SCHEDULED", Attrs: map[string]string{"crn": cos.CRN()}})
				s.plant(t, standin.Resource{Service: "resource-controller", Type: "reclamation", Name: "x", Parent: "gone", State: "SCHEDULED", Attrs: map[string]string{"crn": "crn:v1:bluemix:public:cloud-object-storage:global:a/" + account + ":gone::"}})
			},
			want: []string{"authorization-policy", "reclamation"},
		},
		"anything in the resource group": {
			ours: func(t *testing.T, s *scene) {
				group := s.group(t, myCCO)
				s.instance(t, "kms", "keys", group)
				s.is(t, "share", "files", inGroup(group)) // no list of the count has shares
			},
			foreign: func(t *testing.T, s *scene) { s.instance(t, "kms", "keys", s.group(t, theirCCO)) },
			want:    []string{"resource-group", "service-instance", "service-instance"},
		},
		"service IDs, their keys and what they may do": {
			ours: func(t *testing.T, s *scene) {
				id := s.plant(t, standin.Resource{Service: "iam-identity", Type: "serviceid", Name: myCCO + "-openshift-ingress-operator-cloud-credentials"})
				s.plant(t, standin.Resource{Service: "iam-identity", Type: "apikey", Name: "ccoctl-generated-key", Attrs: map[string]string{"iam_id": "iam-" + id.ID}})
				s.policy(t, "access", attribute("iam_id", "iam-"+id.ID), attribute("serviceName", "is"))
			},
			foreign: func(t *testing.T, s *scene) {
				id := s.plant(t, standin.Resource{Service: "iam-identity", Type: "serviceid", Name: theirCCO + "-openshift-ingress-operator-cloud-credentials"})
				s.plant(t, standin.Resource{Service: "iam-identity", Type: "apikey", Name: "ccoctl-generated-key", Attrs: map[string]string{"iam_id": "iam-" + id.ID}})
				s.policy(t, "access", attribute("iam_id", "iam-"+id.ID), attribute("serviceName", "is"))
			},
			want: []string{"access-policy", "api-key", "service-id"},
		},
		"policies in the resource group of service IDs that are gone": {
			ours: func(t *testing.T, s *scene) {
				s.policy(t, "access", attribute("iam_id", "iam-ServiceId-gone"), attribute("resourceGroupId", s.group(t, myCCO)))
			},
			foreign: func(t *testing.T, s *scene) {
				s.policy(t, "access", attribute("iam_id", "iam-ServiceId-gone"), attribute("resourceGroupId", s.group(t, theirCCO)))
			},
			want: []string{"access-policy", "resource-group"},
		},
		"DNS records, also on later pages": {
			ours: func(t *testing.T, s *scene) {
				s.record(t, "api.demo.labs.example.com")
				for i := range 150 {
					s.record(t, fmt.Sprintf("host-%d.labs.example.com", i))
				}
				s.record(t, "*.apps.demo.labs.example.com")
			},
			foreign: func(t *testing.T, s *scene) {
				s.record(t, "api.notdemo.labs.example.com")
				s.record(t, "demo-2.labs.example.com")
			},
			want: []string{"record", "record"},
		},
		"a permitted network and records of a private zone": {
			ours: func(t *testing.T, s *scene) {
				s.target.BaseDomain = "internal.example.com"
				z := s.zone(t, "internal.example.com")
				vpc := s.is(t, "vpc", mine+"-vpc")
				s.plant(t, standin.Resource{Service: "dns-svcs", Type: "permitted-network", Parent: z.ID, State: "ACTIVE", Attrs: map[string]string{"vpc_crn": vpc.CRN()}})
				s.plant(t, standin.Resource{Service: "dns-svcs", Type: "dns-record", Name: "api-int.demo.internal.example.com", Parent: z.ID, Attrs: map[string]string{"type": "CNAME"}})
			},
			foreign: func(t *testing.T, s *scene) {
				z := s.zone(t, "internal.example.com")
				vpc := s.is(t, "vpc", neighbour+"-vpc")
				s.plant(t, standin.Resource{Service: "dns-svcs", Type: "permitted-network", Parent: z.ID, State: "ACTIVE", Attrs: map[string]string{"vpc_crn": vpc.CRN()}})
				s.plant(t, standin.Resource{Service: "dns-svcs", Type: "dns-record", Name: "api-int.other.internal.example.com", Parent: z.ID, Attrs: map[string]string{"type": "CNAME"}})
			},
			want: []string{"permitted-network", "record", "vpc"},
		},
		"instances that are not active and not in the index": {
			ours: func(t *testing.T, s *scene) {
				s.SetLag(standin.Lag{Create: time.Hour})
				s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: mine + "-cos", State: "failed"})
				s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: mine + "-image-registry", State: "inactive"})
				group := s.group(t, myCCO)
				s.plant(t, standin.Resource{Service: "kms", Type: "instance", Name: "made-by-a-workload", Group: group, State: "pre_provisioning"})
			},
			foreign: func(t *testing.T, s *scene) {
				s.plant(t, standin.Resource{Service: "cloud-object-storage", Type: "instance", Name: neighbour + "-cos", State: "failed"})
			},
			want: []string{"resource-group", "service-instance", "service-instance", "service-instance"},
		},
		"a resource of a region that nobody recorded, by its tag": {
			ours: func(t *testing.T, s *scene) {
				s.is(t, "vpc", "anything", tagged(mine), func(r *standin.Resource) { r.Region = "eu-de" })
				s.instance(t, "kms", "made-by-a-workload", "")
				require.NoError(t, s.Retag(func(r standin.Resource) bool { return r.Name == "made-by-a-workload" }, "ClusterId:"+cluster))
			},
			foreign: func(t *testing.T, s *scene) {
				s.is(t, "vpc", "anything-else", tagged(neighbour), func(r *standin.Resource) { r.Region = "eu-de" })
				require.NoError(t, s.Retag(func(r standin.Resource) bool { return r.Name == "anything-else" }, "ClusterId:clu_other"))
			},
			want: []string{"service-instance", "user-tag", "user-tag", "vpc"},
		},
	}
}

func TestEveryLeakIsCountedAndNothingForeignIs(t *testing.T) {
	for name, l := range leaks() {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.Pages(7)
			l.foreign(t, s)
			pass := s.verify(t)
			require.Empty(t, pass.Leftovers, "only others' things are there")
			require.True(t, pass.Clean)
			l.ours(t, s)
			pass = s.verify(t)
			require.Equal(t, l.want, kinds(pass))
			require.False(t, pass.Clean)
			for _, left := range pass.Leftovers {
				require.NotEmpty(t, left.ID)
				require.Contains(t, left.Advice(), "ibmcloud ", "%s %s", left.Type, left.ID)
			}
			require.Equal(t, pass, s.verify(t), "the same cloud gives the same pass")
		})
	}
}
