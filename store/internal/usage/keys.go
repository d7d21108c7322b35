package usage

// How people know what a row c of clusters belongs to. Empty: it has none. A cluster counts for the run that it ends with, not for the
// others that share it.
const (
	OwnerSQL       = "coalesce((SELECT s.name FROM person_spellings s WHERE s.spelling = lower(c.owner)), c.owner)"
	PullRequestSQL = "coalesce(c.repo || '#' || c.pr_number, '')"
	RunSQL         = "coalesce((SELECT coalesce(nullif(pr.url, ''), pr.platform || ':' || pr.scope || ':' || pr.key) FROM run_clusters rc JOIN runs pr ON pr.id = rc.run_id WHERE rc.cluster_id = c.id), '')"
)
