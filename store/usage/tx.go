// Package usage counts what people, teams and repositories use, and what clusters cost.
package usage

import (
	"github.com/ocpctl/ocpctl/store/db"
)

// DB is a database whose usage can be counted.
type DB struct{ *db.DB }

// Tx is a transaction that counts usage.
type Tx struct{ *db.Tx }
