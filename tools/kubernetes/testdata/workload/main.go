// Command workload is what the tests' pods execute.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	args := os.Args[2:]
	switch os.Args[1] {
	case "exit":
		code, _ := strconv.Atoi(args[0])
		fmt.Println("exiting with", code)
		os.Exit(code)
	case "wait":
		wait()
	case "serve":
		go func() { fmt.Println(http.ListenAndServe(args[0], http.NotFoundHandler())) }()
		wait()
	case "forever": // does not hear SIGTERM
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		time.Sleep(time.Hour)
	case "allocate":
		allocate(args[0])
	case "fill":
		fill(args[0], args[1])
	case "show":
		show(args)
	}
}

func wait() {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	fmt.Println("ready")
	<-terminated
	fmt.Println("terminated politely")
}

func allocate(mebibytes string) {
	n, _ := strconv.Atoi(mebibytes)
	var all [][]byte
	for range n {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 1
		}
		all = append(all, block)
	}
	time.Sleep(time.Minute)
	fmt.Println(len(all))
}

func fill(path, mebibytes string) {
	n, _ := strconv.Atoi(mebibytes)
	if err := os.WriteFile(path, make([]byte, n<<20), 0o600); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	signal.Ignore(syscall.SIGTERM)
	time.Sleep(time.Hour)
}

// show prints what the process is and what it can do: ids, env:NAME, read:PATH, write:PATH, list:PATH.
func show(questions []string) {
	for _, q := range questions {
		kind, name, _ := strings.Cut(q, ":")
		switch kind {
		case "ids":
			groups, _ := os.Getgroups()
			fmt.Println("ids", os.Getpid(), os.Getuid(), os.Getgid(), groups)
		case "env":
			fmt.Println(q, os.Getenv(name))
		case "read":
			raw, err := os.ReadFile(name)
			fmt.Println(q, strings.ReplaceAll(string(raw), "\n", " "), err)
		case "write":
			fmt.Println(q, os.WriteFile(name, []byte("x"), 0o600))
		case "list":
			entries, err := os.ReadDir(name)
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			fmt.Println(q, names, err)
		}
	}
}
