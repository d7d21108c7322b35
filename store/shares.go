package store

// sharedWith selects the clusters that are shared with a principal or its teams.
const sharedWith = `
	SELECT s.cluster_id FROM shares s
	WHERE (s.kind = 'principal' AND s.grantee = @principal) OR (s.kind = 'team' AND s.grantee = ANY (@teams))`
