package storetest

import (
	"github.com/ocpctl/ocpctl/store/inbox"
)

func RowsOf(waiting []inbox.Waiting) (rows []int64) {
	for _, w := range waiting {
		rows = append(rows, w.Row)
	}
	return rows
}
