#ifndef MUSTER_LAUNCHER_CONFIG_YAML_VALUE_H_
#define MUSTER_LAUNCHER_CONFIG_YAML_VALUE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::launcher {

struct YamlEntry;

// A YAML document as a tree, every value with the line where it stands.
struct YamlValue {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  int line = 0;                    // from 1
  std::string text;                // kScalar
  bool quoted = false;             // kScalar: a string whatever it looks like
  std::vector<YamlValue> items;    // kList
  std::vector<YamlEntry> entries;  // kMap, in the file's order, no key twice

  // The value of a map's key; null: not there, or this is no map.
  const YamlValue* Find(const std::string& key) const;
};

struct YamlEntry {
  std::string key;
  int line = 0;
  YamlValue value;
};

// The bounds of a file that a person writes.
inline constexpr size_t kMaxYamlBytes = 64 << 10;
inline constexpr int kMaxYamlValues = 4096;
inline constexpr int kMaxYamlDepth = 16;

// Reads one document. Aliases, anchors, tags and a second document are refused,
// so that the tree is no larger than its text. Pure.
// InvalidArgument: "3: what is wrong", with the line.
absl::StatusOr<YamlValue> ParseYaml(const std::string& text);

// A plain scalar that is a truth value in YAML 1.1 (true, Yes, off, …).
std::optional<bool> ReadYamlTruth(const YamlValue& value);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_YAML_VALUE_H_
