package ibmcloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/IBM/go-sdk-core/v5/core"
)

// The largest pages that every service of its kind accepts.
const (
	pageSize    = 100
	cisZonePage = 50
)

// list is one list of a service.
type list struct {
	what  string // for errors: "subnets of us-east"
	array string // the field that contains the items
	get   func(cursor string) (any, *core.DetailedResponse, error)
	next  func(page any, cursor string, items int) (string, error) // the cursor of the next page; empty: there is none
}

// readAll reads a list to its last page, each item as our T. A page that is refused, that is missing or that comes twice makes the whole list an
// error. Items go through JSON: T has the fields that are needed, and no pointers.
func readAll[T any](l list) ([]T, error) {
	all := []T{}
	seen := map[string]bool{}
	for cursor := ""; ; {
		page, response, err := l.get(cursor)
		if err := explainRefusal(response, err); err != nil {
			return nil, fmt.Errorf("list the %s: %w", l.what, err)
		}
		items, err := itemsOf[T](page, l.array)
		if err != nil {
			return nil, fmt.Errorf("list the %s: %w", l.what, err)
		}
		all = append(all, items...)
		if cursor, err = l.next(page, cursor, len(items)); err != nil {
			return nil, fmt.Errorf("list the %s: read the address of the next page: %w", l.what, err)
		}
		switch {
		case cursor == "":
			return all, nil
		case seen[cursor]:
			return nil, fmt.Errorf("list the %s: page %.80q comes again and again", l.what, cursor)
		}
		seen[cursor] = true
	}
}

// itemsOf returns the items of a page. The field is read as the SDK filled it: in JSON, some SDKs omit an empty list, which would look like one
// that the service did not send.
func itemsOf[T any](page any, array string) ([]T, error) {
	if core.IsNil(page) {
		return nil, errEmpty
	}
	value := reflect.Indirect(reflect.ValueOf(page))
	for i := range value.NumField() {
		name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		if name != array || value.Field(i).IsNil() {
			continue
		}
		raw, err := json.Marshal(value.Field(i).Interface())
		if err != nil {
			return nil, err
		}
		items := []T{}
		return items, json.Unmarshal(raw, &items)
	}
	return nil, fmt.Errorf("the response has no list %q", array)
}

// startsAfter continues lists whose pages contain the start of the next one.
func startsAfter(page any, _ string, _ int) (string, error) {
	start, err := page.(interface{ GetNextStart() (*string, error) }).GetNextStart()
	return zeroOrValue(start), err
}

// tokenIn continues IAM's lists, whose pages contain the address of the next one.
func tokenIn(next *string) (string, error) {
	if zeroOrValue(next) == "" {
		return "", nil
	}
	address, err := url.Parse(*next)
	if err != nil {
		return "", err
	}
	token := address.Query().Get("pagetoken")
	if token == "" {
		return "", fmt.Errorf("%.80q has no pagetoken", *next)
	}
	return token, nil
}

// pageAfter continues lists with numbered pages. A page may be shorter than asked for, so what it says of itself and the total decide.
func pageAfter(cursor string, perPage, total *int64, items int) (string, error) {
	page := cursorNumber(cursor, 1)
	switch {
	case perPage == nil || total == nil || *perPage <= 0:
		return "", errNoTotal
	case page**perPage >= *total:
		return "", nil
	case items == 0:
		return "", fmt.Errorf("page %d is empty, but there are %d items", page, *total)
	}
	return strconv.FormatInt(page+1, 10), nil
}

// nextCount continues lists of which a page says how many items there are altogether.
func nextCount(cursor string, total *int64, items int) (string, error) {
	read := cursorNumber(cursor, 0) + int64(items)
	switch {
	case total == nil:
		return "", errNoTotal
	case read >= *total:
		return "", nil
	case items == 0:
		return "", fmt.Errorf("it ends after %d of %d items", read, *total)
	}
	return strconv.FormatInt(read, 10), nil
}

var errNoTotal = errors.New("the response does not say how many there are")

// optionalCursor is a cursor as the SDKs want it.
func optionalCursor(cursor string) *string {
	if cursor == "" {
		return nil
	}
	return &cursor
}

func cursorNumber(cursor string, first int64) int64 {
	n, err := strconv.ParseInt(cursor, 10, 64)
	if err != nil {
		return first
	}
	return n
}

// zeroOrValue returns the zero value for what a response does not contain.
func zeroOrValue[T any](value *T) (v T) {
	if value != nil {
		v = *value
	}
	return v
}
