#ifndef MUSTER_LAUNCHER_CONFIG_YAML_VALUE_H_
#define MUSTER_LAUNCHER_CONFIG_YAML_VALUE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::launcher {

struct YamlEntry;

// A value of a YAML document, which is a tree. Every value has its line number.
struct YamlValue {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  int line = 0;      // line number, from 1
  std::string text;  // the text of a kScalar
  // kScalar: whether the text is quoted; if so, it is a string even if it looks
  // like a number
  bool quoted = false;
  std::vector<YamlValue> items;  // elements of a kList
  // Entries of a kMap in the file's order, without duplicate keys.
  std::vector<YamlEntry> entries;

  // Returns the value of a map's key; null if the key is absent or this value
  // is not a map.
  const YamlValue* Find(const std::string& key) const;
};

struct YamlEntry {
  std::string key;
  int line = 0;
  YamlValue value;
};

// Limits of a configuration file: its size in bytes, the number of its values
// and their nesting depth.
inline constexpr size_t kMaxYamlBytes = 64 << 10;
inline constexpr int kMaxYamlValues = 4096;
inline constexpr int kMaxYamlDepth = 16;

// Reads one document. Aliases, anchors, tags and a second document are refused,
// so that the tree is no larger than its text. Pure.
// InvalidArgument: "3: what is wrong", with the line.
absl::StatusOr<YamlValue> ParseYaml(const std::string& text);

// Reads an unquoted scalar that is a truth value in YAML 1.1 (true, Yes, off,
// …); nullopt for any other value.
std::optional<bool> ReadYamlTruth(const YamlValue& value);

// The text that Python's str() returns for a value that yaml.safe_load has
// read: "None" for null, "True" for yes, "0.1" for 0.10, and a list in Python's
// notation. The text of any other scalar is returned unchanged. Unlike in
// Python, every map gives "{}".
std::string PythonText(const YamlValue& value);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_YAML_VALUE_H_
