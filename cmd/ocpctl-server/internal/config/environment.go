package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/internal/duration"
)

// prefix begins the names of all environment variables of ocpctl.
const prefix = "OCPCTL_"

// Variable returns the environment variable that sets a field: OCPCTL_GITHUB_APP_ID for github.app_id.
func Variable(field string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(field, ".", "_"))
}

// The variables that set the defaults of flags.
const (
	RolesVariable    = prefix + "ROLES"
	MigrateVariable  = prefix + "MIGRATE"
	LogLevelVariable = prefix + "LOG_LEVEL"
)

// otherVariables are the variables of the command line, the runner and ocpctl-server's flags, which are no fields.
var otherVariables = []string{
	"OCPCTL_AUTH", "OCPCTL_CA_FILE", "OCPCTL_CLUSTER", "OCPCTL_CONFIG", "OCPCTL_CONTEXT", "OCPCTL_RUN_KIND", "OCPCTL_RUN_NAME", "OCPCTL_RUN_UID",
	"OCPCTL_SERVER", "OCPCTL_TOKEN", "OCPCTL_TOKEN_FILE", "OCPCTL_ZDOTDIR",
	"OCPCTL_ATTEMPT", RolesVariable, MigrateVariable, LogLevelVariable,
}

// otherPrefixes begin the variables of the demo and of its stand-ins.
var otherPrefixes = []string{"OCPCTL_DEMO_", "OCPCTL_STANDIN_"}

// serviceVariable matches what Kubernetes puts into every pod of a namespace with a Service whose name begins with ocpctl.
// https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
var serviceVariable = regexp.MustCompile(`^OCPCTL_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// overlayEnvironment sets the fields that have a variable in env, given as KEY=value, and reports variables that set nothing.
func (l *Loaded) overlayEnvironment(env []string) (bad []error) {
	fields := map[string]string{} // variable → field
	settable := map[string]reflect.Value{}
	eachField("", reflect.ValueOf(&l.Config).Elem(), func(path string, v reflect.Value) {
		fields[Variable(path)], settable[path] = path, v
	})
	env = slices.Sorted(slices.Values(env))
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		path, known := fields[name]
		switch {
		case known:
			if why := setField(settable[path], value); why != "" {
				bad = append(bad, fmt.Errorf("%s: %s %s", name, path, why))
				continue
			}
			l.variables[normalField(path)] = name
		case strings.HasPrefix(name, prefix) && !belongsElsewhere(name):
			bad = append(bad, unknownVariable(name, fields))
		}
	}
	return bad
}

func belongsElsewhere(name string) bool {
	return slices.Contains(otherVariables, name) || serviceVariable.MatchString(name) ||
		slices.ContainsFunc(otherPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

func unknownVariable(name string, fields map[string]string) error {
	names := slices.Concat(otherVariables, slices.Sorted(func(yield func(string) bool) {
		for variable := range fields {
			if !yield(variable) {
				return
			}
		}
	}))
	if near, ok := closest.Match(name, names); ok {
		return fmt.Errorf("%s: unknown environment variable; did you mean %s? Otherwise unset it", name, near)
	}
	return fmt.Errorf("%s: unknown environment variable; %s<SECTION>_<FIELD> sets a field of docs/configuration.md. Lists of sections and maps are set in "+
		"the file only. Otherwise unset it", name, prefix)
}

// eachField visits every field that one variable can set: scalars and lists of scalars. Maps and lists of sections are set in the file.
func eachField(path string, v reflect.Value, visit func(path string, v reflect.Value)) {
	switch kind := v.Kind(); {
	case kind == reflect.Struct:
		for i := range v.NumField() {
			eachField(strings.TrimPrefix(path+"."+v.Type().Field(i).Tag.Get("yaml"), "."), v.Field(i), visit)
		}
	case kind == reflect.Map, kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
	default:
		visit(path, v)
	}
}

// setField parses a variable's value into a field; why says what is wrong with it. The value is quoted only where it cannot be a secret.
func setField(v reflect.Value, value string) (why string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(value)
	case reflect.Slice:
		return setList(v, value)
	case reflect.Bool:
		on, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Sprintf("is %q; give true or false", value)
		}
		v.SetBool(on)
	case reflect.Float64:
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Sprintf("is %q; give a number", value)
		}
		v.SetFloat(number)
	default:
		if v.Type() == reflect.TypeFor[time.Duration]() {
			d, ok := duration.Parse(value)
			if !ok {
				return fmt.Sprintf("is %q; give a duration with a unit, such as 90s, 15m or 3h", value)
			}
			v.SetInt(int64(d))
			return ""
		}
		number, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Sprintf("is %q; give a whole number", value)
		}
		v.SetInt(number)
	}
	return ""
}

// setList sets a list from comma-separated values; an empty value is an empty list.
func setList(v reflect.Value, value string) (why string) {
	v.SetZero()
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		one := reflect.New(v.Type().Elem()).Elem()
		if why := setField(one, part); why != "" {
			return "has an element that " + why
		}
		v.Set(reflect.Append(v, one))
	}
	return ""
}
