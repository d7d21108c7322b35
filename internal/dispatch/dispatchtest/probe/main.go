// Command probe plays the runner in the tests that every dispatcher passes. The id of the attempt or scan says what it does: att_polite_… ends when it
// is asked to, att_stubborn_… does not, att_brief_… ends by itself; att_failing_… ends with exit code 3, att_filling_… writes 3 MiB to its
// work directory, att_deaf_… too and does not end when it is asked to, and att_hungry_… uses 200 MiB of memory. It reports what happens to it to the address that a real runner
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
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	server := flag.String("server", "", "where to report")
	attempt := flag.String("attempt", "", "id of the attempt")
	scan := flag.String("scan", "", "id of the scan, instead")
	token := flag.String("token-file", "", "the attempt's token")
	work := flag.String("work-dir", "", "must be writable")
	flag.String("installers", "", "not used")
	flag.Parse()
	if *scan != "" {
		*attempt = *scan
	}

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
	if *scan != "" && *work != "" {
		report["error"] = "a scan needs no work directory"
	}
	if *scan == "" {
		if err := os.WriteFile(*work+"/written", nil, 0o600); err != nil {
			report["error"] = err.Error()
		}
	}
	report["token"] = string(raw)
	post(*server, report)

	behaves := func(how string) bool { return strings.Contains(*attempt, "_"+how+"_") }
	switch {
	case behaves("brief"):
		return
	case behaves("failing"):
		log.Println("this runner fails")
		os.Exit(3)
	case behaves("filling"), behaves("deaf"):
		if err := os.WriteFile(*work+"/large", make([]byte, 3<<20), 0o600); err != nil {
			log.Fatal(err)
		}
	case behaves("hungry"):
		memory := make([]byte, 200<<20)
		for i := range memory {
			memory[i] = 1
		}
		defer runtime.KeepAlive(memory)
	}
	for range asked {
		post(*server, map[string]any{"attempt": *attempt, "what": "asked"})
		if !behaves("stubborn") && !behaves("deaf") {
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
