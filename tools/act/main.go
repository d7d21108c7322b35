// Command act is nektos/act, with more commands for the stand-in GitHub. Each of them reads one order in JSON from standard input:
//
//	act triggers   which workflow files an event starts
//	act plan       which jobs a workflow has
//	act ready      what becomes of a job whose needs are completed
//	act outputs    the outputs of a reusable workflow
//	act job        execute one job, on this machine and without Docker, and write a line in JSON for everything that happens
//
// package workflow of the stand-in GitHub has their orders and answers. Everything else is act's own command line. It is a module of its
// own because a stand-in's dependencies are none of the product's.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/nektos/act/cmd"
	"github.com/nektos/act/pkg/common"
	"github.com/nektos/act/pkg/model"
	"github.com/sirupsen/logrus"
	"gopkg.in/yaml.v3"
)

func main() {
	answers := map[string]func() error{
		"triggers": answer(triggers), "plan": answer(plan), "ready": answer(ready), "outputs": answer(outputs), "job": job,
	}
	if len(os.Args) == 2 && answers[os.Args[1]] != nil {
		// A value of the wrong type in a workflow file would end the process.
		model.OnDecodeNodeError = func(_ yaml.Node, _ any, err error) { panic(wrongFile{err}) }
		logrus.SetOutput(io.Discard)
		if err := answers[os.Args[1]](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	ctx, cancel := common.CreateGracefulJobCancellationContext()
	defer cancel()
	cmd.Execute(ctx, "v0.2.89")
}

// wrongFile is a mistake in a workflow file that act notices late.
type wrongFile struct{ err error }

// caught turns such a mistake into an error.
func caught(fn func() error) (err error) {
	defer func() {
		switch wrong := recover().(type) {
		case nil:
		case wrongFile:
			err = wrong.err
		default:
			panic(wrong)
		}
	}()
	return fn()
}

// answer reads an order and writes the answer to it.
func answer[Order, Answer any](fn func(Order) Answer) func() error {
	return func() error {
		var order Order
		if err := json.NewDecoder(os.Stdin).Decode(&order); err != nil {
			return fmt.Errorf("read the order: %w", err)
		}
		return json.NewEncoder(os.Stdout).Encode(fn(order))
	}
}
