package main

import (
	"os"
	"syscall"
)

// logTo sends what the components log, on standard error, to a file. It returns the standard error of before, for why this program
// could not start.
func logTo(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close() // its duplicate stays open
	own, err := syscall.Dup(2)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(own)
	return os.NewFile(uintptr(own), "stderr"), syscall.Dup3(int(file.Fd()), 2, 0)
}
