package ibmcloud

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// after returns one page of resources in order of creation: what follows the token, at most limit (0: all), and the next token. A token
// names the last resource shown, so that pages stay correct while resources come and go.
func after(found []*Resource, token string, limit int) ([]*Resource, string, error) {
	last, err := base64.RawURLEncoding.DecodeString(token)
	seq, numberErr := strconv.ParseInt(string(cmp.Or(string(last), "0")), 10, 64)
	if err != nil || numberErr != nil {
		return nil, "", refuse(http.StatusBadRequest, "invalid_start_token", "The page token is not valid.")
	}
	slices.SortFunc(found, func(a, b *Resource) int { return cmp.Compare(a.Seq, b.Seq) })
	found = slices.DeleteFunc(found, func(r *Resource) bool { return r.Seq <= seq })
	if limit <= 0 || len(found) <= limit {
		return found, "", nil
	}
	found = found[:limit]
	return found, base64.RawURLEncoding.EncodeToString(fmt.Append(nil, found[limit-1].Seq)), nil
}

// number reads a query parameter that has to be a number between 0 and most, and is usual if it is missing.
func (c *call) number(name string, usual, most int) (int, error) {
	text := c.query.Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, refuse(http.StatusBadRequest, "invalid_limit", "The parameter %s must be a number of at most %d.", name, most)
	}
	return n, nil
}

// length is the length of a page: as requested, otherwise the service's default, but not more than a test allows.
func (c *call) length(name string, usual, most int) (int, error) {
	n, err := c.number(name, usual, most)
	n, _ = c.server.Page(n)
	return n, err
}

// slicePage cuts a page out of a list by the number of items before it.
func slicePage[T any](all []T, offset, limit int) []T {
	from := min(offset, len(all))
	return all[from:min(from+limit, len(all))]
}
