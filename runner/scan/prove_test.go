package scan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

func TestAProofLooksForWhatWouldKeepClustersFromBeingMade(t *testing.T) {
	noZone := func(domain string) cloud.Problem {
		return cloud.Problem{Code: "ZoneMissing", Block: true, Message: "no zone for " + domain, Next: "create it"}
	}
	denied := cloud.Problem{Code: "NotAnswered", Whose: contract.WhoseOurs, Message: "the cloud did not answer: denied", Next: "allow it"}
	silent := cloud.Problem{Code: "NotAnswered", Whose: contract.WhoseCloud, Message: "the cloud did not answer: timeout", Next: "nothing"}
	for name, c := range map[string]struct {
		problems map[string][]cloud.Problem
		unread   string
		proof    string
		reason   string
		message  string
	}{
		"nothing":                      {nil, "", contract.ProofProven, "", ""},
		"hints":                        {map[string][]cloud.Problem{"us-east-1 a.example.com": {{Code: "NameInUse", Block: true}, {Code: "ServiceRoleMissing"}}}, "", contract.ProofProven, "", ""},
		"a zone of one profile":        {map[string][]cloud.Problem{"us-east-1 a.example.com": {noZone("a")}}, "", contract.ProofProven, "", ""},
		"no zone at all":               {map[string][]cloud.Problem{"us-east-1 a.example.com": {noZone("a")}, "us-east-1 b.example.com": {noZone("b")}}, "", contract.ProofRefused, "ZoneMissing", "no zone for a; no zone for b"},
		"another account, and a right": {map[string][]cloud.Problem{"us-east-1 a.example.com": {denied, {Code: "WrongAccount", Block: true, Message: "it is another one"}}}, "", contract.ProofRefused, "WrongAccount", "it is another one"},
		"a right elsewhere":            {map[string][]cloud.Problem{"us-west-2 a.example.com": {denied, silent}}, "", contract.ProofLacking, "NotAnswered", denied.Message},
		"an outage":                    {map[string][]cloud.Problem{"us-west-2 a.example.com": {silent}}, "", "", "NotAnswered", silent.Message},
		"limits":                       {nil, "denied", contract.ProofLacking, "LimitsUnread", "the account's limits could not be read in us-east-1 (allow the runner servicequotas:GetServiceQuota), us-west-2 (allow the runner servicequotas:GetServiceQuota)"},
		"throttled limits":             {nil, "throttled", "", "LimitsUnread", "the account's limits could not be read in us-east-1 (TooManyRequestsException), us-west-2 (TooManyRequestsException)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.spec.Proof, s.spec.BaseDomains = true, []string{"a.example.com", "b.example.com"}
			for _, region := range []string{"us-east-1", "us-west-2"} {
				s.spec.Plans = append(s.spec.Plans, contract.ScanPlan{Profile: "small", Region: region, Zones: []string{region + "a"}, InstallConfig: "controlPlane: {replicas: 3}\n"})
			}
			s.meter.problems, s.meter.unread = c.problems, c.unread
			require.NoError(t, s.run(t.Context()))
			require.Equal(t, c.proof, s.result.Proof)
			require.Equal(t, []string{c.reason, c.message}, []string{s.result.Reason, s.result.Message})
			require.Empty(t, s.cloud.listed, "nothing is listed")
			require.Len(t, s.meter.asked, 3, "every domain in the first region, and each region")
			require.Equal(t, "123456789012", s.meter.asked[0].Account)
		})
	}
}

func TestARoleThatIsRefusedIsNoProofAndSaysWhatItNeeds(t *testing.T) {
	for name, proof := range map[string]bool{"a proof": true, "a scan": false} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.spec.Proof, s.spec.BaseDomains, s.spec.CloudRole = proof, []string{"a.example.com"}, &contract.CloudRole{ARN: "arn:aws:iam::123456789012:role/team", ExternalID: "the-id"}
			s.cloud.idErr = fmt.Errorf("%w: AccessDenied", cloud.ErrCredentials)
			s.meter.problems = map[string][]cloud.Problem{"us-east-1 a.example.com": {{Code: "CredentialsRefused", Block: true, Message: "AWS does not accept them", Next: "look"}}}
			require.NoError(t, s.run(t.Context()))
			require.Equal(t, proof, s.result.Proof == contract.ProofRefused)
			require.Equal(t, "RoleRefused", s.result.Reason)
			require.Contains(t, s.result.Next, "the role arn:aws:iam::123456789012:role/team")
			require.Contains(t, s.result.Next, "with the external id the-id")
		})
	}
}

func TestOnlyKeysThatWereReadCanBeWrong(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(broken, []byte("no keys"), 0o600))
	for ref, proof := range map[string]string{"file:" + broken: contract.ProofRefused, "file:" + broken + "-none": ""} {
		s := start(t)
		s.spec.Proof, s.spec.CloudCredentialsRef = true, ref
		require.NoError(t, s.run(t.Context()))
		require.Equal(t, []string{proof, "InvalidCloudCredentials"}, []string{s.result.Proof, s.result.Reason}, ref)
	}
}
