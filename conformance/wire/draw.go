package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"reflect"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// draw prints objects by chance. Each is made JSON and read from it before it is written in protocol buffers, so that both
// say the same: some of what a Go value can hold, JSON has no words for. Not all that JSON can say comes back out of protocol
// buffers either (a list that is empty and one that is not there are one), so the last column is what does.
func draw(out *bufio.Writer, scheme *runtime.Scheme, seed int64, count int) {
	serializer := protobuf.NewSerializer(scheme, scheme)
	for _, kind := range kinds(scheme) {
		version := kind.version
		if version == "*" {
			version = "v1"
		}
		for turn := 0; turn < count; turn++ {
			chance := chance{rand.New(rand.NewSource(seed<<20 + int64(turn)))}
			drawn := reflect.New(kind.of)
			// The first is empty: every zero that is written shows.
			if turn > 0 {
				chance.fill(drawn.Elem(), 0)
			}
			object := reflect.New(kind.of).Interface().(runtime.Object)
			must(kind, json.Unmarshal(written(kind, drawn.Interface()), object))
			object.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(version, kind.kind))
			var octets writer
			must(kind, serializer.Encode(object, &octets))
			back := reflect.New(kind.of).Interface().(runtime.Object)
			must(kind, back.(interface{ Unmarshal([]byte) error }).Unmarshal(raw(kind, octets)))
			back.GetObjectKind().SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
			fmt.Fprintf(out, "%s %s\t%s\t%s\t%s\n", version, kind.kind, hex.EncodeToString(octets), written(kind, object), written(kind, back))
		}
	}
}

// raw is the object in an envelope.
func raw(kind kind, octets []byte) []byte {
	var envelope runtime.Unknown
	must(kind, envelope.Unmarshal(octets[len("k8s\x00"):]))
	return envelope.Raw
}

func written(kind kind, object any) []byte {
	text, err := json.Marshal(object)
	must(kind, err)
	return text
}

func must(kind kind, err error) {
	if err != nil {
		log.Fatalf("%s %s: %v", kind.version, kind.kind, err)
	}
}

type writer []byte

func (writer *writer) Write(octets []byte) (int, error) {
	*writer = append(*writer, octets...)
	return len(octets), nil
}

type chance struct{ *rand.Rand }

// How deep schemas are nested in schemas, and so on.
const deepest = 9

func (chance chance) text() string {
	return []string{"", "a", "text", "ümläut", "longer text, with \"quotes\" and\nlines", fmt.Sprint(chance.Int31())}[chance.Intn(6)]
}

func (chance chance) raw() []byte {
	return []byte([]string{`{"a":1,"b":[true,"x"]}`, `{}`, `"text"`, `7`, `{"f:x":{}}`}[chance.Intn(5)])
}

func (chance chance) fill(into reflect.Value, depth int) {
	switch special := into.Addr().Interface().(type) {
	case *meta.TypeMeta:
		return
	case *meta.Time:
		if chance.Intn(3) > 0 {
			*special = meta.Time{Time: time.Unix(chance.Int63n(4_000_000_000), 0).UTC()}
		}
		return
	case *meta.MicroTime:
		if chance.Intn(3) > 0 {
			*special = meta.MicroTime{Time: time.UnixMicro(chance.Int63n(4_000_000_000_000_000)).UTC()}
		}
		return
	case *meta.Duration:
		special.Duration = time.Duration(chance.Int63n(1 << 45))
		return
	case *resource.Quantity:
		*special = resource.MustParse([]string{"0", "1", "100m", "2Gi", "1500Mi", "3k", "12e3"}[chance.Intn(7)])
		return
	case *intstr.IntOrString:
		*special = intstr.FromInt32(chance.Int31n(70000))
		if chance.Intn(2) == 0 {
			*special = intstr.FromString(chance.text())
		}
		return
	case *meta.FieldsV1:
		special.Raw = []byte(`{"f:data":{"f:a":{}}}`)
		return
	case *runtime.RawExtension:
		special.Raw = chance.raw()
		return
	case *apiextensions.JSON:
		special.Raw = chance.raw()
		return
	case *apiextensions.JSONSchemaPropsOrBool:
		special.Allows = chance.Intn(2) == 0
		if depth < deepest && chance.Intn(2) == 0 {
			special.Allows, special.Schema = true, &apiextensions.JSONSchemaProps{Type: "string"}
		}
		return
	case *apiextensions.JSONSchemaPropsOrArray:
		special.Schema = &apiextensions.JSONSchemaProps{Type: "string"}
		if chance.Intn(2) == 0 {
			special.Schema, special.JSONSchemas = nil, []apiextensions.JSONSchemaProps{{Type: "a"}, {}}
		}
		return
	case *apiextensions.JSONSchemaPropsOrStringArray:
		special.Property = []string{"a", "b"}
		if chance.Intn(2) == 0 {
			special.Property, special.Schema = nil, &apiextensions.JSONSchemaProps{Title: "x"}
		}
		return
	}
	few := func() int {
		if depth > deepest {
			return 0
		}
		return chance.Intn(3)
	}
	switch into.Kind() {
	case reflect.String:
		into.SetString(chance.text())
	case reflect.Bool:
		into.SetBool(chance.Intn(2) == 0)
	case reflect.Int32, reflect.Int64:
		into.SetInt([]int64{0, 1, -1, 127, 128, -70000, 2_000_000_000}[chance.Intn(7)])
	case reflect.Uint32, reflect.Uint64:
		into.SetUint(uint64(chance.Int31()))
	case reflect.Float64:
		into.SetFloat([]float64{0, 1, -0.5, 1e9}[chance.Intn(4)])
	case reflect.Pointer:
		if depth <= deepest && chance.Intn(2) == 0 {
			into.Set(reflect.New(into.Type().Elem()))
			chance.fill(into.Elem(), depth+1)
		}
	case reflect.Slice:
		if into.Type().Elem().Kind() == reflect.Uint8 {
			into.SetBytes([]byte(chance.text()))
			return
		}
		count := few()
		into.Set(reflect.MakeSlice(into.Type(), count, count))
		for i := 0; i < count; i++ {
			chance.fill(into.Index(i), depth+1)
		}
	case reflect.Map:
		into.Set(reflect.MakeMap(into.Type()))
		for i := few(); i > 0; i-- {
			key, value := reflect.New(into.Type().Key()).Elem(), reflect.New(into.Type().Elem()).Elem()
			chance.fill(key, depth+1)
			chance.fill(value, depth+1)
			into.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := 0; i < into.NumField(); i++ {
			if field := into.Type().Field(i); field.IsExported() && (field.Tag.Get("protobuf") != "" || field.Anonymous) {
				chance.fill(into.Field(i), depth+1)
			}
		}
	}
}
