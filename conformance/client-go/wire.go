package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ear tells what informers hide: lists, watches that begin with what is there, bookmarks, and 410.
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
		response.Body = &overheard{ReadCloser: response.Body, say: say}
	}
	return response, nil
}

// overheard is a watch: one line of JSON for each event.
type overheard struct {
	io.ReadCloser
	say  func(string)
	rest []byte
}

func (o *overheard) Read(into []byte) (int, error) {
	count, err := o.ReadCloser.Read(into)
	o.rest = append(o.rest, into[:count]...)
	for {
		end := bytes.IndexByte(o.rest, '\n')
		if end < 0 {
			return count, err
		}
		o.judge(o.rest[:end])
		o.rest = o.rest[end+1:]
	}
}

func (o *overheard) judge(event []byte) {
	var told struct {
		Type   string
		Object struct {
			Code     int
			Metadata metav1.ObjectMeta
		}
	}
	if json.Unmarshal(event, &told) != nil {
		return
	}
	switch {
	case told.Type == "ERROR" && told.Object.Code == http.StatusGone:
		o.say("gone")
	case told.Type == "ERROR":
		o.say("error")
	case told.Type == "BOOKMARK" && told.Object.Metadata.Annotations[metav1.InitialEventsAnnotationKey] == "true":
		o.say("that is all")
	case told.Type == "BOOKMARK":
		o.say("bookmark")
	}
}
