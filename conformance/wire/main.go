// Wire tells how Kubernetes writes its kinds in protocol buffers.
//
// `wire facts` prints one line for each kind, each message and each field, read from the Go types by reflection: a
// `generated.proto` does not say which fields are pointers, and that decides which zeros are written. The embedded API's
// codec is driven by that table, `crates/wire/src/facts.txt`.
//
// `wire objects SEED COUNT` prints objects by chance, COUNT of each kind: a line with its kind, its octets, the JSON that they
// were made from and the JSON that is made from them, as Kubernetes' own serializers write them. The codec is compared with them.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"

	discovery "k8s.io/api/apidiscovery/v2"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

// The versions whose kinds are served by default: those that are not on trial.
var versions = map[string]bool{"v1": true, "v2": true}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	scheme := runtime.NewScheme()
	utilruntime.Must(clientscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensions.AddToScheme(scheme))
	utilruntime.Must(discovery.AddToScheme(scheme))
	switch arguments := os.Args[1:]; {
	case len(arguments) == 1 && arguments[0] == "facts":
		tell(out, scheme)
	case len(arguments) == 3 && arguments[0] == "objects":
		seed, err := strconv.ParseInt(arguments[1], 10, 64)
		if err != nil {
			log.Fatal(err)
		}
		count, err := strconv.Atoi(arguments[2])
		if err != nil {
			log.Fatal(err)
		}
		draw(out, scheme, seed, count)
	default:
		log.Fatal("wire facts | wire objects SEED COUNT")
	}
}

// kind is what a type is called in the API.
type kind struct {
	version string
	kind    string
	of      reflect.Type
}

// kinds are those that are told, in order. Kinds of meta are registered in every group; they are told once, with `*` as
// their version.
func kinds(scheme *runtime.Scheme) []kind {
	seen := map[string]kind{}
	for gvk, of := range scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || !versions[gvk.Version] {
			continue
		}
		version := gvk.GroupVersion().String()
		if of.PkgPath() == reflect.TypeOf(meta.Status{}).PkgPath() {
			version = "*"
		}
		seen[version+" "+gvk.Kind] = kind{version, gvk.Kind, of}
	}
	for _, of := range []any{
		meta.PartialObjectMetadata{}, meta.PartialObjectMetadataList{}, meta.Status{},
		meta.APIGroup{}, meta.APIGroupList{}, meta.APIResourceList{}, meta.APIVersions{},
	} {
		of := reflect.TypeOf(of)
		seen["* "+of.Name()] = kind{"*", of.Name(), of}
	}
	var all []kind
	for _, key := range sorted(seen) {
		if isKind(seen[key].of) && speaks(seen[key].of) {
			all = append(all, seen[key])
		}
	}
	return all
}

// isKind is whether a type says what it is. The event of a watch does not.
func isKind(of reflect.Type) bool {
	_, says := of.FieldByName("TypeMeta")
	return says
}

// speaks is whether a type can be written in protocol buffers at all.
func speaks(of reflect.Type) bool {
	_, can := reflect.PointerTo(of).MethodByName("Marshal")
	return can
}

func sorted[V any](of map[string]V) []string {
	var keys []string
	for key := range of {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// The types that JSON shows in a way of their own. The codec knows each by its name.
var special = map[string]bool{
	"meta/v1.Time": true, "meta/v1.MicroTime": true, "meta/v1.Duration": true, "meta/v1.FieldsV1": true,
	"resource.Quantity": true, "intstr.IntOrString": true, "runtime.RawExtension": true,
	"apiextensions/v1.JSON": true, "apiextensions/v1.JSONSchemaPropsOrArray": true,
	"apiextensions/v1.JSONSchemaPropsOrBool": true, "apiextensions/v1.JSONSchemaPropsOrStringArray": true,
}

func tell(out *bufio.Writer, scheme *runtime.Scheme) {
	messages := map[string]reflect.Type{}
	for _, kind := range kinds(scheme) {
		fmt.Fprintf(out, "kind %s %s %s\n", kind.version, kind.kind, visit(kind.of, messages))
	}
	for _, name := range sorted(messages) {
		fmt.Fprintf(out, "message %s\n", name)
		for _, field := range fields(messages[name]) {
			fmt.Fprintf(out, "%d %s %s\n", field.number, field.name, field.shape(messages))
		}
	}
}

// visit remembers a message and everything in it, and says what it is called.
func visit(of reflect.Type, messages map[string]reflect.Type) string {
	name := called(of)
	if _, known := messages[name]; known || special[name] {
		return name
	}
	messages[name] = of
	for _, field := range fields(of) {
		field.shape(messages)
	}
	return name
}

// called is `core/v1.Secret` for a Secret.
func called(of reflect.Type) string {
	path := of.PkgPath()
	for _, root := range []string{"k8s.io/apimachinery/pkg/apis/", "k8s.io/api/", "k8s.io/apiextensions-apiserver/pkg/apis/", "k8s.io/apimachinery/pkg/api/", "k8s.io/apimachinery/pkg/util/", "k8s.io/apimachinery/pkg/"} {
		if rest, cut := strings.CutPrefix(path, root); cut {
			return rest + "." + of.Name()
		}
	}
	return path + "." + of.Name()
}

type field struct {
	number int
	// What it is called in JSON; `+` if its own fields stand in its place.
	name string
	of   reflect.Type
	// When JSON leaves it out: never, `?` when Go calls it empty, `0` when it is zero as well.
	omitted string
}

// fields are those of a message in the order of their numbers, which is the one they are written in.
func fields(of reflect.Type) []field {
	if of.Kind() == reflect.Slice {
		// A list with a name is a message with one field.
		return []field{{1, "-", reflect.SliceOf(of.Elem()), ""}}
	}
	var all []field
	for i := 0; i < of.NumField(); i++ {
		at := of.Field(i)
		tag := strings.Split(at.Tag.Get("protobuf"), ",")
		if len(tag) < 2 {
			continue
		}
		number, err := strconv.Atoi(tag[1])
		if err != nil {
			log.Fatalf("%s.%s: %v", called(of), at.Name, err)
		}
		json := strings.Split(at.Tag.Get("json"), ",")
		name, omitted := json[0], ""
		for _, option := range json[1:] {
			switch option {
			case "omitempty":
				if omitted == "" {
					omitted = "?"
				}
			case "omitzero":
				omitted = "0"
			case "inline":
				name = "+"
			}
		}
		all = append(all, field{number, name, at.Type, omitted})
	}
	sort.Slice(all, func(a, b int) bool { return all[a].number < all[b].number })
	return all
}

// shape is how a field is written: `?` and `0` as above, `*` a pointer, `[]` a list, `{}` a map from texts.
func (field field) shape(messages map[string]reflect.Type) string {
	of, text := field.of, field.omitted
	switch {
	case of.Kind() == reflect.Pointer:
		of, text = of.Elem(), text+"*"
	case of.Kind() == reflect.Map:
		of, text = of.Elem(), text+"{}"
	case of.Kind() == reflect.Slice && of.Elem().Kind() != reflect.Uint8 && !speaks(of):
		of, text = of.Elem(), text+"[]"
	}
	return text + value(of, messages)
}

func value(of reflect.Type, messages map[string]reflect.Type) string {
	switch of.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int32:
		return "int32"
	case reflect.Int64:
		return "int64"
	case reflect.Uint32, reflect.Uint64:
		return "uint64"
	case reflect.Float64:
		return "double"
	case reflect.Struct:
		return visit(of, messages)
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		if speaks(of) {
			return visit(of, messages)
		}
	}
	log.Fatalf("no way to write %v", of)
	return ""
}
