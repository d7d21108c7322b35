// Command etcd is a server of etcd with its usual flags, but without its proxy and gateway, whose modules nothing else here needs. The real
// openshift-install starts it beside its local API server, see make build-cluster-api.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/pkg/v3/flags"
	"go.etcd.io/etcd/server/v3/embed"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(1)
	}
}

func run() error {
	cfg := embed.NewConfig()
	cfg.AddFlags(flag.CommandLine)
	flag.Parse()
	cfg.ListenPeerUrls = flags.UniqueURLsFromFlag(flag.CommandLine, "listen-peer-urls")
	cfg.AdvertisePeerUrls = flags.UniqueURLsFromFlag(flag.CommandLine, "initial-advertise-peer-urls")
	cfg.ListenClientUrls = flags.UniqueURLsFromFlag(flag.CommandLine, "listen-client-urls")
	cfg.AdvertiseClientUrls = flags.UniqueURLsFromFlag(flag.CommandLine, "advertise-client-urls")
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	defer server.Close()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	select {
	case <-stop:
		return nil
	case err := <-server.Err():
		return err
	}
}
