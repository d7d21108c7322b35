package list

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// readJSON reads an offer file entry by entry: the file of EC2 in one region has hundreds of megabytes.
func (f *finding) readJSON(in io.Reader) error {
	dec := json.NewDecoder(in)
	wanted := map[string]target{} // by SKU
	return readObject(dec, func(key string) error {
		switch key {
		case "publicationDate":
			var at time.Time
			if err := dec.Decode(&at); err != nil {
				return err
			}
			f.day = at.UTC().Format(time.DateOnly)
			return nil
		case "products":
			return readObject(dec, func(sku string) error {
				p, err := decodeProduct(dec)
				if at, ours := f.targetOf(p); ours {
					wanted[sku] = at
				}
				return err
			})
		case "terms":
			return readObject(dec, func(kind string) error {
				return readObject(dec, func(sku string) error {
					at, ours := wanted[sku]
					if kind != "OnDemand" || !ours {
						return dec.Decode(&json.RawMessage{})
					}
					return f.readTerms(dec, at)
				})
			})
		}
		return dec.Decode(&json.RawMessage{})
	})
}

// readObject calls a function with each key of an object; it has to read the value.
func readObject(dec *json.Decoder, value func(key string) error) error {
	if start, err := dec.Token(); err != nil {
		return err
	} else if start != json.Delim('{') {
		return fmt.Errorf("at byte %d: an object is missing", dec.InputOffset())
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		if err := value(fmt.Sprint(key)); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

func decodeProduct(dec *json.Decoder) (product, error) {
	var raw struct {
		ProductFamily string            `json:"productFamily"`
		Attributes    map[string]string `json:"attributes"`
	}
	if err := dec.Decode(&raw); err != nil {
		return nil, err
	}
	p := product{"productfamily": raw.ProductFamily}
	for key, value := range raw.Attributes {
		p[plainKey(key)] = value
	}
	return p, nil
}

func (f *finding) readTerms(dec *json.Decoder, at target) error {
	var offers map[string]struct {
		PriceDimensions map[string]struct {
			BeginRange   string            `json:"beginRange"`
			PricePerUnit map[string]string `json:"pricePerUnit"`
		} `json:"priceDimensions"`
	}
	if err := dec.Decode(&offers); err != nil {
		return err
	}
	for _, offer := range offers {
		for _, d := range offer.PriceDimensions {
			if err := f.addTier(at, d.BeginRange, d.PricePerUnit["USD"]); err != nil {
				return err
			}
		}
	}
	return nil
}

// addTier adds a price in dollars; another currency has none.
func (f *finding) addTier(at target, begin, dollars string) error {
	if dollars == "" {
		return nil
	}
	from, err := strconv.ParseFloat(begin, 64)
	if err != nil {
		return fmt.Errorf("a price of %s %s in %s begins at %q, which is no number", at.what, at.detail, at.region, begin)
	}
	return f.addPrice(at, from, dollars)
}

// readCSV reads an offer file line by line: some lines about the file, then a line with the columns.
func (f *finding) readCSV(in io.Reader) error {
	lines := csv.NewReader(in)
	lines.FieldsPerRecord = -1
	lines.ReuseRecord = true
	var columns []string
	for {
		line, err := lines.Read()
		switch {
		case errors.Is(err, io.EOF) && columns == nil:
			return errors.New("it is neither an offer file in JSON nor one in CSV: no line begins with SKU")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case columns != nil:
			err = f.readLine(columns, line)
		case line[0] == "SKU":
			for _, name := range line {
				columns = append(columns, plainKey(name))
			}
		case line[0] == "Publication Date" && len(line) > 1 && len(line[1]) >= len(time.DateOnly):
			f.day = line[1][:len(time.DateOnly)]
		}
		if err != nil {
			return err
		}
	}
}

func (f *finding) readLine(columns, line []string) error {
	p := product{}
	for i, value := range line {
		if i < len(columns) {
			p[columns[i]] = value
		}
	}
	at, ours := f.targetOf(p)
	if !ours || p["termtype"] != "OnDemand" || p["currency"] != "USD" {
		return nil
	}
	return f.addTier(at, p["startingrange"], p["priceperunit"])
}

// plainKey is a key in small letters and digits alone: "Pre Installed S/W" and preInstalledSw are the same.
func plainKey(key string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, key)
}
