// Command images builds a container image of one of ocpctl's programs without a daemon, as an OCI archive, and unpacks one again.
//
// The same files and the same -created give the same bytes. Without -base the image holds nothing but the program, the root
// certificates and the users' files, which is enough for static programs. The programs that a runner starts (openshift-install, oc) are
// linked against glibc, so a runner for real clusters needs a base that has it; deploy/images/Containerfile.runner names one.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("give a command: build or unpack")
	}
	switch args[0] {
	case "build":
		return runBuild(args[1:])
	case "unpack":
		return runUnpack(args[1:])
	}
	return fmt.Errorf("%q is not a command; give build or unpack", args[0])
}

func runBuild(args []string) error {
	r := recipe{files: map[string]string{}}
	flags := flag.NewFlagSet("images build", flag.ContinueOnError)
	program := flags.String("program", "", "the program that the image starts: a `file` on this machine")
	flags.StringVar(&r.arch, "arch", "amd64", "the program's architecture")
	flags.StringVar(&r.version, "version", "", "the program's version")
	flags.StringVar(&r.revision, "revision", "", "the commit that it was built from")
	created := flags.String("created", "", "when the image counts as made, RFC 3339; the commit's time keeps builds reproducible")
	base := flags.String("base", "", "an OCI archive, or a registry's image by digest, to build on; empty: nothing")
	out := flags.String("out", "", "the OCI archive to write")
	flags.Func("add", "PATH=FILE: a file or folder of this machine to put at PATH in the image; may be repeated", func(pair string) error {
		path, file, ok := strings.Cut(pair, "=")
		if !ok || !strings.HasPrefix(path, "/") || file == "" {
			return errors.New("give /path/in/image=file")
		}
		r.files[path] = file
		return nil
	})
	flags.Func("dir", "an empty directory for volumes, such as /work; may be repeated", func(dir string) error {
		r.dirs = append(r.dirs, dir)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *program == "" || *out == "" || r.version == "" {
		return errors.New("-program, -version and -out are required")
	}
	var err error
	if r.created, err = time.Parse(time.RFC3339, *created); err != nil {
		return fmt.Errorf("-created is %q; give a time such as 2026-01-31T12:00:00Z", *created)
	}
	r.setProgram(*program)
	if r.base, err = openBase(*base, r.arch); err != nil {
		return err
	}
	img, err := r.build()
	if err != nil {
		return err
	}
	digest, err := writeArchive(img, *out)
	if err != nil {
		return err
	}
	fmt.Println(*out, digest)
	return nil
}

func runUnpack(args []string) error {
	flags := flag.NewFlagSet("images unpack", flag.ContinueOnError)
	archive := flags.String("archive", "", "the OCI archive")
	to := flags.String("to", "", "an empty or missing directory that becomes the image's root")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *archive == "" || *to == "" {
		return errors.New("-archive and -to are required")
	}
	img, err := readArchive(*archive)
	if err != nil {
		return err
	}
	return unpack(img, *to)
}
