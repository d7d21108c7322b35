package messages

import (
	"fmt"
)

// Problem is what is wrong with one field of a request, and what would be accepted.
type Problem struct {
	Detail string
	Accept []string
}

// CannotAccept is the answer to a request for a cluster with problems; they follow.
const CannotAccept = "The request cannot be accepted."

// acceptedTag is what a tag's value may be.
const acceptedTag = "1 to 256 letters, digits, spaces and _ . : / = + - @"

// The problems that are the same for every request.
var (
	GivenTwice = Problem{"It is given twice.", []string{"once"}}
)

// UnknownField is the problem with a field that does not exist; near is what may be meant, empty: nothing is near.
func UnknownField(near string, fields []string) Problem {
	detail := "There is no such field."
	if near != "" {
		detail += fmt.Sprintf(" Did you mean %s?", near)
	}
	return Problem{detail, fields}
}

// NotAString is the problem with a value that is no string; written is the value as the request has it, empty: it is not shown.
func NotAString(written string) Problem {
	return Problem{"It is not a string" + afterProblem(written) + ".", []string{"a string, in quotes"}}
}

// NotHours is the problem with a value that is no number of hours.
func NotHours(written string) Problem {
	return Problem{"It is not a number of hours" + afterProblem(written) + ".", []string{"a whole number of hours, such as 24"}}
}

// NotABoolean is the problem with an off-hours choice that is neither true nor false.
func NotABoolean(written string) Problem {
	return Problem{"It is neither true nor false" + afterProblem(written) + ".", []string{"true", "false"}}
}

// NotAnObject is the problem with tags that are no object.
func NotAnObject(written string) Problem {
	return Problem{"It is not an object" + afterProblem(written) + ".", []string{"an object of strings"}}
}

// NotAList is the problem with add-ons that are no list of names.
func NotAList(written string) Problem {
	return Problem{"It is not a list of names" + afterProblem(written) + ".", []string{"a list of strings"}}
}

// afterProblem puts a refused value behind its problem.
func afterProblem(written string) string {
	if written == "" {
		return ""
	}
	return ": " + written
}

// TooLong is the problem with a text of too many bytes.
func TooLong(size, most int) Problem {
	return Problem{fmt.Sprintf("It has %d bytes.", size), []string{fmt.Sprintf("at most %d bytes", most)}}
}

// MissingOwnership is the problem with a part of the ownership that neither the request nor a default gives.
func MissingOwnership(part string) Problem {
	return Problem{fmt.Sprintf("The %s is missing; every cluster carries it as a tag.", part), []string{acceptedTag}}
}

// NotATag is the problem with a value that cannot be written into a tag.
func NotATag(value, why string) Problem {
	return Problem{fmt.Sprintf("%q cannot be a tag: %s.", value, why), []string{acceptedTag}}
}
