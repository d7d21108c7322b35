package lifecycle

import (
	"fmt"
	"strings"
)

// Blocker is what a verification still counted, or could not query, and how it can be removed.
type Blocker struct {
	Name    string `json:"name"`              // what it is, such as "vpc vpc-1 (shop-vpc)"
	Free    string `json:"free,omitempty"`    // who can remove it, and what to do if that is no command
	Command string `json:"command,omitempty"` // removes it, or lets it be removed
	Remark  string `json:"remark,omitempty"`  // on that
}

// Title says what it is and who can remove it, without the command and the remark.
func (b Blocker) Title() string {
	if b.Free == "" {
		return b.Name
	}
	return b.Name + ": " + b.Free
}

func (b Blocker) String() string {
	text := b.Title()
	if b.Command != "" {
		text += ": " + b.Command
	}
	if b.Remark != "" {
		text += " (" + b.Remark + ")"
	}
	return text
}

// DescribeBlockers returns each blocker as text.
func DescribeBlockers(all []Blocker) []string {
	texts := make([]string, 0, len(all))
	for _, b := range all {
		texts = append(texts, b.String())
	}
	return texts
}

// nameBlockers names the first blockers, without the text on who can remove them and how. All of them stand beside the reason.
func nameBlockers(blockers []Blocker) string {
	const most = 3
	var out []string
	for _, b := range blockers[:min(len(blockers), most)] {
		out = append(out, b.Name)
	}
	if more := len(blockers) - most; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}
