package store_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestBlockersOfEarlierReleasesAreCarriedOver(t *testing.T) {
	t.Parallel()
	p, database := openMigrations(t)
	want := map[string]lifecycle.Blocker{
		"network-interface eni-7":               {Name: "network-interface eni-7"},
		"vpc vpc-1: delete the peering (pcx-9)": {Name: "vpc vpc-1", Free: "delete the peering (pcx-9)"},
		"volume vol-1 (a-pvc): an administrator of the account: aws ec2 delete-volume --volume-id vol-1 (ask its owner)": {
			Name: "volume vol-1 (a-pvc)", Free: "an administrator of the account", Command: "aws ec2 delete-volume --volume-id vol-1", Remark: "ask its owner"},
		`record Z1/shop.example.com/A (shop.example.com): the DNS administrator: aws route53 change --change-batch '{"Changes": [{"TTL":300}]}'`: {
			Name: "record Z1/shop.example.com/A (shop.example.com)", Free: "the DNS administrator", Command: `aws route53 change --change-batch '{"Changes": [{"TTL":300}]}'`},
		"vpc r014-1 (shop-vpc) in eu-de: an administrator of the account: ibmcloud target -r eu-de && ibmcloud is vpc-delete r014-1 (first its subnets)": {
			Name: "vpc r014-1 (shop-vpc) in eu-de", Free: "an administrator of the account", Command: "ibmcloud target -r eu-de && ibmcloud is vpc-delete r014-1", Remark: "first its subnets"},
		"service-instance crn:v1:bluemix::kms:: (by-hand): an administrator of the account: ibmcloud resource service-instance-delete crn:v1:bluemix::kms:: --recursive": {
			Name: "service-instance crn:v1:bluemix::kms:: (by-hand)", Free: "an administrator of the account", Command: "ibmcloud resource service-instance-delete crn:v1:bluemix::kms:: --recursive"},
		"instance i-1 (shop-master-0): ask whoever protected it to run: aws ec2 modify --id i-1 (TerminationProtected: OperationNotPermitted: The instance 'i-1' may not be terminated.)": {
			Name: "instance i-1 (shop-master-0)", Free: "ask whoever protected it to run", Command: "aws ec2 modify --id i-1", Remark: "TerminationProtected: OperationNotPermitted: The instance 'i-1' may not be terminated."},
	}
	_, err := p.DownTo(t.Context(), 73)
	require.NoError(t, err)
	for sentence := range want {
		_, err = database.Exec(`UPDATE clusters SET blockers = blockers || $1::text`, sentence)
		require.NoError(t, err)
	}
	_, err = p.UpTo(t.Context(), 74)
	require.NoError(t, err)
	var raw, before, after string
	require.NoError(t, database.QueryRow(`SELECT blockers::text FROM clusters`).Scan(&raw))
	var got []lifecycle.Blocker
	require.NoError(t, json.Unmarshal([]byte(raw), &got))
	require.Len(t, got, len(want))
	for _, b := range got {
		require.Equal(t, want[b.String()], b)
	}
	before = sentencesOf(got)
	_, err = p.DownTo(t.Context(), 73)
	require.NoError(t, err)
	require.NoError(t, database.QueryRow(`SELECT array_to_json(blockers)::text FROM clusters`).Scan(&after))
	require.JSONEq(t, before, after)
}

func sentencesOf(all []lifecycle.Blocker) string {
	raw, _ := json.Marshal(lifecycle.DescribeBlockers(all))
	return string(raw)
}
