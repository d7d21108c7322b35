package store

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// keyKept is how long the key of a request that may be sent again is kept by default.
const keyKept = 24 * time.Hour

// earlierKeys selects what came of a principal's earlier requests with the same keys.
const earlierKeys = earlierKeyColumns + earlierKeySources + ` WHERE k.principal = $1 AND k.key = ANY ($2)`

const earlierKeyColumns = `
	SELECT k.key, k.content, k.expires_at, coalesce(k.request_id, '') AS request, coalesce(k.cluster_id, '') AS cluster, q.verdict,
		coalesce((SELECT a.id FROM approvals a WHERE a.cluster_id = k.cluster_id AND a.kind = 'create' ORDER BY a.id LIMIT 1), '') AS approval,
		coalesce(t.words, '') AS words, coalesce(t.position, 0) AS position`

const earlierKeySources = `
	FROM request_keys k LEFT JOIN cluster_requests q ON q.id = k.request_id LEFT JOIN turns t ON t.cluster_id = k.cluster_id`

// earlierKeysOfMany is earlierKeys for several principals, each with one of the keys.
const earlierKeysOfMany = earlierKeyColumns + `, k.principal` + earlierKeySources + ` JOIN unnest($1::text[], $2::text[]) AS asked (principal, key) USING (principal, key)`

// requestKey is what came of an earlier request with a key.
type requestKey struct {
	Key, Content     string
	ExpiresAt        *time.Time
	Request, Cluster string // ids; Request is empty if it got a cluster that was there, Cluster if it was refused
	Verdict          json.RawMessage
	Approval, Words  string
	Position         int
}

// toJudged returns the earlier result again, with the cluster as it is now.
func (k requestKey) toJudged(rows []clusters.RowRecord) Judged {
	out := Judged{Judgement: Judgement{Allowed: k.Cluster != "", Verdict: k.Verdict}, Request: k.Request, Replayed: true, Reused: k.Request == ""}
	for _, r := range rows {
		if row := r.Row(); row.ID == k.Cluster {
			out.Row = row
		}
	}
	if k.Approval != "" {
		out.Approval = &ApprovalAsk{ID: k.Approval}
	}
	if k.Words != "" {
		out.Turn = &TurnAsk{Words: k.Words, Position: k.Position}
	}
	return out
}

// keys are the keys of the request, in the order of their locks.
func (a Ask) keys() (keys []string) {
	if a.Once != nil {
		keys = append(keys, a.Once.Key)
	}
	if a.Key != "" {
		keys = append(keys, a.Key)
	}
	return keys
}

// keepKeys stores what came of the request under its keys.
func keepKeys(c *db.Tx, a Ask, out Judged) {
	caused := a.Key != "" && out.Request != ""
	if a.Once != nil && (!caused || a.Once.Key != a.Key) {
		expires := c.Now.Add(cmp.Or(a.Once.Keep, keyKept))
		c.InsertLast(insertKey, a.Principal, a.Once.Key, a.Once.Request, out.Request, out.Row.ID, c.Now, &expires)
	}
	if caused {
		c.InsertLast(insertKey, a.Principal, a.Key, "", out.Request, out.Row.ID, c.Now, nil)
	}
}

var insertKey = db.NewInsert("keep what came of the request",
	"principal text, key text, content text, request text, cluster text, at timestamptz, expires timestamptz", `
	INSERT INTO request_keys (principal, key, content, request_id, cluster_id, created_at, expires_at)
	SELECT principal, key, content, nullif(request, ''), nullif(cluster, ''), at, expires FROM given
	ON CONFLICT (principal, key) DO UPDATE SET content = excluded.content, request_id = excluded.request_id, cluster_id = excluded.cluster_id,
		created_at = excluded.created_at, expires_at = excluded.expires_at`)
