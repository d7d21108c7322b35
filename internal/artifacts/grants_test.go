package artifacts

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws/iampolicy"
)

const (
	bank = "clu_01M836Q3GKJGJVM7VYCSF15Q1V"
	shop = "clu_01M836Q3GKJGJVM7VYCSF15Q2W"
	own  = "att_01M836Q3GKJGJVM7VYCSF15Q3X"
)

func TestAGrantReachesOneAttemptsPartAlone(t *testing.T) {
	g := &Grants{cfg: Config{Bucket: "state", KMSKey: "arn:aws:kms:us-east-1:1:key/a", OperateKMSKey: "arn:aws:kms:us-east-1:1:key/b"}}
	at := "/20250301T110000.000Z-a"
	for _, c := range []struct {
		keepsKeys        bool
		action, resource string
		want             iampolicy.Decision
	}{
		{false, "s3:PutObject", "clusters/" + shop + "/create" + at + "2/install-dir.tar.zst", iampolicy.Allow},
		{false, "s3:PutObject", "operate/clusters/" + shop + at + "2/kubeconfig", iampolicy.Allow},
		{false, "s3:PutObject", "spool/" + own + "/000001-result.json", iampolicy.Allow},
		{false, "s3:GetObject", "clusters/" + shop + "/create" + at + "1/install-dir.tar.zst", iampolicy.Allow},
		{false, "s3:GetObject", "operate/clusters/" + shop + at + "2/kubeconfig", iampolicy.Allow},
		{true, "s3:GetObject", "operate/clusters/" + shop + at + "1/kubeconfig", iampolicy.Allow},

		{false, "s3:PutObject", "clusters/" + shop + "/create" + at + "1/install-dir.tar.zst", iampolicy.NoMatch},
		{false, "s3:PutObject", "clusters/" + shop + "/create" + at + "22/install-dir.tar.zst", iampolicy.NoMatch},
		{false, "s3:PutObject", "spool/att_other/000001-result.json", iampolicy.NoMatch},
		{false, "s3:GetObject", "operate/clusters/" + shop + at + "1/kubeconfig", iampolicy.NoMatch},
		{true, "s3:GetObject", "operate/clusters/" + bank + at + "2/kubeconfig", iampolicy.NoMatch},
		{true, "s3:GetObject", "clusters/" + bank + "/create" + at + "2/install-dir.tar.zst", iampolicy.NoMatch},
		{true, "s3:PutObject", "operate/clusters/" + bank + at + "2/kubeconfig", iampolicy.NoMatch},
		{true, "s3:DeleteObject", "clusters/" + shop + "/create" + at + "2/install-dir.tar.zst", iampolicy.NoMatch},
		{true, "s3:ListBucket", "", iampolicy.NoMatch},
	} {
		raw, err := g.sessionPolicy(Part{Cluster: shop, Attempt: own, Number: 2, KeepsKeys: c.keepsKeys})
		require.NoError(t, err)
		policy, err := iampolicy.Parse(raw)
		require.NoError(t, err)
		require.Equal(t, c.want, policy.Evaluate(c.action, "arn:aws:s3:::state/"+c.resource, nil), "%s %s", c.action, c.resource)
		require.Equal(t, iampolicy.Allow, policy.Evaluate("kms:Decrypt", "arn:aws:kms:us-east-1:1:key/b", map[string][]string{"kms:ViaService": {"s3.us-east-1.amazonaws.com"}}))
		require.Equal(t, iampolicy.NoMatch, policy.Evaluate("kms:Decrypt", "arn:aws:kms:us-east-1:1:key/c", map[string][]string{"kms:ViaService": {"s3.us-east-1.amazonaws.com"}}))
	}
}

func TestAGrantsPolicyIsShortEnoughForAWS(t *testing.T) {
	key := "arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/mrk-" + strings.Repeat("a", 32)
	g := &Grants{cfg: Config{Bucket: strings.Repeat("b", 63), KMSKey: key, OperateKMSKey: key}}
	raw, err := g.sessionPolicy(Part{Cluster: shop, Attempt: own, Number: 1 << 20, KeepsKeys: true})
	require.NoError(t, err)
	require.Less(t, len(raw), 2048)
	require.True(t, json.Valid([]byte(raw)))
	for _, bad := range []Part{{Cluster: "*", Attempt: own}, {Cluster: shop, Attempt: "../x"}, {Cluster: "", Attempt: own}} {
		_, err := g.sessionPolicy(bad)
		require.Error(t, err, fmt.Sprint(bad))
	}
	alias := &Grants{cfg: Config{Bucket: "b", KMSKey: "alias/state"}}
	require.Equal(t, []string{"*"}, alias.kmsKeys())
}
