package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// finalizer keeps a Thing until its copy is gone.
const finalizer = "witness.example.dev/copy"

const copyPrefix = "copy-of-"

// hands are the controller: each Thing has a ConfigMap with its text and its team.
//
// Every write names the revision that it was decided on, so what is written does not depend on how old the cache is: it
// is refused and decided again.
type hands struct {
	typed     kubernetes.Interface
	custom    dynamic.ResourceInterface
	eyes      *eyes
	namespace string
	identity  string
	tongue    *tongue
	queue     workqueue.TypedRateLimitingInterface[string]
}

func newHands(typed kubernetes.Interface, custom dynamic.Interface, eyes *eyes, namespace, identity string, tongue *tongue) *hands {
	// A second at most between attempts: an API that comes back is noticed.
	pace := workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, time.Second)
	return &hands{
		typed:     typed,
		custom:    custom.Resource(things).Namespace(namespace),
		eyes:      eyes,
		namespace: namespace,
		identity:  identity,
		tongue:    tongue,
		queue:     workqueue.NewTypedRateLimitingQueue(pace),
	}
}

// work does what there is to do for as long as we lead.
func (h *hands) work(ctx context.Context) {
	remember := func(object any, of func(string) string) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			if _, name, err := cache.SplitMetaNamespaceKey(key); err == nil {
				h.queue.Add(of(name))
			}
		}
	}
	handle := func(informer cache.SharedIndexInformer, of func(string) string) cache.ResourceEventHandlerRegistration {
		registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { remember(object, of) },
			UpdateFunc: func(_, object any) { remember(object, of) },
			DeleteFunc: func(object any) { remember(object, of) },
		})
		if err != nil {
			klog.ErrorS(err, "cannot look")
		}
		return registration
	}
	ofThings := handle(h.eyes.things, func(name string) string { return name })
	ofMaps := handle(h.eyes.maps, thingOf)
	go func() {
		<-ctx.Done()
		h.queue.ShutDown()
	}()
	for {
		name, ended := h.queue.Get()
		if ended {
			break
		}
		if err := h.reconcile(ctx, name); err != nil {
			h.queue.AddRateLimited(name)
		} else {
			h.queue.Forget(name)
		}
		h.queue.Done(name)
	}
	_ = h.eyes.things.RemoveEventHandler(ofThings)
	_ = h.eyes.maps.RemoveEventHandler(ofMaps)
}

func (h *hands) reconcile(ctx context.Context, name string) error {
	found, exists, err := h.eyes.things.GetStore().GetByKey(h.namespace + "/" + name)
	if err != nil || !exists {
		return err
	}
	thing := found.(*unstructured.Unstructured).DeepCopy()
	switch held := slices.Contains(thing.GetFinalizers(), finalizer); {
	case thing.GetDeletionTimestamp() != nil && held:
		return h.release(ctx, thing)
	case thing.GetDeletionTimestamp() != nil:
		return nil
	case !held:
		thing.SetFinalizers(append(thing.GetFinalizers(), finalizer))
		_, err := h.custom.Update(ctx, thing, metav1.UpdateOptions{})
		return h.did("hold", name, err)
	}
	if err := h.copy(ctx, thing); err != nil {
		return err
	}
	return h.report(ctx, thing)
}

// release removes the copy, then lets the Thing go.
func (h *hands) release(ctx context.Context, thing *unstructured.Unstructured) error {
	name := thing.GetName()
	err := h.typed.CoreV1().ConfigMaps(h.namespace).Delete(ctx, copyOf(name), metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		if err := h.did("remove", copyOf(name), err); err != nil {
			return err
		}
	}
	thing.SetFinalizers(slices.DeleteFunc(thing.GetFinalizers(), func(held string) bool { return held == finalizer }))
	_, err = h.custom.Update(ctx, thing, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return h.did("release", name, err)
}

// copy makes the ConfigMap, or makes it what it should be.
func (h *hands) copy(ctx context.Context, thing *unstructured.Unstructured) error {
	name := copyOf(thing.GetName())
	text, team := wanted(thing)
	found, exists, err := h.eyes.maps.GetStore().GetByKey(h.namespace + "/" + name)
	if err != nil {
		return err
	}
	target := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if exists {
		target = found.(*corev1.ConfigMap).DeepCopy()
	}
	data, labels := map[string]string{"text": text}, map[string]string{"team": team}
	owner := *metav1.NewControllerRef(thing, things.GroupVersion().WithKind("Thing"))
	if exists && maps.Equal(target.Data, data) && maps.Equal(target.Labels, labels) {
		return nil
	}
	target.Data, target.Labels, target.OwnerReferences = data, labels, []metav1.OwnerReference{owner}
	client := h.typed.CoreV1().ConfigMaps(h.namespace)
	if exists {
		_, err = client.Update(ctx, target, metav1.UpdateOptions{})
		return h.did("change", name, err)
	}
	_, err = client.Create(ctx, target, metav1.CreateOptions{})
	return h.did("make", name, err)
}

// report says in the status what was copied, and who did it.
func (h *hands) report(ctx context.Context, thing *unstructured.Unstructured) error {
	text, team := wanted(thing)
	status, _, _ := unstructured.NestedStringMap(thing.Object, "status")
	if status["text"] == text && status["team"] == team {
		return nil
	}
	told := map[string]string{"text": text, "team": team, "by": h.identity}
	if err := unstructured.SetNestedStringMap(thing.Object, told, "status"); err != nil {
		return err
	}
	_, err := h.custom.UpdateStatus(ctx, thing, metav1.UpdateOptions{})
	return h.did("report", thing.GetName(), err)
}

// did tells of a write that was made, and hands on why one was not.
func (h *hands) did(what, name string, err error) error {
	if err != nil {
		klog.InfoS("refused", "what", what, "name", name, "why", err)
		return err
	}
	h.tongue.say(line{"did": what, "name": name})
	return nil
}

func wanted(thing *unstructured.Unstructured) (text, team string) {
	text, _, _ = unstructured.NestedString(thing.Object, "spec", "text")
	return text, thing.GetLabels()["team"]
}

func copyOf(thing string) string { return copyPrefix + thing }

// thingOf is the Thing that a ConfigMap would be the copy of; that there may be none is found out later.
func thingOf(name string) string { return strings.TrimPrefix(name, copyPrefix) }
