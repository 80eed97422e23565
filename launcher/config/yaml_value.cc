#include "launcher/config/yaml_value.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

// The exception for invalid text. The exception is thrown through yaml-cpp,
// which offers no other way to stop parsing.
struct Refusal {
  int line;
  std::string why;
};

int LineOf(const YAML::Mark& mark) { return mark.line + 1; }

// Builds the tree from the parser's events. yaml-cpp reports a map as a
// sequence in which keys and values alternate.
class TreeBuilder final : public YAML::EventHandler {
 public:
  YamlValue Take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) Refuse(mark, "a second document; write one");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    CheckPlain(mark, "", anchor);
    Add(mark, {.kind = YamlValue::Kind::kNull, .line = LineOf(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Refuse(mark, "an alias (*name); write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& value) override {
    CheckPlain(mark, tag, anchor);
    // Arguments and environment variables cannot hold a NUL character.
    if (value.find('\0') != std::string::npos) Refuse(mark, "a NUL character");
    Add(mark, {.kind = YamlValue::Kind::kScalar,
               .line = LineOf(mark),
               .text = value,
               .quoted = tag == "!"});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    CheckPlain(mark, tag, anchor);
    Open(mark, YamlValue::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    CheckPlain(mark, tag, anchor);
    Open(mark, YamlValue::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Level {
    YamlValue value;
    // If `value` is a map: the entry whose key the parser has read, and whose
    // value it has not read yet.
    std::optional<YamlEntry> entry;
  };

  [[noreturn]] static void Refuse(const YAML::Mark& mark, std::string why) {
    throw Refusal{LineOf(mark), std::move(why)};
  }

  static void CheckPlain(const YAML::Mark& mark, const std::string& tag,
                         YAML::anchor_t anchor) {
    if (anchor != 0) Refuse(mark, "an anchor (&name); write the value out");
    if (tag.size() > 1) Refuse(mark, "a tag (!name); leave it out");
  }

  void Open(const YAML::Mark& mark, YamlValue::Kind kind) {
    if (levels_.size() >= static_cast<size_t>(kMaxYamlDepth)) {
      Refuse(mark, absl::StrCat("deeper than ", kMaxYamlDepth, " levels"));
    }
    if (!levels_.empty() &&
        levels_.back().value.kind == YamlValue::Kind::kMap &&
        !levels_.back().entry.has_value()) {
      Refuse(mark, "a key that is no text");
    }
    levels_.push_back({{.kind = kind, .line = LineOf(mark)}, {}});
  }

  void Close() {
    YamlValue value = std::move(levels_.back().value);
    levels_.pop_back();
    const YAML::Mark mark = MarkOf(value.line);
    Add(mark, std::move(value));
  }

  static YAML::Mark MarkOf(int line) {
    YAML::Mark mark;
    mark.line = line - 1;
    return mark;
  }

  void Add(const YAML::Mark& mark, YamlValue value) {
    if (++values_ > kMaxYamlValues) {
      Refuse(mark, absl::StrCat("more than ", kMaxYamlValues, " values"));
    }
    if (levels_.empty()) {
      root_ = std::move(value);
      return;
    }
    Level& level = levels_.back();
    if (level.value.kind == YamlValue::Kind::kList) {
      level.value.items.push_back(std::move(value));
    } else if (level.entry.has_value()) {
      level.entry->value = std::move(value);
      level.value.entries.push_back(*std::move(level.entry));
      level.entry.reset();
    } else {
      if (value.kind != YamlValue::Kind::kScalar) {
        Refuse(mark, "a key that is no text");
      }
      if (level.value.Find(value.text) != nullptr) {
        Refuse(mark, absl::StrCat("'", value.text, "' stands there twice"));
      }
      level.entry =
          YamlEntry{.key = value.text, .line = value.line, .value = {}};
    }
  }

  YamlValue root_;
  std::vector<Level> levels_;
  int values_ = 0;
  int documents_ = 0;
};

absl::Status At(int line, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(line, ": ", why));
}

// Whether PyYAML reads `text` as a floating-point number without an exponent:
// digits with a point.
bool IsFraction(const std::string& text) {
  const size_t start = !text.empty() && (text[0] == '-' || text[0] == '+');
  const size_t point = text.find('.');
  return point != std::string::npos && text.size() > start + 1 &&
         text.find_first_not_of("0123456789", start) == point &&
         text.find_first_not_of("0123456789", point + 1) == std::string::npos;
}

std::string Shortest(const std::string& text) {
  const char* const begin = text.data() + (text[0] == '+' ? 1 : 0);
  double number = 0;
  if (std::from_chars(begin, text.data() + text.size(), number).ec !=
      std::errc()) {
    return text;
  }
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number);
  std::string shortest(buffer, end.ptr);
  if (shortest.find_first_of(".en") == std::string::npos) shortest += ".0";
  return shortest;
}

}  // namespace

const YamlValue* YamlValue::Find(const std::string& key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

absl::StatusOr<YamlValue> ParseYaml(const std::string& text) {
  if (text.size() > kMaxYamlBytes) {
    return At(1, absl::StrCat("the file is larger than ", kMaxYamlBytes >> 10,
                              " KiB"));
  }
  if (text.find('\0') != std::string::npos) return At(1, "not a text file");
  std::istringstream stream(text);
  TreeBuilder builder;
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    return At(refusal.line, refusal.why);
  } catch (const YAML::Exception& error) {
    return At(LineOf(error.mark), absl::StrCat("no YAML: ", error.msg));
  }
  return builder.Take();
}

std::optional<bool> ReadYamlTruth(const YamlValue& value) {
  if (value.kind != YamlValue::Kind::kScalar || value.quoted ||
      value.text.size() > 5) {
    return std::nullopt;
  }
  std::string lower = value.text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (lower == "true" || lower == "yes" || lower == "on") return true;
  if (lower == "false" || lower == "no" || lower == "off") return false;
  return std::nullopt;
}

std::string PythonText(const YamlValue& value) {
  switch (value.kind) {
    case YamlValue::Kind::kNull:
      return "None";
    case YamlValue::Kind::kMap:
      return "{}";
    case YamlValue::Kind::kList: {
      std::string text = "[";
      for (const YamlValue& item : value.items) {
        const std::string quote =
            item.kind == YamlValue::Kind::kScalar &&
                    (item.quoted || item.text.find_first_not_of(
                                        "0123456789.-") != std::string::npos) &&
                    !ReadYamlTruth(item).has_value()
                ? "'"
                : "";
        absl::StrAppend(&text, text.size() > 1 ? ", " : "", quote,
                        PythonText(item), quote);
      }
      return text + "]";
    }
    case YamlValue::Kind::kScalar:
      break;
  }
  const std::optional<bool> truth = ReadYamlTruth(value);
  if (truth.has_value()) return *truth ? "True" : "False";
  return !value.quoted && IsFraction(value.text) ? Shortest(value.text)
                                                 : value.text;
}

}  // namespace muster::launcher
