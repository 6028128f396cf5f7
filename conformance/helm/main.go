// Releases does what helm's commands do, with helm's own library, and speaks JSON.
//
// helm itself stores its releases with a typed client, which sends protocol buffers unless it is told otherwise, and there is
// no flag to tell it. A program on helm's library can: by the two lines below. It prints what came of the command, without times.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/kube"
	"helm.sh/helm/v4/pkg/release"
	v1 "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

const patience = 30 * time.Second

func main() {
	kubeconfig := flag.String("kubeconfig", "", "whom to speak to")
	namespace := flag.String("namespace", "", "where releases are")
	chart := flag.String("chart", "", "the folder of the chart")
	set := flag.String("set", "", "values, as key=value,key=value")
	clientSide := flag.Bool("client-side", false, "merge here and not in the server")
	flag.Parse()
	kube.ManagedFieldsManager = "helm"
	getter := genericclioptions.NewConfigFlags(false)
	getter.KubeConfig, getter.Namespace = kubeconfig, namespace
	configuration := action.NewConfiguration()
	if err := configuration.Init(getter, *namespace, "secret"); err != nil {
		log.Fatal(err)
	}
	command := command{configuration, *namespace, *chart, values(*set), !*clientSide}
	came, err := command.run(flag.Args())
	if err != nil {
		log.SetFlags(0)
		log.Fatal("Error: ", err)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(came); err != nil {
		log.Fatal(err)
	}
}

type command struct {
	*action.Configuration
	namespace  string
	chart      string
	values     map[string]any
	serverSide bool
}

// run does what helm does by the same words.
func (c *command) run(words []string) (any, error) {
	switch {
	case len(words) == 2 && words[0] == "install":
		chart, err := loader.Load(c.chart)
		if err != nil {
			return nil, err
		}
		install := action.NewInstall(c.Configuration)
		install.ReleaseName, install.Namespace, install.Timeout = words[1], c.namespace, patience
		install.WaitStrategy, install.ServerSideApply = kube.HookOnlyStrategy, c.serverSide
		return outcome(install.Run(chart, c.values))
	case len(words) == 2 && words[0] == "upgrade":
		chart, err := loader.Load(c.chart)
		if err != nil {
			return nil, err
		}
		upgrade := action.NewUpgrade(c.Configuration)
		upgrade.Namespace, upgrade.Timeout, upgrade.WaitStrategy = c.namespace, patience, kube.HookOnlyStrategy
		upgrade.ServerSideApply = strconv.FormatBool(c.serverSide)
		return outcome(upgrade.Run(words[1], chart, c.values))
	case len(words) == 3 && words[0] == "rollback":
		version, err := strconv.Atoi(words[2])
		if err != nil {
			return nil, err
		}
		rollback := action.NewRollback(c.Configuration)
		rollback.Version, rollback.Timeout, rollback.WaitStrategy = version, patience, kube.HookOnlyStrategy
		rollback.ServerSideApply = strconv.FormatBool(c.serverSide)
		if err := rollback.Run(words[1]); err != nil {
			return nil, err
		}
		return outcome(action.NewGet(c.Configuration).Run(words[1]))
	case len(words) == 1 && words[0] == "list":
		list := action.NewList(c.Configuration)
		list.All = true
		list.SetStateMask()
		return outcomes(list.Run())
	case len(words) == 2 && words[0] == "get":
		return outcome(action.NewGet(c.Configuration).Run(words[1]))
	case len(words) == 2 && words[0] == "history":
		return outcomes(action.NewHistory(c.Configuration).Run(words[1]))
	case len(words) == 2 && words[0] == "uninstall":
		uninstall := action.NewUninstall(c.Configuration)
		uninstall.Timeout, uninstall.WaitStrategy = patience, kube.StatusWatcherStrategy
		uninstall.DeletionPropagation = "background"
		response, err := uninstall.Run(words[1])
		if err != nil {
			return nil, err
		}
		return told{"info": response.Info}, nil
	default:
		return nil, fmt.Errorf("no such command: %q", words)
	}
}

type told map[string]any

// outcome is a release without its times and without the chart.
func outcome(releaser release.Releaser, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	rel, ok := releaser.(*v1.Release)
	if !ok {
		return nil, fmt.Errorf("not a release: %T", releaser)
	}
	hooks := []told{}
	for _, hook := range rel.Hooks {
		hooks = append(hooks, told{"name": hook.Name, "events": hook.Events, "phase": hook.LastRun.Phase})
	}
	return told{
		"name":        rel.Name,
		"namespace":   rel.Namespace,
		"revision":    rel.Version,
		"status":      rel.Info.Status,
		"description": rel.Info.Description,
		"notes":       rel.Info.Notes,
		"applied":     rel.ApplyMethod,
		"values":      rel.Config,
		"hooks":       hooks,
		"manifest":    strings.Split(rel.Manifest, "\n"),
	}, nil
}

func outcomes(releasers []release.Releaser, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	all := []any{}
	for _, releaser := range releasers {
		one, err := outcome(releaser, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// values are those of `--set`, as far as they are needed here.
func values(set string) map[string]any {
	values := map[string]any{}
	for pair := range strings.SplitSeq(set, ",") {
		if key, value, found := strings.Cut(pair, "="); found {
			values[key] = value
		}
	}
	return values
}
