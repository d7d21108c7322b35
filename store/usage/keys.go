package usage

// How people know what a row c of clusters belongs to. Empty: it has none. A cluster counts for the run that it ends with, not for the
// others that share it.
const (
	OwnerSQL       = "coalesce((SELECT s.name FROM person_spellings s WHERE s.spelling = lower(c.owner)), c.owner)"
	PullRequestSQL = "coalesce(c.repo || '#' || c.pr_number, '')"
	RunSQL         = "coalesce((SELECT coalesce(nullif(pr.url, ''), pr.platform || ':' || pr.scope || ':' || pr.key) FROM run_clusters rc JOIN runs pr ON pr.id = rc.run_id WHERE rc.cluster_id = c.id AND (c.claimed_at IS NULL OR c.destroyed_at IS DISTINCT FROM c.claimed_at)), '')"
)

// The reasons of attempts that no runner of this database ran: they stand for what the bucket or the cloud told of.
const (
	ReasonRestored = "DatabaseRestored" // it ran after the backup from which the database was restored
	ReasonFound    = "FoundInCloud"     // nothing but the cloud tells of it
)

// What reports leave out: an attempt a whose end nobody knows, and a cluster c of which nothing but the cloud told. Nobody is known to have asked
// for it: the owner and the team on its row are what its tags say, and anybody with access to the account can write those.
const (
	RanSQL       = "a.reason NOT IN ('" + ReasonRestored + "', '" + ReasonFound + "')"
	RequestedSQL = "c.source <> 'recovery'"
)
