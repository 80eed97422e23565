// Renders the Helm chart without Helm: text/template and sprig are what Helm
// renders with; `include` is all it adds that the chart uses. Like Helm's, the
// numbers of the values are JSON's.
//
//	render CHART RELEASE KUBERNETES_VERSION <VALUES.json
//
// prints the objects as one stream of YAML documents. KUBERNETES_VERSION is the
// cluster's, such as v1.34.0. The environment variable RENDER names the one file
// to print, such as NOTES.txt; not set: all *.yaml.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/ioutil"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
)

func orDie(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	chart, release, version := os.Args[1], os.Args[2], os.Args[3]
	var values map[string]interface{}
	orDie(json.NewDecoder(os.Stdin).Decode(&values))

	all := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out bytes.Buffer
		err := all.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	all.Funcs(functions)
	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	orDie(err)
	sort.Strings(files)
	for _, file := range files {
		text, err := ioutil.ReadFile(file)
		orDie(err)
		_, err = all.New(filepath.Base(file)).Parse(string(text))
		orDie(err)
	}
	data := map[string]interface{}{
		"Values":  values,
		"Release": map[string]interface{}{"Name": release},
		"Capabilities": map[string]interface{}{
			"KubeVersion": map[string]interface{}{"Version": version},
		},
	}
	only := os.Getenv("RENDER")
	for _, file := range files {
		var out bytes.Buffer
		name := filepath.Base(file)
		orDie(all.ExecuteTemplate(&out, name, data))
		text := strings.TrimSpace(out.String())
		if name == only {
			fmt.Println(text)
		}
		if only == "" && filepath.Ext(name) == ".yaml" && text != "" {
			fmt.Printf("---\n# Source: %s\n%s\n", name, text)
		}
	}
}
