package config

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // images without time zones
)

// Reports are the settings of what is reported without being asked for.
type Reports struct {
	Weekly WeeklyReport `yaml:"weekly"` // in Slack
}

// WeeklyReport says when and where the report on the last seven days is posted in Slack.
type WeeklyReport struct {
	Enabled bool   `yaml:"enabled"` // whether it is posted
	Channel string `yaml:"channel"` // id of the channel that gets the report over all teams; empty: slack.admin_channel
	Weekday string `yaml:"weekday"` // monday to sunday
	Hour    int    `yaml:"hour"`    // 0 to 23, in the zone
	Zone    string `yaml:"zone"`    // name in the IANA time zone database
}

// Day returns the weekday. ok is false if it is none.
func (w WeeklyReport) Day() (day time.Weekday, ok bool) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.EqualFold(day.String(), w.Weekday) {
			return day, true
		}
	}
	return 0, false
}

// Location returns the time zone.
func (w WeeklyReport) Location() (*time.Location, error) { return time.LoadLocation(w.Zone) }

func (w WeeklyReport) checkReport() (bad []error) {
	if id := w.Channel; id != "" && !slackChannel.MatchString(id) {
		bad = append(bad, fmt.Errorf("reports.weekly.channel is %q; give the channel's id, such as C012AB3CD (in Slack: the channel's details, at the bottom), or omit it", id))
	}
	if _, ok := w.Day(); !ok {
		bad = append(bad, fmt.Errorf("reports.weekly.weekday is %q; give a day in English, such as monday", w.Weekday))
	}
	if w.Hour < 0 || w.Hour > 23 {
		bad = append(bad, fmt.Errorf("reports.weekly.hour is %d; give an hour from 0 to 23", w.Hour))
	}
	if _, err := w.Location(); err != nil || w.Zone == "" || w.Zone == "Local" {
		bad = append(bad, fmt.Errorf("reports.weekly.zone is %q; give the name of a time zone, such as Europe/Berlin or UTC", w.Zone))
	}
	return bad
}
