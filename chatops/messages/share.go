package messages

// UnknownShareTeam is the problem with a share for a team that does not exist.
func UnknownShareTeam(team string) Problem {
	return Problem{noTeam(team), []string{"a team that the catalogue declares"}}
}
