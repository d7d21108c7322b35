package ibmcloud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/installer"
)

// refusalsOf removes and returns the refusal of each resource that stayed, by the id under which the count has it, but for the resource groups:
// they wait for what is in them.
func (s *scene) refusalsOf(t *testing.T) map[string]installer.Refusal {
	t.Helper()
	_, err := s.client.Remove(t.Context(), s.target)
	found := map[string]installer.Refusal{}
	for _, left := range cloud.AllUndeleted(err) {
		refused, ok := installer.RefusalOf(left.ID, left.Err)
		require.True(t, ok, left)
		id := left.ID
		if _, told := found[installer.LastPart(id)]; told {
			id = installer.LastPart(id) // Resource Controller refuses it too, by its CRN
		}
		found[id] = refused
	}
	counted := s.client.Verify(t.Context(), s.target)
	for id := range found {
		named := false
		for _, l := range counted.Leftovers {
			named = named || l.ID == id || installer.LastPart(l.ID) == installer.LastPart(id)
			if l.ID == id && l.Type == "resource-group" {
				require.True(t, found[id].Heals(), found[id])
				delete(found, id)
			}
		}
		require.True(t, named, "the count does not call it %s: %+v", id, counted.Leftovers)
	}
	return found
}

func TestEveryRefusalOfADeletionIsToldForItsResource(t *testing.T) {
	for _, c := range []struct {
		how, typ, reason, whose string
		heals                   bool
	}{
		{"permission", "reclamation", "PermissionMissing", contract.WhoseOurs, false},
		{"broken", "reclamation", "CloudBroken", contract.WhoseCloud, true},
		{"permission", "vpc", "PermissionMissing", contract.WhoseOurs, false},
		{"broken", "vpc", "CloudBroken", contract.WhoseCloud, true},
		{"in-use", "vpc", "ResourceInUse", contract.WhoseUser, true}, // until it is repeated
		{"locked", "serviceid", "LockedByAdministrator", contract.WhoseOurs, false},
		{"retention", "instance", "ObjectsLocked", contract.WhoseUser, false},
	} {
		t.Run(c.how+" "+c.typ, func(t *testing.T) {
			s := newScene(t)
			group := s.group(t, myCCO)
			switch c.typ {
			case "reclamation":
				s.deleteStorage(t, s.storage(t, mine+"-cos", group))
			case "instance":
				s.storage(t, mine+"-cos", group)
			case "serviceid":
				s.serviceID(t, myCCO+"-openshift-machine-api-ibmcloud-credentials", group)
			default:
				s.vpcObject(t, c.typ, mine+"-vpc", group, "")
			}
			protected := ""
			for _, r := range s.Resources("") {
				if r.Type == c.typ {
					protected = r.ID
				}
			}
			require.NoError(t, s.Protect(protected, c.how))
			found := s.refusalsOf(t)
			require.Len(t, found, 1, found)
			for _, refused := range found {
				require.Equal(t, []any{c.reason, c.whose, c.heals}, []any{refused.Reason, refused.Whose, refused.Heals()}, refused.Words)
			}
			require.NoError(t, s.Unpin(protected))
			_, err := s.client.Remove(t.Context(), s.target)
			require.NoError(t, err)
			require.Empty(t, s.left())
		})
	}
}

// text is the record that external-dns writes beside its own.
func (s *scene) text(t *testing.T, name, owner string) string {
	t.Helper()
	return s.call(t, "POST", s.zone(t, domain), object{"name": name, "type": "TXT", "content": `"heritage=external-dns,external-dns/owner=` + owner + `"`})
}

func TestOnlyRecordsThatTheClustersOwnExternalDNSMadeAreDeleted(t *testing.T) {
	s := newScene(t)
	const below = ".shop." + domain
	s.record(t, "web"+below, "web.example.com")
	s.text(t, "cname-web"+below, mine)
	prod := s.record(t, "prod"+below, "prod.example.com")
	mark := s.text(t, "cname-prod"+below, "prod")
	mail := s.record(t, "mail"+below, "mail.example.com")
	s.record(t, "web.shopx."+domain, "web.example.com")
	s.text(t, "cname-web.shopx."+domain, mine)
	var reasons []string
	found := s.refusalsOf(t)
	for id, refused := range found {
		require.Contains(t, []string{prod, mark, mail}, installer.LastPart(id))
		reasons = append(reasons, refused.Reason)
	}
	require.Equal(t, []string{"KeptRecord", "KeptRecord", "KeptRecord"}, reasons, found)
	require.Len(t, s.Resources(""), 5, "the two of another name, and what is not proved to be ours")
}

func TestWhatAnotherClusterMarkedIsKept(t *testing.T) {
	s := newScene(t)
	group := s.group(t, myCCO)
	volume := s.vpcObject(t, "volume", "pvc-1", group, "")
	require.NoError(t, s.Retag(func(r standin.Resource) bool { return r.ID == volume.ID }, "ClusterId:clu_01JYYYYYYYYYYYYYYYYYYYYYYY"))
	found := s.refusalsOf(t)
	require.Equal(t, "KeptAnothers", found[volume.ID].Reason, found)
	require.False(t, found[volume.ID].Heals())
}
