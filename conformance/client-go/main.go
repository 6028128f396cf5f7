// Witness is a controller as people write them with client-go, and it tells what it sees.
//
// It watches ConfigMaps and Things with shared informers, and while it is the leader it copies each Thing into a
// ConfigMap. On standard output there is one line of JSON for each event of an informer, for each write of the
// controller, for each change of who leads, and for what came over the wire that informers hide. It runs until its
// standard input ends; then it gives the lead away and returns.
//
// The driver is `crates/apiserver/tests/client_go`. Nothing here knows which API it speaks to.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"log"
	"os"
	"sync"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "whom to speak to")
	namespace := flag.String("namespace", "", "where to look")
	identity := flag.String("identity", "", "who we are when we lead")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	tongue := &tongue{out: json.NewEncoder(os.Stdout)}
	config.Wrap(tongue.overhear)
	if err := witness(config, *namespace, *identity, tongue); err != nil {
		log.Fatal(err)
	}
}

// witness watches and competes for the lead until standard input ends.
func witness(config *rest.Config, namespace, identity string, tongue *tongue) error {
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	custom, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	eyes := newEyes(typed, custom, namespace, tongue)
	hands := newHands(typed, custom, eyes, namespace, identity, tongue)
	if !eyes.open(ctx) {
		return nil
	}
	tongue.say(line{"synced": true})
	compete(ctx, typed, namespace, identity, tongue, hands.work)
	tongue.say(line{"ended": true})
	return nil
}

// line is one line of output.
type line map[string]any

// tongue says one thing at a time.
type tongue struct {
	mutex sync.Mutex
	out   *json.Encoder
}

func (t *tongue) say(line line) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if err := t.out.Encode(line); err != nil {
		// Nobody listens any more.
		os.Exit(1)
	}
}
