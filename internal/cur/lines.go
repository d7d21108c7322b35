package cur

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Billed is what AWS billed for a cluster in a day.
type Billed struct {
	Day       time.Time // its start, UTC
	ClusterID string    // what the tag ClusterId says; empty: the lines have no such tag
	Nanos     int64     // billionths of a US dollar; credits are negative
}

// Bill is a delivery, summed up by day and cluster.
type Bill struct {
	Lines  int // of all files
	Billed []Billed
}

// sum adds up lines.
type sum struct {
	lines        int
	installation string
	nanos        map[group]int64
}

type group struct {
	day     time.Time
	cluster string
}

func (s *sum) listBilled() []Billed {
	all := make([]Billed, 0, len(s.nanos))
	for g, nanos := range s.nanos {
		all = append(all, Billed{g.day, g.cluster, nanos})
	}
	slices.SortFunc(all, func(a, b Billed) int { return cmp.Or(a.Day.Compare(b.Day), cmp.Compare(a.ClusterID, b.ClusterID)) })
	return all
}

// The columns that are read: https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-cur2.html
const (
	colStart    = "line_item_usage_start_date"
	colType     = "line_item_line_item_type"
	colCost     = "line_item_unblended_cost"
	colCurrency = "line_item_currency_code"
	colTags     = "resource_tags"
	colSavings  = "savings_plan_savings_plan_effective_cost" // only with savings plans
	colReserved = "reservation_effective_cost"               // only with reservations
)

// addFile reads one file.
func (s *sum) addFile(_ string, body io.Reader) error {
	unpacked, err := gzip.NewReader(body)
	if err != nil {
		return err
	}
	buffered := bufio.NewReader(unpacked)
	if mark, _ := buffered.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = buffered.Discard(3)
	}
	in := csv.NewReader(buffered)
	in.ReuseRecord = true
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	if err != nil {
		return err
	}
	at, err := columnsOf(head)
	if err != nil {
		return err
	}
	for {
		line, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = s.addLine(at, line)
		}
		if err != nil {
			return err
		}
	}
}

// columns are the positions of columns by name, and of those that hold one tag each by the tag's name in plain form.
type columns struct{ named, tags map[string]int }

func columnsOf(head []string) (columns, error) {
	at := columns{map[string]int{}, map[string]int{}}
	for i, name := range head {
		at.named[name] = i
		if tag, one := strings.CutPrefix(name, colTags+"_"); one { // a query that selects resource_tags.user_cluster_id gives it a column of its own
			at.tags[plainTagKey(tag)] = i
		}
	}
	var missing []string
	for _, name := range []string{colStart, colType, colCost, colCurrency} {
		if _, there := at.named[name]; !there {
			missing = append(missing, name)
		}
	}
	_, all := at.named[colTags]
	if _, one := at.tags[plainTagKey(clusterTag)]; !all && !one {
		missing = append(missing, colTags)
	}
	if len(missing) > 0 {
		return at, fmt.Errorf("it has no column %s; select it in the export's query", strings.Join(missing, ", "))
	}
	return at, nil
}

const (
	clusterTag      = "ClusterId"
	installationTag = "InstallationId"
)

func (s *sum) addLine(at columns, line []string) error {
	s.lines++
	get := func(name string) string {
		if i, there := at.named[name]; there {
			return line[i]
		}
		return ""
	}
	column := colCost
	switch get(colType) {
	case "SavingsPlanNegation", "SavingsPlanUpfrontFee", "SavingsPlanRecurringFee", "RIFee":
		return nil // what they pay for stands at the usage that they cover
	case "SavingsPlanCoveredUsage":
		column = colSavings
	case "DiscountedUsage":
		column = colReserved
	}
	if _, there := at.named[column]; !there { // without it the usage would seem to cost nothing
		return fmt.Errorf("line %d: it is of the type %s, and the file has no column %s; select it in the export's query", s.lines, get(colType), column)
	}
	cost, err := strconv.ParseFloat(cmp.Or(get(column), "0"), 64)
	if err != nil || math.Abs(cost) > 1e9 {
		return fmt.Errorf("line %d: %s is %q, which is no amount", s.lines, column, get(column))
	}
	if cost == 0 {
		return nil
	}
	if currency := get(colCurrency); currency != "USD" {
		return fmt.Errorf("line %d: the currency is %q; only USD is supported", s.lines, currency)
	}
	start, err := time.Parse(time.RFC3339, get(colStart))
	if err != nil {
		return fmt.Errorf("line %d: %s is %q, which is no time", s.lines, colStart, get(colStart))
	}
	tags, err := at.tagsOf(get(colTags), line)
	if err != nil {
		return fmt.Errorf("line %d: %w", s.lines, err)
	}
	if whose := tags[plainTagKey(installationTag)]; whose != "" && whose != s.installation {
		return nil
	}
	s.nanos[group{start.UTC().Truncate(24 * time.Hour), tags[plainTagKey(clusterTag)]}] += int64(math.Round(cost * 1e9))
	return nil
}

// tagsOf returns the two tags that matter, by their plain names.
func (c columns) tagsOf(all string, line []string) (map[string]string, error) {
	found := map[string]string{}
	for _, name := range []string{plainTagKey(clusterTag), plainTagKey(installationTag)} {
		if i, there := c.tags[name]; there {
			found[name] = line[i]
		}
	}
	if all == "" || all == "{}" {
		return found, nil
	}
	var tags map[string]string
	if err := json.Unmarshal([]byte(all), &tags); err != nil {
		return nil, fmt.Errorf("%s is not a JSON object of texts: %w", colTags, err)
	}
	for _, key := range slices.SortedFunc(maps.Keys(tags), func(a, b string) int { return cmp.Or(rankTagKey(a)-rankTagKey(b), cmp.Compare(a, b)) }) {
		found[plainTagKey(key)] = tags[key] // the best one is last
	}
	return found, nil
}

// rankTagKey is higher the more a key is one of ours: a tag cluster-id that somebody else made must not win over ClusterId.
func rankTagKey(key string) int {
	key = strings.TrimPrefix(key, "user:")
	switch {
	case key == clusterTag || key == installationTag:
		return 2
	case key == "user_cluster_id" || key == "user_installation_id": // as AWS writes them
		return 1
	}
	return 0
}

// plainTagKey removes what AWS adds to a tag's key: user_cluster_id, user:ClusterId and ClusterId are the same key.
func plainTagKey(key string) string {
	for _, prefix := range []string{"user_", "user:"} {
		key = strings.TrimPrefix(key, prefix)
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, key)
}
