import Foundation
import TestSupport

/// A header before and after facts of its note were set, for a reader that compares both.
struct ReaderCase: Encodable {
  var before: String
  var after: String
  /// The key of the title if that was set, and what it has to be.
  var title: [String]?
  /// The same for the priority.
  var priority: [String]?
  /// The key of the tags if those were set.
  var tags: String?
  /// The tags that have to be there.
  var wanted: [String] = []
}

/// A reader of another program: it parses both headers and demands that all but what was set is equal, in the same order.
enum HeaderReader: String, CaseIterable {
  case pyYAML = "PyYAML"
  case ruamel = "ruamel.yaml"
  case go = "yaml.v3"
  case tomllib

  private var module: String {
    switch self {
    case .pyYAML: "yaml"
    case .ruamel: "ruamel.yaml"
    case .go: "json"
    case .tomllib: "tomllib"
    }
  }

  /// A Python that has the reader.
  private static func python(_ module: String) -> String? {
    ["python3", "/usr/bin/python3"].first {
      (try? shell("\"$2\" -c \"import $3\" 2> /dev/null", $0, module)) != nil
    }
  }

  private static let pythons = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0, python($0.module)) })

  private static let hasGo =
    hasTool("go") && FileManager.default.fileExists(atPath: goPath + "/src/gopkg.in/yaml.v3")
  /// Debian's packages of Go.
  private static let goPath = "/usr/share/gocode"

  var isHere: Bool { Self.pythons[self]! != nil && (self != .go || Self.hasGo) }

  /// What the reader finds wrong, and how many headers it has read.
  func check(_ cases: [ReaderCase]) throws -> (faults: [String], read: Int) {
    let folder = TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let script = folder.path + "/check.py"
    try Self.script.write(toFile: script, atomically: true, encoding: .utf8)
    if self == .go {
      let source = folder.path + "/reader.go"
      try Self.goSource.write(toFile: source, atomically: true, encoding: .utf8)
      try shell(
        #"cd "$2" && GO111MODULE=off GOPATH="$3" GOCACHE="$2/cache" go build -o reader reader.go"#,
        folder.path, Self.goPath)
    }
    let encoder = JSONEncoder()
    let input = folder.path + "/cases"
    let inputs = try cases.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }
    try inputs.joined().write(toFile: input, atomically: true, encoding: .utf8)
    let output = try shell(
      #""$2" -B "$3" "$4" "$5" < "$6""#, Self.pythons[self]!!, script, rawValue,
      folder.path + "/reader", input)
    let lines = output.split(separator: "\n").map(String.init)
    return (Array(lines.dropLast()), Int(lines.last!)!)
  }

  private static let script = #"""
    import json, subprocess, sys

    reader, program = sys.argv[1:3]
    cases = [json.loads(line) for line in sys.stdin]

    def inner(text):
        lines = text.lstrip("\ufeff").split("\n")
        end = next(i for i in range(1, len(lines)) if lines[i].rstrip() in ("---", "...", "+++"))
        return "\n".join(lines[1:end]) + "\n"

    if reader == "PyYAML":
        import yaml
        def load(text):
            return yaml.safe_load(text)
    elif reader == "ruamel.yaml":
        from ruamel.yaml import YAML
        def load(text):
            return YAML(typ="safe", pure=True).load(text)
    elif reader == "tomllib":
        import tomllib
        def load(text):
            return tomllib.loads(text)
    else:
        texts = [json.dumps(inner(case[side])) for case in cases for side in ("before", "after")]
        result = subprocess.run([program], input="\n".join(texts), stdout=subprocess.PIPE, text=True, check=True)
        answers = iter([json.loads(line) for line in result.stdout.split("\n") if line])
        def load(text):
            answer = next(answers)
            if "error" in answer:
                raise ValueError(answer["error"])
            value = answer["value"]
            if isinstance(value, dict):
                value = {key[7:] if key.startswith("string ") else key: value[key] for key in value}
            return value

    def shown(value):
        """A text that tells values and types apart, and the order of keys."""
        if isinstance(value, dict):
            return "{%s}" % ", ".join(shown(k) + ": " + shown(v) for k, v in value.items())
        if isinstance(value, (list, tuple)):
            return "[%s]" % ", ".join(map(shown, value))
        if isinstance(value, (set, frozenset)):
            return "set(%s)" % sorted(map(shown, value))
        return "%s %r" % (type(value).__name__, value)

    def take(value, key):
        """Removes a value and returns it; the table of a path of TOML goes with its last key."""
        path = key.split(".") if reader == "tomllib" else [key]
        for part in path[:-1]:
            value = value.get(part, {})
        return value.pop(path[-1], None)

    def word(item):
        if item is None or isinstance(item, (list, dict)):
            return None
        text = str(item).lower() if isinstance(item, bool) else str(item)
        return text[1:] if text.startswith("#") and len(text) > 1 else text

    def tags(old, new, wanted):
        if isinstance(old, list):
            kept = [item for item in old if word(item) is None or word(item) in wanted]
            there = [word(item) for item in kept]
            added = [tag for tag in wanted if tag not in there]
            added = ["#" + tag if tag.startswith("#") else tag for tag in added]
            return shown(new) == shown(kept + added)
        if isinstance(new, list):
            return sorted(map(word, new)) == sorted(wanted)
        words = new.split("," if "," in new else " ")
        return sorted(word(item.strip(" ")) for item in words) == sorted(wanted)

    def fault(case):
        try:
            old = load(inner(case["before"]))
        except Exception:
            if reader == "yaml.v3":
                next(answers)
            return None
        try:
            new = load(inner(case["after"]))
        except Exception as error:
            return "is not read: %s" % error
        global read
        read += 1
        old, new = old or {}, new or {}
        for name in ("title", "priority"):
            if case.get(name):
                key, wanted = case[name]
                take(old, key)
                found = take(new, key)
                if not isinstance(found, str) or found.rstrip("\n") != wanted:
                    return "%s is %r" % (name, found)
        if case.get("tags"):
            before, after = take(old, case["tags"]), take(new, case["tags"])
            if not tags(before, after, case["wanted"]):
                return "tags were %r, are %r, not %r" % (before, after, case["wanted"])
        if reader == "tomllib":
            old, new = dict(old, taxonomies=old.get("taxonomies", {})), dict(new, taxonomies=new.get("taxonomies", {}))
        if shown(old) != shown(new):
            return "was %s, is %s" % (shown(old), shown(new))

    read = 0
    for case in cases:
        found = fault(case)
        if found:
            print(json.dumps([found, case]))
    print(read)
    """#

  private static let goSource = #"""
    package main

    import (
    	"encoding/json"
    	"fmt"
    	"os"

    	"gopkg.in/yaml.v3"
    )

    // plain has a type in the place of what JSON has no type for.
    func plain(value interface{}) interface{} {
    	switch value := value.(type) {
    	case map[string]interface{}:
    		out := map[string]interface{}{}
    		for key, member := range value {
    			out["string "+key] = plain(member)
    		}
    		return out
    	case map[interface{}]interface{}:
    		out := map[string]interface{}{}
    		for key, member := range value {
    			out[fmt.Sprintf("%T %v", key, key)] = plain(member)
    		}
    		return out
    	case []interface{}:
    		out := []interface{}{}
    		for _, item := range value {
    			out = append(out, plain(item))
    		}
    		return out
    	case nil, string, int, bool:
    		return value
    	default:
    		return map[string]string{"type": fmt.Sprintf("%T %v", value, value)}
    	}
    }

    func main() {
    	decoder := json.NewDecoder(os.Stdin)
    	out := json.NewEncoder(os.Stdout)
    	for decoder.More() {
    		var text string
    		if decoder.Decode(&text) != nil {
    			os.Exit(1)
    		}
    		var value interface{}
    		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
    			out.Encode(map[string]string{"error": err.Error()})
    		} else {
    			out.Encode(map[string]interface{}{"value": plain(value)})
    		}
    	}
    }
    """#
}
