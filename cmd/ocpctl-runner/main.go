// Command ocpctl-runner is one attempt's runner.
package main

func main() {}
