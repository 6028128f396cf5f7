package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// An API that restarts on a busy machine is away for several seconds, and who leads must not depend on that.
const (
	leaseLasts  = 30 * time.Second
	renewWithin = 25 * time.Second
	retryEvery  = time.Second
)

// compete works while it has the lease, and tries to get it while it has not.
func compete(ctx context.Context, typed kubernetes.Interface, namespace, identity string, tongue *tongue, work func(context.Context)) {
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: "witness"},
		Client:     typed.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}
	started, finished := make(chan struct{}), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   leaseLasts,
		RenewDeadline:   renewWithin,
		RetryPeriod:     retryEvery,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				close(started)
				defer close(finished)
				tongue.say(line{"leads": true})
				work(ctx)
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		klog.ErrorS(err, "cannot compete")
		return
	}
	elector.Run(ctx)
	select {
	case <-started:
		<-finished
		tongue.say(line{"leads": false})
	default:
	}
}
