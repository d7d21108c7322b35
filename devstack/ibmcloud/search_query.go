package ibmcloud

import (
	"net/http"
	"regexp"
	"strings"
)

// matcher decides about one document of the index.
type matcher func(object) bool

var queryTokens = regexp.MustCompile(`\(|\)|[a-z_]+:"[^"]*"|[^\s()]+`)

// queryParser reads the part of Lucene's language that is in use: field:value, field:"value", a * at the end or alone, AND, OR, NOT and
// parentheses. AND binds more strongly than OR.
type queryParser struct{ tokens []string }

func parseQuery(text string) (matcher, error) {
	p := &queryParser{queryTokens.FindAllString(text, -1)}
	if len(p.tokens) == 0 {
		return func(object) bool { return true }, nil
	}
	m, err := p.either()
	if err == nil && len(p.tokens) > 0 {
		err = badQuery(p.tokens[0])
	}
	return m, err
}

func badQuery(at string) error {
	return refuse(http.StatusBadRequest, "invalid_query", "The query cannot be understood at %q.", at)
}

func (p *queryParser) next() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *queryParser) take() string {
	t := p.next()
	if t != "" {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *queryParser) either() (matcher, error) {
	m, err := p.both()
	for err == nil && p.next() == "OR" {
		p.take()
		left := m
		var right matcher
		right, err = p.both()
		m = func(d object) bool { return left(d) || right(d) }
	}
	return m, err
}

func (p *queryParser) both() (matcher, error) {
	m, err := p.one()
	for err == nil && p.next() == "AND" {
		p.take()
		left := m
		var right matcher
		right, err = p.one()
		m = func(d object) bool { return left(d) && right(d) }
	}
	return m, err
}

func (p *queryParser) one() (matcher, error) {
	t := p.take()
	switch t {
	case "NOT":
		m, err := p.one()
		return func(d object) bool { return !m(d) }, err
	case "(":
		m, err := p.either()
		if err == nil && p.take() != ")" {
			err = badQuery("the missing )")
		}
		return m, err
	case "*":
		return func(object) bool { return true }, nil
	}
	field, value, found := strings.Cut(t, ":")
	known := contains([]string{"name", "type", "family", "crn", "tags", "resource_group_id", "region", "account_id", "service_name", "resource_id"}, field)
	if !found || !known || value == "" {
		return nil, badQuery(t)
	}
	value = strings.ToLower(strings.ReplaceAll(strings.Trim(value, `"`), `\`, ""))
	return func(d object) bool {
		all, several := d[field].([]string)
		if text, ok := d[field].(string); ok && !several {
			all = []string{text}
		}
		for _, v := range all {
			v = strings.ToLower(v)
			prefix, open := strings.CutSuffix(value, "*")
			if v == value || open && strings.HasPrefix(v, prefix) {
				return true
			}
		}
		return false
	}, nil
}
