package ibmcloud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/contract"
)

func TestPreflightSaysWhatWouldMakeAnInstallFail(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*testing.T, *scene)
		code    string
		block   bool
		message string
	}{
		"nothing":                     {func(*testing.T, *scene) {}, "", false, ""},
		"another account":             {func(t *testing.T, s *scene) { s.client = s.as(t, "theirs") }, "WrongAccount", true, "belong to account " + other},
		"refused credentials":         {func(t *testing.T, s *scene) { s.client = s.as(t, "wrong") }, "CredentialsRefused", true, "BXNIM0415E"},
		"no zone for the base domain": {func(_ *testing.T, s *scene) { s.target.BaseDomain = "example.org" }, "ZoneMissing", true, "active zone for example.org"},
		"a published cluster and a private zone alone": {func(_ *testing.T, s *scene) {
			s.target.Publish, s.target.BaseDomain = contract.PublishExternal, "internal.example.com"
		}, "ZoneMissing", true, "Internet Services of this account has no active zone for internal.example.com, and a cluster with publish: External needs one there"},
		"an internal cluster and a public zone alone": {func(_ *testing.T, s *scene) { s.target.Publish = contract.PublishInternal }, "ZoneMissing", true, "DNS Services of this account has no"},
		"a public record of an internal cluster's name": {func(t *testing.T, s *scene) {
			s.target.Publish = contract.PublishInternal
			s.privateZone(t, domain)
			s.record(t, "api.shop."+domain, "x.example.com")
		}, "", false, ""},
		"a private record of an internal cluster's name": {func(t *testing.T, s *scene) {
			s.target.Publish = contract.PublishInternal
			s.privateZone(t, domain, "api.shop."+domain)
		}, "NameInUse", true, "(api.shop." + domain + ")"},
		"two zones for it": {func(t *testing.T, s *scene) {
			twin := s.plant(t, standin.Resource{Service: "internet-svcs", Type: "instance"})
			s.plant(t, standin.Resource{Service: "internet-svcs", Type: "zone", Name: domain, Parent: twin.ID, State: "active"})
		}, "ZoneAmbiguous", true, "2 instances of Internet Services have an active zone for " + domain},
		"a zone that the destroyer may take for it": {func(t *testing.T, s *scene) {
			twin := s.plant(t, standin.Resource{Service: "internet-svcs", Type: "instance"})
			s.plant(t, standin.Resource{Service: "internet-svcs", Type: "zone", Name: "ample.com", Parent: twin.ID, State: "active"})
		}, "ZoneShadowed", false, "another zone (ample.com)"},
		"a record of the name":      {func(t *testing.T, s *scene) { s.record(t, "*.apps.shop."+domain, "x.example.com") }, "NameInUse", true, "(*.apps.shop." + domain + ")"},
		"a record of a longer name": {func(t *testing.T, s *scene) { s.record(t, "api.my-shop."+domain, "x.example.com") }, "", false, ""},
		"an unanswered query":       {func(_ *testing.T, s *scene) { s.Refuse("vpc:list_instance_profiles", -1, standin.Broken) }, "NotAnswered", false, "list the instance types of us-east"},
		"a missing permission":      {func(_ *testing.T, s *scene) { s.Refuse("cis:list_zones", -1, standin.Denied) }, "NotAnswered", false, "(403)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			c.arrange(t, s)
			problems, err := s.client.Preflight(t.Context(), s.target, []string{"us-east-1", "us-east-3"}, []string{"bx2-4x16"})
			require.NoError(t, err)
			if c.code == "" {
				require.Empty(t, problems)
				return
			}
			require.NotEmpty(t, problems)
			require.Equal(t, c.code, problems[0].Code)
			require.Equal(t, c.block, problems[0].Block)
			require.Contains(t, problems[0].Message, c.message)
			require.NotEmpty(t, problems[0].Next)
		})
	}
}

func TestPreflightRefusesPlacesThatDoNotExist(t *testing.T) {
	s := newScene(t)
	problems, err := s.client.Preflight(t.Context(), s.target, []string{"us-east-1", "us-east-9"}, []string{"bx2-4x16", "bx9-1x1"})
	require.NoError(t, err)
	require.Len(t, problems, 2)
	require.Equal(t, "ZoneNotOffered", problems[0].Code)
	require.Equal(t, "choose among us-east-1, us-east-2, us-east-3", problems[0].Next)
	require.Equal(t, "InstanceTypeNotOffered", problems[1].Code)
	require.Equal(t, "instance type bx9-1x1 is not offered in us-east", problems[1].Message)
}
