package messages

import (
	"cmp"
	"fmt"
	"strings"
)

// Problem is what is wrong with one field of a request, and what would be accepted.
type Problem struct {
	Detail string
	Accept []string
}

// CannotAccept is the answer to a request for a cluster with problems; they follow.
const CannotAccept = "The request cannot be accepted."

// AddReason is the answer to a change without a reason, or with one that is too long; its problem follows.
const AddReason = "Add a reason for the audit trail."

// IdempotencyKeyReused tells a requester that their Idempotency-Key belongs to another request.
const IdempotencyKeyReused = "This Idempotency-Key was used for another request. Send the same request again, or use a new key."

// acceptedTag is what a tag's value may be.
const acceptedTag = "1 to 256 letters, digits, spaces and _ . : / = + - @"

// The problems that are the same for every request.
var (
	GivenTwice = Problem{"It is given twice.", []string{"once"}}
	Unstorable = Problem{"it holds a NUL, or bytes that are no UTF-8", []string{"text in UTF-8, without NUL"}}
	NotASSHKey = Problem{"This is not a public key in OpenSSH's format.", []string{`"ssh-ed25519 AAAAC3… comment", as it stands in a .pub file`}}
)

// NameNotTaken says what would be accepted instead of a taken name.
const NameNotTaken = "a name that no live cluster has"

// EmptyRequest is the problem with a request without content.
func EmptyRequest(fields []string) Problem { return Problem{"It is empty.", fields} }

// UnreadableRequest is the problem with a request that is neither JSON nor YAML.
func UnreadableRequest(err error) Problem {
	return Problem{"It cannot be read: " + strings.TrimPrefix(err.Error(), "yaml: ") + ".", []string{"one JSON or YAML object"}}
}

// NotOneObject is the problem with a request that is a list, a single value, or several documents.
func NotOneObject(fields []string) Problem { return Problem{"It is not a single object.", fields} }

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
	return Problem{"It is not a string" + shown(written) + ".", []string{"a string, in quotes"}}
}

// NotHours is the problem with a value that is no number of hours.
func NotHours(written string) Problem {
	return Problem{"It is not a number of hours" + shown(written) + ".", []string{"a whole number of hours, such as 24"}}
}

// LifetimeGivenTwice is the problem with a lifetime in two forms.
var LifetimeGivenTwice = Problem{"The lifetime is given twice.", []string{"ttl or ttlHours, one of them"}}

// NotABoolean is the problem with an off-hours choice that is neither true nor false.
func NotABoolean(written string) Problem {
	return Problem{"It is neither true nor false" + shown(written) + ".", []string{"true", "false"}}
}

// NotAnObject is the problem with tags that are no object.
func NotAnObject(written string) Problem {
	return Problem{"It is not an object" + shown(written) + ".", []string{"an object of strings"}}
}

// NotAList is the problem with add-ons that are no list of names.
func NotAList(written string) Problem {
	return Problem{"It is not a list of names" + shown(written) + ".", []string{"a list of strings"}}
}

// shown puts a refused value behind its problem.
func shown(written string) string {
	if written == "" {
		return ""
	}
	return ": " + written
}

// TooLong is the problem with a text of too many bytes.
func TooLong(size, most int) Problem {
	return Problem{fmt.Sprintf("It has %d bytes.", size), []string{fmt.Sprintf("at most %d bytes", most)}}
}

// ReasonSize is the problem with a reason that is missing or too long.
func ReasonSize(size, most int) Problem {
	return Problem{fmt.Sprintf("it has %d bytes", size), []string{fmt.Sprintf("1 to %d bytes", most)}}
}

// TooManyTags is the problem with more tags than a cluster can have.
func TooManyTags(n, most int) Problem {
	return Problem{fmt.Sprintf("There are %d.", n), []string{fmt.Sprintf("at most %d", most)}}
}

// TooManyAddons is the problem with more add-ons than a cluster can have, or with names that are too long.
func TooManyAddons(n, most int) Problem {
	return Problem{fmt.Sprintf("There are %d, or one of their names is too long.", n), []string{fmt.Sprintf("at most %d names", most)}}
}

// TagTooLong is the problem with a tag of too many bytes.
func TagTooLong(size int) Problem {
	return Problem{fmt.Sprintf("One of them has %d bytes.", size), []string{"keys of at most 128 characters, values of at most 256"}}
}

// OtherPlatform is the problem with a platform that the profile is not on.
func OtherPlatform(profile, platform, its string) Problem {
	return Problem{fmt.Sprintf("Profile %s is not on %q.", profile, platform), []string{its}}
}

// MissingOwnership is the problem with a part of the ownership that neither the request nor a default gives.
func MissingOwnership(part string) Problem {
	return Problem{fmt.Sprintf("The %s is missing; every cluster carries it as a tag.", part), []string{acceptedTag}}
}

// NotATag is the problem with a value that cannot be written into a tag.
func NotATag(value, why string) Problem {
	return Problem{fmt.Sprintf("%q cannot be a tag: %s.", value, why), []string{acceptedTag}}
}

// OtherEnvironment is the problem with a tag that names another environment than the field does.
func OtherEnvironment(tag, environment string) Problem {
	return Problem{fmt.Sprintf("It is %q, but environment is %q.", tag, environment), []string{"environment alone"}}
}

// MoreProblems says how many problems of a request are not listed.
func MoreProblems(n int) string {
	if n == 1 {
		return "1 more problem is not listed. Correct those that are, and ask again."
	}
	return fmt.Sprintf("%d more problems are not listed. Correct these first, then try again.", n)
}

// The warning about an SSH key that is abbreviated, as documentation prints keys.
const (
	AbbreviatedKeyAsked  = "a key that ends in dots"
	AbbreviatedKeyAccept = "a whole line of a .pub file"
	AbbreviatedKey       = "The SSH public key is abbreviated (it ends in dots), so it was ignored. The nodes get the installation's key."
	AbbreviatedKeyNext   = "To use a key of your own, send the whole line of a .pub file."
)

// FileProblem says at a line of a repository's file what is wrong there and what would be accepted; field is empty if it is about
// the whole file.
func FileProblem(field, got, accept string) (title, message string) {
	return cmp.Or(field, "the file"), got + "; accepted: " + accept
}
