package aws

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
)

// after returns one page of a list sorted by key: what follows the token, at most limit (0: all), and the next token. A token names
// the last item shown, so that pages stay correct while items come and go.
func after[T any](found []T, token string, limit int, key func(T) string) ([]T, string, error) {
	last, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return nil, "", err
	}
	found = slices.DeleteFunc(slices.Clone(found), func(r T) bool { return token != "" && key(r) <= string(last) })
	slices.SortFunc(found, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	if limit <= 0 || len(found) <= limit {
		return found, "", nil
	}
	found = found[:limit]
	return found, base64.RawURLEncoding.EncodeToString([]byte(key(found[limit-1]))), nil
}

// bySeq is called for every resource by every list.
func bySeq(r *Resource) string {
	digits := strconv.FormatInt(r.Seq, 10)
	return "000000000000"[min(len(digits), 12):] + digits
}

// limited returns the length of a page: as requested, otherwise the service's default (0: everything), but not more than a test
// allows.
func (c *call) limited(asked, usual int) int {
	length, _ := c.server.Page(cmp.Or(asked, usual))
	return length
}

// short reports that a test has limited the length of pages.
func (c *call) short() bool {
	_, limited := c.server.Page(0)
	return limited
}

// page applies EC2's MaxResults, unless the call has no pages because it names ids, or never has any.
func page[T any](c *call, found []T, whole bool, key func(T) string) ([]T, []node, error) {
	limit, token := c.params.number("MaxResults"), c.params.get("NextToken")
	if limit != 0 && whole {
		return nil, nil, fault("InvalidParameterCombination", "The parameter maxResults cannot be used with ids")
	}
	if whole {
		return found, nil, nil
	}
	if limit != 0 && limit < 5 {
		return nil, nil, fault("InvalidParameterValue", "Value ( %d ) for parameter maxResults is invalid. Expecting a value greater than 5.", limit)
	}
	if limit != 0 && token == "" && c.short() {
		return nil, []node{el("nextToken", firstToken)}, nil
	}
	found, last, err := after(found, token, c.limited(limit, 0), key)
	if err != nil {
		return nil, nil, fault("InvalidNextToken", "The token is invalid")
	}
	if last == "" {
		return found, nil, nil
	}
	return found, []node{el("nextToken", last)}, nil
}
