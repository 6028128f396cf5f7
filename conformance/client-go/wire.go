package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ear tells what clients hide: which language each kind is told in; and what informers do: lists, watches that begin with what
// is there, bookmarks, and 410.
type ear struct {
	tongue *tongue
	next   http.RoundTripper
}

// overhear listens to what goes over a connection.
func (t *tongue) overhear(next http.RoundTripper) http.RoundTripper {
	return &ear{tongue: t, next: next}
}

func (e *ear) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := e.next.RoundTrip(request)
	if err == nil && response.StatusCode < http.StatusMultipleChoices {
		e.tellLanguages(request, response)
	}
	query := request.URL.Query()
	resource := path.Base(request.URL.Path)
	if err != nil || request.Method != http.MethodGet || resource != "configmaps" && resource != "things" {
		return response, err
	}
	by := resource
	if selector := query.Get("labelSelector"); selector != "" {
		by += " " + selector
	}
	say := func(what string) { e.tongue.say(line{"wire": what, "by": by}) }
	switch {
	case response.StatusCode == http.StatusGone:
		say("gone")
	case query.Get("watch") == "":
		say("list")
	case query.Get("sendInitialEvents") == "true":
		say("watch from what is there")
	default:
		say("watch")
	}
	if query.Get("watch") != "" {
		frames := strings.HasPrefix(response.Header.Get("Content-Type"), runtime.ContentTypeProtobuf)
		response.Body = &overheard{ReadCloser: response.Body, say: say, frames: frames}
	}
	return response, nil
}

// tellLanguages tells what a request and its answer were written in.
func (e *ear) tellLanguages(request *http.Request, response *http.Response) {
	for _, resource := range []string{"configmaps", "leases", "things"} {
		if !strings.Contains(request.URL.Path+"/", "/"+resource+"/") {
			continue
		}
		if request.ContentLength > 0 {
			e.tongue.say(line{"wire": "sent in " + request.Header.Get("Content-Type"), "by": resource})
		}
		e.tongue.say(line{"wire": "answered in " + response.Header.Get("Content-Type"), "by": resource})
	}
}

// overheard is a watch: lines of JSON, or frames of protocol buffers with their length in front.
type overheard struct {
	io.ReadCloser
	say    func(string)
	frames bool
	rest   []byte
}

func (o *overheard) Read(into []byte) (int, error) {
	count, err := o.ReadCloser.Read(into)
	o.rest = append(o.rest, into[:count]...)
	for {
		event, rest, whole := o.cut()
		if !whole {
			return count, err
		}
		o.judge(event)
		o.rest = rest
	}
}

// cut takes off the first event, if it is there whole.
func (o *overheard) cut() (event, rest []byte, whole bool) {
	const head = 4
	if !o.frames {
		return bytes.Cut(o.rest, []byte("\n"))
	}
	if len(o.rest) < head {
		return nil, nil, false
	}
	end := head + int(binary.BigEndian.Uint32(o.rest))
	if len(o.rest) < end {
		return nil, nil, false
	}
	return o.rest[head:end], o.rest[end:], true
}

func (o *overheard) judge(octets []byte) {
	var event metav1.WatchEvent
	var object metav1.PartialObjectMetadata
	var status metav1.Status
	if o.frames {
		var body runtime.Unknown
		if event.Unmarshal(octets) != nil || body.Unmarshal(event.Object.Raw[len("k8s\x00"):]) != nil {
			return
		}
		if event.Type == "ERROR" {
			_ = status.Unmarshal(body.Raw)
		} else {
			_ = object.Unmarshal(body.Raw)
		}
	} else {
		if json.Unmarshal(octets, &event) != nil {
			return
		}
		if event.Type == "ERROR" {
			_ = json.Unmarshal(event.Object.Raw, &status)
		} else {
			_ = json.Unmarshal(event.Object.Raw, &object)
		}
	}
	switch {
	case event.Type == "ERROR" && status.Code == http.StatusGone:
		o.say("gone")
	case event.Type == "ERROR":
		o.say("error")
	case event.Type == "BOOKMARK" && object.Annotations[metav1.InitialEventsAnnotationKey] == "true":
		o.say("that is all")
	case event.Type == "BOOKMARK":
		o.say("bookmark")
	}
}
