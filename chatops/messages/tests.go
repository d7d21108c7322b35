package messages

import "fmt"

// NotSeconds is the problem with a duration in seconds.
func NotSeconds(most int) Problem {
	return Problem{"It is not a possible duration.", []string{fmt.Sprintf("0 to %d seconds", most)}}
}

// TooManyOf is the problem with a list that is too long.
func TooManyOf(n, most int) Problem {
	return Problem{fmt.Sprintf("The list has %d entries.", n), []string{fmt.Sprintf("at most %d", most)}}
}
