#include "launcher/config/python_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

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

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return text;
}

}  // namespace muster::launcher
