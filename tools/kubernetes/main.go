// Command kubernetes is a Kubernetes cluster in one program: etcd, the API server, the controllers, the scheduler and kubelets, all
// real, and a container runtime that executes pods as processes of this machine (package cri). It serves on the loopback interface.
// It prints one line when pods can be created, and runs until its standard input ends or it gets SIGTERM, so that it never outlives
// the process that started it. Its state is kept in a directory and found again by the next run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/tools/kubernetes/node"
)

func main() {
	if err := setVersion(); err != nil {
		exit(err, os.Stderr)
	}
	if os.Args[0] == node.Name {
		exit(node.Main(), os.Stderr)
	}
	var o Options
	flag.StringVar(&o.Dir, "dir", "", "directory of the state; created if missing")
	flag.IntVar(&o.Port, "port", 0, "port of the API server on 127.0.0.1; 0: the one of the previous run, or a free one")
	flag.IntVar(&o.Nodes, "nodes", 1, "number of nodes")
	flag.IntVar(&o.CPUs, "cpus", 8, "CPUs that each node says it has")
	flag.StringVar(&o.Memory, "memory", "16Gi", "memory that each node says it has")
	flag.StringVar(&o.Storage, "storage", "50Gi", "ephemeral storage that each node says it has")
	flag.StringVar(&o.Images, "images", "", "file with the table of images; empty: images.json in the directory")
	flag.DurationVar(&o.Heartbeat, "heartbeat", 10*time.Second, "how often a node says that it is alive")
	flag.DurationVar(&o.NodeGrace, "node-grace", 50*time.Second, "how long a silent node is believed to be alive")
	flag.IntVar(&o.Toleration, "toleration", 300, "seconds that pods stay on a node that is not ready or cannot be reached")
	flag.Parse()
	stderr, err := prepare(&o)
	if err != nil {
		exit(err, os.Stderr)
	}
	exit(run(o), stderr)
}

func exit(err error, stderr *os.File) {
	if err != nil {
		fmt.Fprintln(stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// prepare makes the directory and sends logs there. It returns where errors go.
func prepare(o *Options) (*os.File, error) {
	if o.Dir == "" {
		return nil, errors.New("-dir is required: the directory of the state")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	if o.Images == "" {
		o.Images = filepath.Join(o.Dir, "images.json")
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	return logTo(filepath.Join(o.Dir, logName))
}

func run(o Options) error {
	signal.Ignore(os.Interrupt, syscall.SIGHUP) // those that reach the whole process group are for the parent to act upon
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // its end is the message
		stop()
	}()
	kubeconfig, ended, err := start(ctx, o)
	if err != nil {
		return fmt.Errorf("start Kubernetes (its log is %s): %w", filepath.Join(o.Dir, logName), err)
	}
	fmt.Println("ready", kubeconfig)
	select {
	case <-ctx.Done():
	case err := <-ended:
		return err
	}
	return nil
}
