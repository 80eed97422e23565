#include "rendezvous/events/shown_command.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster::rendezvous {
namespace {

constexpr char kLeftOut[] = "[left out]";

// Splits a command at the blanks that are outside of quotes. The words keep
// their quotes.
std::vector<std::string> Words(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  char quote = '\0';
  for (const char c : command) {
    if (quote == '\0' && c == ' ') {
      if (!word.empty()) words.push_back(std::exchange(word, ""));
      continue;
    }
    if (quote == c) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    }
    word += c;
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

bool IsSecretName(std::string_view name) {
  constexpr std::string_view kWords[] = {
      "token",      "secret",      "secrets",  "password", "passwd",
      "passphrase", "credential",  "auth",     "apikey",   "pass",
      "pw",         "credentials", "accesskey"};
  const std::vector<std::string> parts =
      absl::StrSplit(absl::AsciiStrToLower(std::string(name)),
                     absl::ByAnyChar("-_.'\""), absl::SkipEmpty());
  if (parts.empty()) return false;
  return parts.back() == "key" ||
         std::ranges::any_of(parts, [&](const std::string& part) {
           return std::ranges::find(kWords, part) != std::end(kWords);
         });
}

bool IsSecretValue(std::string_view value) {
  constexpr std::string_view kBeginnings[] = {
      "hf_",   "ghp_", "gho_", "ghs_",    "sk-",         "xoxb-",
      "xoxp-", "AKIA", "eyJ",  "muster1", "github_pat_", "glpat-"};
  while (!value.empty() && (value[0] == '\'' || value[0] == '"')) {
    value.remove_prefix(1);
  }
  return std::ranges::any_of(kBeginnings, [&](std::string_view beginning) {
    return value.starts_with(beginning);
  });
}

// Removes the user and the password from an address such as
// "s3://user:password@host/path".
std::string WithoutUser(const std::string& word) {
  const size_t scheme = word.find("://");
  if (scheme == std::string::npos) return word;
  const size_t begin = scheme + 3;
  const size_t end = std::min(word.find('/', begin), word.size());
  const size_t at = word.rfind('@', end);
  if (at == std::string::npos || at < begin || at > end) return word;
  if (word.find(':', begin) > at) return word;
  return absl::StrCat(word.substr(0, begin), kLeftOut, word.substr(at));
}

}  // namespace

std::string ShownCommand(std::string_view command) {
  std::string shown;
  bool is_next_secret = false;
  for (const std::string& word : Words(command)) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const bool has_value = equals != std::string::npos;
    const bool is_flag = word[0] == '-';
    std::string text;
    if (is_next_secret && !is_flag) {
      text = kLeftOut;
    } else if (has_value &&
               (IsSecretName(name) || IsSecretValue(word.substr(equals + 1)))) {
      text = absl::StrCat(name, "=", kLeftOut);
    } else {
      text = IsSecretValue(word) ? kLeftOut : WithoutUser(word);
    }
    is_next_secret = is_flag && !has_value && IsSecretName(name);
    absl::StrAppend(&shown, shown.empty() ? "" : " ", text);
  }
  return shown;
}

}  // namespace muster::rendezvous
