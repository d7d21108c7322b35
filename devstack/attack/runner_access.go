package attack

import (
	"context"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// reportAccess reports about access to another cluster, and a token that would be valid for much longer than it may be.
func reportAccess(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	theirs, before := must.Get2(t.accessOf(ctx, v.ID))
	k, id := must.Get2(t.capture(ctx, t.unique("rep-access"), callCreated))
	own, _ := must.Get2(t.accessOf(ctx, id))
	now := time.Now().UTC().Truncate(time.Second)
	taken := 0
	for i, said := range []contract.AccessState{
		{ID: theirs, Removed: true},
		{ID: theirs, StoredAt: now, ExpiresAt: now.Add(time.Hour)},
		{ID: theirs, Trouble: "it could not be made"},
		{ID: own, StoredAt: now.Add(time.Second), ExpiresAt: now.AddDate(100, 0, 0)},
	} {
		got := must.Get(k.ask(ctx, http.MethodPost, k.path("report"), contract.Report{Seq: 800 + i, Phase: "configuring", Access: []contract.AccessState{said}}))
		if got.status == http.StatusOK && said.ID == theirs {
			taken++
		}
	}
	_, after := must.Get2(t.accessOf(ctx, v.ID))
	var endless int
	must.Do(t.pool.QueryRow(ctx, `SELECT count(*) FROM access WHERE cluster_id = $1 AND expires_at > now() + interval '30 days'`, id).Scan(&endless))
	must.Do(t.failAndEnd(ctx, k, id))
	throughIf(taken > 0 || before != after || endless > 0,
		"%d of 3 reports about the victim's access were taken, its row is %s and was %s, %d endless tokens are kept", taken, after, before, endless)
	return held("3 reports about the victim's access were refused and its row is as it was; no token is kept that is valid for a century")
}

// accessOf returns the oldest access to a cluster, and a digest of everything that is stored of the cluster's access.
func (t *target) accessOf(ctx context.Context, cluster string) (id, digest string, err error) {
	err = t.pool.QueryRow(ctx, `SELECT min(id), md5(string_agg(a::text, ' ' ORDER BY id)) FROM access a WHERE cluster_id = $1`, cluster).Scan(&id, &digest)
	return id, digest, err
}
