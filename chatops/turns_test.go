package chatops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestWhatIsInTheWayIsTakenApart(t *testing.T) {
	for text, want := range map[string][3]string{
		"vpc vpc-1: detach eni-7 of another team": {"vpc vpc-1: detach eni-7 of another team"},
		"volume vol-1 (a-pvc): an administrator of the account: aws ec2 delete-volume --volume-id vol-1 (ask its owner)": {
			"volume vol-1 (a-pvc): an administrator of the account", "aws ec2 delete-volume --volume-id vol-1", "ask its owner",
		},
		`record Z1/shop.example.com/A (shop.example.com): the DNS administrator: aws route53 change --change-batch '{"Changes":[{"TTL":300}]}'`: {
			"record Z1/shop.example.com/A (shop.example.com): the DNS administrator", `aws route53 change --change-batch '{"Changes":[{"TTL":300}]}'`,
		},
		"vpc r014-1 (shop-x7k2p-vpc): an administrator of the account: ibmcloud target -r us-east && ibmcloud is vpc-delete r014-1 (first its subnets)": {
			"vpc r014-1 (shop-x7k2p-vpc): an administrator of the account", "ibmcloud target -r us-east && ibmcloud is vpc-delete r014-1", "first its subnets",
		},
		"service-instance crn:v1:bluemix:public:kms:global:a/0a1b:5c6d:: (by-hand): an administrator of the account: ibmcloud resource service-instance-delete crn:v1:bluemix:public:kms:global:a/0a1b:5c6d:: --recursive": {
			"service-instance crn:v1:bluemix:public:kms:global:a/0a1b:5c6d:: (by-hand): an administrator of the account",
			"ibmcloud resource service-instance-delete crn:v1:bluemix:public:kms:global:a/0a1b:5c6d:: --recursive",
		},
	} {
		message, command, remark := Blocker(text)
		require.Equal(t, want, [3]string{message, command, remark})
	}
}

func TestAReasonIsBriefOnlyWhereTheFailureIsTold(t *testing.T) {
	var c lifecycle.Card
	c.FailReason, c.FailMessage = "BootstrapFailed", "it never took over"
	c.Status, c.Phase = lifecycle.Destroyed, lifecycle.Released
	c.Why = lifecycle.MoveReason{Cause: lifecycle.Reason{Code: lifecycle.ReasonInstallFailed, Words: c.FailMessage}, Words: "nothing is left"}
	require.Equal(t, "the install failed; nothing is left", Brief(c))
	c.Status, c.Phase = lifecycle.Creating, lifecycle.Cleaning
	c.Why = lifecycle.MoveReason{Words: "attempt 1 failed", Failure: c.FailMessage}
	require.Equal(t, "attempt 1 failed: it never took over", Brief(c))
}
