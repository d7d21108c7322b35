package iampolicy

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDenyIsFinalAndNothingIsAllowedUnsaid(t *testing.T) {
	d, err := Parse(`{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":["s3:GetObject","s3:PutObject"],"Resource":"arn:aws:s3:::b/clusters/clu_1/*-a2/*"},
		{"Effect":"Allow","Action":"s3:ListBucket","Resource":"arn:aws:s3:::b","Condition":{"StringLike":{"s3:prefix":["spool/att_1/*"]}}},
		{"Effect":"Deny","Action":"s3:Put*","Resource":"*","Condition":{"StringNotEquals":{"aws:PrincipalTag/x":"y"}}}]}`)
	require.NoError(t, err)
	y := map[string][]string{"aws:PrincipalTag/x": {"y"}}
	for _, c := range []struct {
		action, resource string
		context          map[string][]string
		want             Decision
	}{
		{"s3:GetObject", "arn:aws:s3:::b/clusters/clu_1/create/20250301-a2/x/y", nil, Allow},
		{"S3:getobject", "arn:aws:s3:::b/clusters/clu_1/create/20250301-a2/x", nil, Allow},
		{"s3:GetObject", "arn:aws:s3:::b/clusters/clu_1/create/20250301-a22/x", nil, NoMatch},
		{"s3:GetObject", "arn:aws:s3:::b/clusters/CLU_1/create/1-a2/x", nil, NoMatch},
		{"s3:PutObject", "arn:aws:s3:::b/clusters/clu_1/1-a2/x", nil, Deny},
		{"s3:PutObject", "arn:aws:s3:::b/clusters/clu_1/1-a2/x", y, Allow},
		{"s3:ListBucket", "arn:aws:s3:::b", nil, NoMatch},
		{"s3:ListBucket", "arn:aws:s3:::b", map[string][]string{"s3:prefix": {"spool/att_1/"}}, Allow},
		{"s3:ListBucket", "arn:aws:s3:::b", map[string][]string{"s3:prefix": {"spool/att_2/"}}, NoMatch},
		{"ec2:DescribeVpcs", "*", y, NoMatch},
	} {
		require.Equal(t, c.want, d.Evaluate(c.action, c.resource, c.context), "%s %s %v", c.action, c.resource, c.context)
	}
}

func TestWhatIsNotUnderstoodIsNotRead(t *testing.T) {
	for name, raw := range map[string]string{
		"no JSON":                 `{`,
		"no version":              `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`,
		"no statement":            `{"Version":"2012-10-17","Statement":[]}`,
		"no effect":               `{"Version":"2012-10-17","Statement":[{"Action":"*","Resource":"*"}]}`,
		"an unknown operator":     `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"DateLessThan":{"aws:CurrentTime":"x"}}}]}`,
		"an unknown set":          `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ForSome:StringLike":{"aws:TagKeys":"x"}}}]}`,
		"action and its negation": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","NotAction":"*","Action":"*","Resource":"*"}]}`,
		"an unknown element":      `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}`,
	} {
		_, err := Parse(raw)
		require.Error(t, err, name)
	}
}

func TestConditionsAreMetAsInAWS(t *testing.T) {
	for _, c := range []struct {
		condition string
		context   map[string][]string
		met       bool
	}{
		{`"StringEquals":{"aws:RequestedRegion":["us-east-1","us-west-2"]}`, map[string][]string{"aws:RequestedRegion": {"us-west-2"}}, true},
		{`"StringEquals":{"aws:RequestedRegion":"us-*"}`, map[string][]string{"aws:RequestedRegion": {"us-west-2"}}, false}, // no wildcards
		{`"StringEquals":{"aws:RequestedRegion":"us-west-2"}`, nil, false},
		{`"StringEqualsIfExists":{"aws:RequestedRegion":"us-west-2"}`, nil, true},
		{`"StringNotEquals":{"aws:ResourceTag/InstallationId":"ours"}`, nil, true}, // a key that is missing is different
		{`"StringNotEquals":{"aws:ResourceTag/InstallationId":"ours"},"Null":{"aws:ResourceTag/InstallationId":"false"}`, nil, false},
		{`"StringNotEquals":{"aws:ResourceTag/InstallationId":"ours"},"Null":{"aws:ResourceTag/InstallationId":"false"}`, map[string][]string{"aws:resourcetag/InstallationId": {"theirs"}}, true},
		{`"Null":{"iam:PermissionsBoundary":"true"}`, nil, true},
		{`"ForAnyValue:StringLike":{"aws:TagKeys":"kubernetes.io/cluster/*"}`, map[string][]string{"aws:TagKeys": {"Name", "kubernetes.io/cluster/shop-abcde"}}, true},
		{`"ForAnyValue:StringLike":{"aws:TagKeys":"kubernetes.io/cluster/*"}`, map[string][]string{"aws:TagKeys": {"Name"}}, false},
		{`"ForAnyValue:StringLike":{"aws:TagKeys":"kubernetes.io/cluster/*"}`, nil, false},
		{`"ForAllValues:StringLike":{"r":"*.example.com"}`, map[string][]string{"r": {"api.x.example.com", "api.other.org"}}, false},
		{`"ForAllValues:StringLike":{"r":"*.example.com"}`, nil, true},
		{`"ArnNotLike":{"aws:PrincipalArn":["arn:aws:iam::*:role/ocpctl-*"]}`, map[string][]string{"aws:PrincipalArn": {"arn:aws:iam::1:role/ocpctl-runner"}}, false},
		{`"ArnNotLike":{"aws:PrincipalArn":["arn:aws:iam::*:role/ocpctl-*"]}`, map[string][]string{"aws:PrincipalArn": {"arn:aws:iam::1:user/maya"}}, true},
		{`"Bool":{"aws:SecureTransport":"false"}`, map[string][]string{"aws:SecureTransport": {"False"}}, true},
	} {
		d, err := Parse(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*","Condition":{` + c.condition + `}}]}`)
		require.NoError(t, err, c.condition)
		require.Equal(t, c.met, d.Evaluate("ec2:RunInstances", "*", c.context) == Allow, "%s %v", c.condition, c.context)
	}
}

func TestNegatedActionsAndResourcesAreEverythingElse(t *testing.T) {
	d, err := Parse(`{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":"ec2:RunInstances","NotResource":"arn:aws:ec2:*:*:instance/*"},
		{"Effect":"Deny","NotAction":["ec2:*","s3:*"],"Resource":"*"}]}`)
	require.NoError(t, err)
	require.Equal(t, Allow, d.Evaluate("ec2:RunInstances", "arn:aws:ec2:us-east-1:1:subnet/subnet-1", nil))
	require.Equal(t, NoMatch, d.Evaluate("ec2:RunInstances", "arn:aws:ec2:us-east-1:1:instance/i-1", nil))
	require.Equal(t, Deny, d.Evaluate("iam:CreateUser", "*", nil))
}

func TestAStarMatchesAnyCharactersAndAQuestionMarkOne(t *testing.T) {
	for _, c := range []struct {
		pattern, value string
		want           bool
	}{
		{"*", "", true}, {"*", "a/b", true}, {"a*c", "abbc", true}, {"a*c", "abcd", false}, {"a?c", "abc", true}, {"a?c", "ac", false},
		{"*-openshift-*", "x-openshift-y-openshift-", true}, {"*ab*cd", "ababxcdcd", true}, {"[a]*", "[a]b", true}, {"a**", "a", true}, {"a*b", "a", false},
	} {
		require.Equal(t, c.want, matches(c.pattern, c.value, false), "%s %s", c.pattern, c.value)
	}
}

func TestAVariableStandsForTheRequestsValueAndMatchesNothingWithoutOne(t *testing.T) {
	d, err := Parse(`{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":"s3:*","Resource":"arn:aws:s3:::${aws:PrincipalTag/infra}-registry-*"},
		{"Effect":"Allow","Action":"ec2:*","Resource":"*"},
		{"Effect":"Deny","Action":"ec2:*","Resource":"*","Condition":{"StringNotEquals":{"aws:ResourceTag/ClusterId":"${aws:PrincipalTag/ClusterId}"},"Null":{"aws:ResourceTag/ClusterId":"false"}}}]}`)
	require.NoError(t, err)
	for _, c := range []struct {
		action, resource string
		context          map[string][]string
		want             Decision
	}{
		{"s3:PutObject", "arn:aws:s3:::shop-1-registry-x/y", map[string][]string{"aws:PrincipalTag/infra": {"shop-1"}}, Allow},
		{"s3:PutObject", "arn:aws:s3:::bank-1-registry-x/y", map[string][]string{"aws:PrincipalTag/infra": {"shop-1"}}, NoMatch},
		{"s3:PutObject", "arn:aws:s3:::-registry-x/y", nil, NoMatch},
		{"s3:PutObject", "arn:aws:s3:::${aws:PrincipalTag/infra}-registry-x/y", nil, NoMatch},
		{"ec2:StopInstances", "*", map[string][]string{"aws:PrincipalTag/ClusterId": {"a"}, "aws:ResourceTag/ClusterId": {"a"}}, Allow},
		{"ec2:StopInstances", "*", map[string][]string{"aws:PrincipalTag/ClusterId": {"a"}, "aws:ResourceTag/ClusterId": {"b"}}, Deny},
		{"ec2:StopInstances", "*", map[string][]string{"aws:ResourceTag/ClusterId": {"b"}}, Deny},
		{"ec2:StopInstances", "*", map[string][]string{"aws:PrincipalTag/ClusterId": {"a"}}, Allow},
	} {
		require.Equal(t, c.want, d.Evaluate(c.action, c.resource, c.context), "%s %s %v", c.action, c.resource, c.context)
	}
}

func TestATrustPolicyNamesWhoAndForWhichSubject(t *testing.T) {
	const arn = "arn:aws:iam::1:oidc-provider/issuer.example"
	d, err := ParseTrust(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"` + arn + `"},"Action":"sts:AssumeRoleWithWebIdentity",
		"Condition":{"StringEquals":{"issuer.example:sub":["system:serviceaccount:a:b"]}}}]}`)
	require.NoError(t, err)
	sub := func(name string) map[string][]string { return map[string][]string{"issuer.example:sub": {name}} }
	require.True(t, d.Trusts("Federated", arn, "sts:AssumeRoleWithWebIdentity", sub("system:serviceaccount:a:b")))
	require.False(t, d.Trusts("Federated", arn, "sts:AssumeRoleWithWebIdentity", sub("system:serviceaccount:a:c")))
	require.False(t, d.Trusts("Federated", arn+"2", "sts:AssumeRoleWithWebIdentity", sub("system:serviceaccount:a:b")))
	require.False(t, d.Trusts("Federated", arn, "sts:TagSession", sub("system:serviceaccount:a:b")))
	require.False(t, d.Trusts("Service", "ec2.amazonaws.com", "sts:AssumeRole", nil))
	_, err = ParseTrust(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"*"}]}`)
	require.Error(t, err)
}

func BenchmarkEvaluate(b *testing.B) {
	actions := make([]string, 200)
	for i := range actions {
		actions[i] = fmt.Sprintf("ec2:DescribeSomething%d", i)
	}
	list, err := json.Marshal(actions)
	require.NoError(b, err)
	d, err := Parse(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":` + string(list) + `,"Resource":"*"},{"Effect":"Deny","Action":["ec2:Delete*","s3:*"],"Resource":"*"}]}`)
	require.NoError(b, err)
	for b.Loop() {
		d.Evaluate("ec2:DescribeSomething199", "*", nil)
	}
}
