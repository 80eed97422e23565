// Renders the Helm chart without Helm: text/template and sprig are what Helm
// renders with; `include` is all it adds that the chart uses. Like Helm's, the
// numbers of the values are JSON's.
//
//	render CHART RELEASE <REQUESTS >ANSWERS
//
// A request is a line of JSON: the values, the cluster's version (v1.34.0), and
// the one file to render, such as NOTES.txt ("": all *.yaml, as one stream of
// YAML documents). Its answer is a line of JSON with the text or the error.
package main

import (
	"bufio"
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

type request struct {
	Values  map[string]interface{} `json:"values"`
	Version string                 `json:"version"`
	Only    string                 `json:"only"`
}

type answer struct {
	Text  string `json:"text"`
	Error string `json:"error"`
}

func orDie(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The chart's templates, and their names in the order in which they are rendered.
func parse(chart string) (*template.Template, []string) {
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
	var names []string
	for _, file := range files {
		text, err := ioutil.ReadFile(file)
		orDie(err)
		names = append(names, filepath.Base(file))
		_, err = all.New(filepath.Base(file)).Parse(string(text))
		orDie(err)
	}
	return all, names
}

func render(all *template.Template, names []string, release string, asked request) (string, error) {
	data := map[string]interface{}{
		"Values":  asked.Values,
		"Release": map[string]interface{}{"Name": release, "Namespace": "default"},
		"Capabilities": map[string]interface{}{
			"KubeVersion": map[string]interface{}{"Version": asked.Version},
		},
	}
	var rendered strings.Builder
	for _, name := range names {
		var out bytes.Buffer
		if err := all.ExecuteTemplate(&out, name, data); err != nil {
			return "", err
		}
		text := strings.TrimSpace(out.String())
		if name == asked.Only {
			fmt.Fprintln(&rendered, text)
		}
		if asked.Only == "" && filepath.Ext(name) == ".yaml" && text != "" {
			fmt.Fprintf(&rendered, "---\n# Source: %s\n%s\n", name, text)
		}
	}
	return rendered.String(), nil
}

func main() {
	all, names := parse(os.Args[1])
	requests := bufio.NewReader(os.Stdin)
	for {
		line, err := requests.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		orDie(json.Unmarshal(line, &asked))
		text, err := render(all, names, os.Args[2], asked)
		reply := answer{Text: text}
		if err != nil {
			reply.Error = err.Error()
		}
		orDie(json.NewEncoder(os.Stdout).Encode(reply))
	}
}
