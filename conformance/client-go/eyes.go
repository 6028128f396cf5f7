package main

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// selected is what one of the informers is restricted to.
const selected = "team=blue"

var things = schema.GroupVersionResource{Group: "witness.example.dev", Version: "v1", Resource: "things"}

// eyes are the informers: typed for a built-in kind, once for all and once for a selection, dynamic for a custom one.
type eyes struct {
	maps   cache.SharedIndexInformer
	things cache.SharedIndexInformer
	start  []func(stop <-chan struct{})
	synced []cache.InformerSynced
}

func newEyes(typed kubernetes.Interface, custom dynamic.Interface, namespace string, tongue *tongue) *eyes {
	all := informers.NewSharedInformerFactoryWithOptions(typed, 0, informers.WithNamespace(namespace))
	some := informers.NewSharedInformerFactoryWithOptions(typed, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = selected }))
	dynamically := dynamicinformer.NewFilteredDynamicSharedInformerFactory(custom, 0, namespace, nil)
	eyes := &eyes{
		maps:   all.Core().V1().ConfigMaps().Informer(),
		things: dynamically.ForResource(things).Informer(),
	}
	eyes.watch(eyes.maps, "configmaps", tongue)
	eyes.watch(some.Core().V1().ConfigMaps().Informer(), "configmaps "+selected, tongue)
	eyes.watch(eyes.things, "things", tongue)
	eyes.start = []func(stop <-chan struct{}){all.Start, some.Start, dynamically.Start}
	return eyes
}

// watch tells what an informer tells.
func (e *eyes) watch(informer cache.SharedIndexInformer, by string, tongue *tongue) {
	tell := func(event string, object any) {
		accessor, err := meta.Accessor(object)
		if err != nil {
			tongue.say(line{"seen": event, "by": by, "problem": err.Error()})
			return
		}
		content := map[string]any{}
		if converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object); err == nil {
			content = converted
		}
		tongue.say(line{"seen": event, "by": by, "name": accessor.GetName(),
			"revision": accessor.GetResourceVersion(), "object": content})
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { tell("added", object) },
		UpdateFunc: func(old, object any) {
			// After a new list informers tell of everything; what is the same is no news.
			if revision(old) != revision(object) {
				tell("updated", object)
			}
		},
		DeleteFunc: func(object any) {
			if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
				tell("missed", unknown.Obj)
			} else {
				tell("deleted", object)
			}
		},
	})
	if err != nil {
		tongue.say(line{"seen": "nothing", "by": by, "problem": err.Error()})
		return
	}
	e.synced = append(e.synced, registration.HasSynced)
}

// open starts to look, and returns when everything that is there has been seen.
func (e *eyes) open(ctx context.Context) bool {
	for _, start := range e.start {
		start(ctx.Done())
	}
	return cache.WaitForCacheSync(ctx.Done(), e.synced...)
}

func revision(object any) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return accessor.GetResourceVersion()
}
