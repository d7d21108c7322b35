package servicetest

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/store"
)

// TokenSignature is the end of every token that Mint makes: the secret part of it.
const TokenSignature = "c2lnbmF0dXJlLW9mLWEtdGVzdA"

// Token returns a service account's token that names an account and when it expires.
func Token(account string, expires time.Time) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return part(`{"alg":"RS256"}`) + "." + part(fmt.Sprintf(`{"sub":%q,"exp":%d}`, names.AccessUser(account), expires.Unix())) + "." + TokenSignature
}

// TokenKubeconfig returns a kubeconfig as a runner makes it for a reader.
func TokenKubeconfig(apiURL, token string) string {
	return "apiVersion: v1\nkind: Config\nclusters:\n- name: shop\n  cluster: {server: '" + apiURL + "'}\n" +
		"users:\n- name: reader\n  user: {token: " + token + "}\ncontexts:\n- name: reader\n  context: {cluster: shop, user: reader}\ncurrent-context: reader\n"
}

// AccessRef is the reference to the kubeconfig of an access.
func AccessRef(cluster, id string) string { return CredentialRef(cluster, artifacts.AccessFile(id)) }

// ConsolePassword is that of every account of a console.
const ConsolePassword = "cGFzc3dvcmQtb2YtYS1jb25zb2xlLTAx"

// Mint makes all kubeconfigs that were asked for, and removes those that were revoked, as a runner would.
func Mint(t testing.TB, s *store.Store, shelf Shelf) {
	t.Helper()
	rows, err := s.Pool().Query(t.Context(), `
		SELECT a.id, CASE WHEN a.openid THEN 'openid' ELSE a.kind END, a.cluster_id, a.account, now() + a.lifetime, o.api_url FROM access a JOIN clusters c ON c.id = a.cluster_id
		JOIN cluster_outputs o ON o.cluster_id = a.cluster_id
		WHERE a.minted_at IS NULL AND a.revoked_at IS NULL AND a.removed_at IS NULL AND a.number > coalesce((c.work #>> '{access,done}')::int, 0) AND c.status = 'READY'`)
	require.NoError(t, err)
	type asked struct {
		id, kind, cluster, account, api string
		expires                         time.Time
	}
	var all []asked
	for rows.Next() {
		var a asked
		require.NoError(t, rows.Scan(&a.id, &a.kind, &a.cluster, &a.account, &a.expires, &a.api))
		all = append(all, a)
	}
	require.NoError(t, rows.Err())
	for _, a := range all {
		ref := AccessRef(a.cluster, a.id)
		shelf[ref] = TokenKubeconfig(a.api, Token(a.account, a.expires))
		if a.kind != "kubeconfig" {
			delete(shelf, ref)
			ref = ""
		}
		if a.kind == "console" {
			ref = CredentialRef(a.cluster, artifacts.ConsoleFile(a.id))
			shelf[ref] = ConsolePassword
		}
		_, err := s.Pool().Exec(t.Context(), `UPDATE access SET attempt = 1, minted_at = now(), expires_at = $2, ref = $3 WHERE id = $1`, a.id, a.expires, ref)
		require.NoError(t, err)
	}
	for _, sql := range []string{
		`UPDATE access SET removed_at = now() WHERE revoked_at IS NOT NULL AND removed_at IS NULL`,
		`UPDATE clusters SET work = jsonb_set(work, '{access,done}', work #> '{access,wanted}') WHERE work #>> '{access,wanted}' <> '' AND status = 'READY'`,
		`UPDATE jobs SET status = 'SUCCEEDED', ended_at = now() WHERE job_type = 'ACCESS' AND ended_at IS NULL`,
	} {
		_, err = s.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
}
