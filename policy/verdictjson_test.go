package policy

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// The service reads the verdict from the JSON that the store keeps, so no field may be lost in it.
func TestAVerdictIsReadAsItWasWritten(t *testing.T) {
	for name, written := range map[string]Verdict{
		"of every field": filledVerdict(), "empty": {},
		"accepted": Evaluate(validRequest(), Usage{}, terms(t), Settings{}),
	} {
		encoded, err := json.Marshal(written)
		require.NoError(t, err, name)
		var read Verdict
		require.NoError(t, json.Unmarshal(encoded, &read), name)
		require.Equal(t, written, read, name)
	}
}

// filledVerdict returns a verdict without zero fields. Lists and maps have one element; a list of a type within itself is empty.
func filledVerdict() (v Verdict) {
	fill(reflect.ValueOf(&v).Elem(), map[reflect.Type]bool{})
	return v
}

func fill(v reflect.Value, within map[reflect.Type]bool) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), within)
	case reflect.Slice:
		if within[v.Type().Elem()] {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), within)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, within)
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.Struct:
		within[v.Type()] = true
		for _, field := range v.Fields() {
			fill(field, within)
		}
		delete(within, v.Type())
	default:
		panic("fill knows no " + v.Kind().String())
	}
}
