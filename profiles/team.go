package profiles

// Team is one that owns clusters: what its tags may say and what it may spend.
type Team struct {
	Name, DisplayName string
	Owner             string   // person or address that answers for the team's clusters when nobody else is named
	CostCenters       []string // allowed; the first is taken unasked
	Environments      []string // allowed; the first is taken unasked
	Weight            int      // share of turns when a quota is full: a team with 2 gets twice as many as one with 1
	Budget            Budget   // the zero value: none
}

// Budget is what a team may spend in a calendar month (UTC) by list prices: what its clusters cost so far, and what the
// living ones will until they end.
type Budget struct {
	MonthlyCents int64 // 0: no budget
	WarnPercent  int   // from here on a new cluster is warned of and needs an approval; 1 to 100
	Hard         bool  // above the whole nothing is accepted; else it needs an approval too
}
