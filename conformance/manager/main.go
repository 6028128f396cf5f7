// Manager is a controller as people write them with controller-runtime, with everything as it comes: the client, the
// cache, the leader's lease and the recorder of events are configured by nobody.
//
// While it leads, each ConfigMap of its namespace with the label `mirrored` has a Secret that says the same and belongs to it.
// On standard output there is a line when it has seen what there is, and one when it leads. It runs until it is killed, or until it
// loses the lead.
//
// The driver is `crates/apiserver/tests/client_go`. Nothing here knows which API it speaks to.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const mirrored = "mirrored"

func main() {
	namespace := flag.String("namespace", "", "where to look")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		LeaderElection:          true,
		LeaderElectionID:        "mirror.example.dev",
		LeaderElectionNamespace: *namespace,
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{*namespace: {}}},
		// No port: several run on one machine.
		Metrics: server.Options{BindAddress: "0"},
	})
	if err != nil {
		log.Fatal(err)
	}
	mirror := &mirror{manager.GetClient(), manager.GetEventRecorder("mirror")}
	if err := ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(mirror); err != nil {
		log.Fatal(err)
	}
	ctx := ctrl.SetupSignalHandler()
	go func() {
		if manager.GetCache().WaitForCacheSync(ctx) {
			fmt.Println(`{"synced":true}`)
		}
		<-manager.Elected()
		fmt.Println(`{"leads":true}`)
	}()
	if err := manager.Start(ctx); err != nil {
		log.Fatal(err)
	}
}

// mirror keeps a Secret beside each ConfigMap.
type mirror struct {
	client.Client
	events events.EventRecorder
}

func (m *mirror) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	source := &corev1.ConfigMap{}
	if err := m.Get(ctx, request.NamespacedName, source); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if source.Labels[mirrored] == "" || source.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	target := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: "mirror-of-" + source.Name}}
	done, err := controllerutil.CreateOrUpdate(ctx, m.Client, target, func() error {
		target.Data = map[string][]byte{}
		for key, value := range source.Data {
			target.Data[key] = []byte(value)
		}
		return ctrl.SetControllerReference(source, target, m.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if done != controllerutil.OperationResultNone {
		m.events.Eventf(source, target, corev1.EventTypeNormal, "Mirrored", "Mirror", "%s %s", target.Name, done)
	}
	return ctrl.Result{}, nil
}
