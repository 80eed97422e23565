#include "trainer_sdk/session/environment_reader.h"

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

constexpr size_t kShownBytes = 60;

}  // namespace

std::string EnvironmentReader::Text(const std::string& name) const {
  auto found = environment_.find(name);
  return found == environment_.end() ? "" : found->second;
}

std::string EnvironmentReader::FirstSet(
    std::initializer_list<const char*> names) const {
  for (const char* name : names) {
    if (Has(name)) return name;
  }
  return *names.begin();
}

std::string EnvironmentReader::Shown(const std::string& name) const {
  const std::string text = Text(name);
  if (text.empty()) return name + " is not set";
  return absl::StrCat(name, "=", absl::CHexEscape(text.substr(0, kShownBytes)),
                      text.size() > kShownBytes ? "..." : "");
}

void EnvironmentReader::Refuse(const std::string& why) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(why);
}

std::optional<int64_t> EnvironmentReader::Number(const std::string& name,
                                                 int64_t least, int64_t most) {
  const std::string text = Text(name);
  if (text.empty()) return std::nullopt;
  int64_t number = 0;
  // SimpleAtoi accepts white space and a sign, which no launcher writes.
  const bool is_number =
      text.find_first_not_of("-0123456789") == std::string::npos &&
      absl::SimpleAtoi(text, &number);
  if (!is_number || number < least || number > most) {
    Refuse(absl::StrCat(Shown(name), " is not a number between ", least,
                        " and ", most));
    return std::nullopt;
  }
  return number;
}

int64_t EnvironmentReader::Required(const std::string& name, int64_t least,
                                    int64_t most, const std::string& beside) {
  if (!Has(name)) {
    Refuse(absl::StrCat(Shown(name), ", but ", Shown(beside),
                        "; set both or neither"));
  }
  return Number(name, least, most).value_or(least);
}

}  // namespace muster
