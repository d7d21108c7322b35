package iampolicy

import (
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
		"no JSON":             `{`,
		"no version":          `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`,
		"no statement":        `{"Version":"2012-10-17","Statement":[]}`,
		"no effect":           `{"Version":"2012-10-17","Statement":[{"Action":"*","Resource":"*"}]}`,
		"an unknown operator": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"DateLessThan":{"aws:CurrentTime":"x"}}}]}`,
		"an unknown element":  `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","NotAction":"*","Action":"*","Resource":"*"}]}`,
	} {
		_, err := Parse(raw)
		require.Error(t, err, name)
	}
}
