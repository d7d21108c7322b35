package cloud

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/secret"
)

func TestKeysBecomeASharedCredentialsFile(t *testing.T) {
	lasting, err := ParseKeys(secret.New(`{"aws_access_key_id":"AKIA1","aws_secret_access_key":"CANARY/a+b","rotated":"yesterday"}`))
	require.NoError(t, err)
	require.False(t, lasting.Temporary())
	require.Equal(t, "[default]\naws_access_key_id = AKIA1\naws_secret_access_key = CANARY/a+b\n", lasting.File().Reveal())
	temporary, err := ParseKeys(secret.New(`{"aws_access_key_id":"ASIA1","aws_secret_access_key":"CANARY","aws_session_token":"CANARY-token"}`))
	require.NoError(t, err)
	require.True(t, temporary.Temporary())
	require.Contains(t, temporary.File().Reveal(), "aws_session_token = CANARY-token\n")
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", temporary, temporary, temporary), "CANARY")
	require.True(t, Keys{}.Empty())
}

func TestKeysThatCannotBeReadAreRefusedWithoutAValue(t *testing.T) {
	for name, c := range map[string]struct{ document, want string }{
		"no JSON":             {`CANARY`, `not of the form {"aws_access_key_id"`},
		"no object":           {`["CANARY"]`, "not of the form"},
		"no id":               {`{"aws_secret_access_key":"CANARY"}`, "no string aws_access_key_id"},
		"no secret":           {`{"aws_access_key_id":"AKIA1","secret":"CANARY"}`, "no string aws_secret_access_key"},
		"a number":            {`{"aws_access_key_id":"AKIA1","aws_secret_access_key":7}`, "not of the form"},
		"a line of its own":   {`{"aws_access_key_id":"AKIA1","aws_secret_access_key":"CANARY\nrole_arn = x"}`, "aws_secret_access_key of the cloud credentials contains a space or a line break"},
		"a token of two ends": {`{"aws_access_key_id":"AKIA1","aws_secret_access_key":"x","aws_session_token":"CANARY y"}`, "aws_session_token"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseKeys(secret.New(c.document))
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "CANARY")
		})
	}
}
