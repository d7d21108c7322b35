// Command probe plays the runner in the tests that every dispatcher passes. The attempt's id says what it does: att_polite_… ends when it
// is asked to, att_stubborn_… does not, att_brief_… ends by itself. It reports what happens to it to the address that a real runner
// would take for the Status API.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	server := flag.String("server", "", "where to report")
	attempt := flag.String("attempt", "", "id of the attempt")
	token := flag.String("token-file", "", "the attempt's token")
	work := flag.String("work-dir", "", "must be writable")
	flag.String("installers", "", "not used")
	flag.Parse()

	asked := make(chan os.Signal, 8)
	signal.Notify(asked, syscall.SIGTERM)
	report := map[string]any{"attempt": *attempt, "what": "started", "pid": os.Getpid()}
	raw, err := os.ReadFile(*token)
	if err != nil {
		report["error"] = err.Error()
	}
	if info, err := os.Stat(*token); err == nil {
		report["mode"] = info.Mode().Perm()
	}
	if err := os.WriteFile(*work+"/written", nil, 0o600); err != nil {
		report["error"] = err.Error()
	}
	report["token"] = string(raw)
	post(*server, report)

	if strings.Contains(*attempt, "_brief_") {
		return
	}
	for range asked {
		post(*server, map[string]any{"attempt": *attempt, "what": "asked"})
		if !strings.Contains(*attempt, "_stubborn_") {
			return
		}
	}
}

func post(to string, report map[string]any) {
	body, err := json.Marshal(report)
	if err != nil {
		log.Fatal(err)
	}
	client := http.Client{Timeout: 10 * time.Second}
	resp, err := client.Post(to, "application/json", bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	_ = resp.Body.Close()
}
