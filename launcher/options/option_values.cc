#include "launcher/options/option_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <optional>

#include "absl/strings/str_cat.h"
#include "rendezvous/dashboard/dashboard_access.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::launcher {
namespace {

constexpr double kMaxSeconds = 365.0 * 24 * 3600;

absl::Status Bad(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

absl::StatusOr<int64_t> ReadNumber(const std::string& text, int64_t least,
                                   int64_t most) {
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      value < least || value > most) {
    return Bad(absl::StrCat("is not a whole number from ", least, " to ", most,
                            "; write for example ",
                            std::max<int64_t>(least, 1)));
  }
  return value;
}

absl::StatusOr<bool> ReadSwitch(const std::string& text) {
  const std::string lower = Lower(text);
  for (const char* yes : {"1", "true", "yes", "on"}) {
    if (lower == yes) return true;
  }
  for (const char* no : {"0", "false", "no", "off"}) {
    if (lower == no) return false;
  }
  return Bad("is neither 0 nor 1; write 0 or 1");
}

absl::StatusOr<Duration> ReadSeconds(const std::string& text) {
  double seconds = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() ||
      !std::isfinite(seconds) || seconds < 0 || seconds > kMaxSeconds) {
    return Bad(
        "is not a number of seconds from 0 to one year; write for example 30");
  }
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(seconds));
}

absl::StatusOr<Duration> ReadPositiveSeconds(const std::string& text) {
  absl::StatusOr<Duration> time = ReadSeconds(text);
  if (time.ok() && *time < std::chrono::milliseconds(1)) {
    return Bad("is no time; write for example 30");
  }
  return time;
}

absl::StatusOr<std::string> ReadName(const std::string& text) {
  constexpr size_t kLongest = 128;
  if (text.empty() || text.size() > kLongest || text == "." || text == "..") {
    return Bad(absl::StrCat("is not a name of 1 to ", kLongest,
                            " characters; write for example job-7"));
  }
  for (const char c : text) {
    if (c == '/' || static_cast<unsigned char>(c) < 0x21 || c == 0x7f) {
      return Bad(
          "holds a slash, a space or a control character; use letters, digits, "
          "'.', '_' and '-'");
    }
  }
  return text;
}

absl::StatusOr<std::optional<rendezvous::Endpoint>> ReadOptionalEndpoint(
    const std::string& text) {
  if (text.empty()) return std::nullopt;
  absl::StatusOr<rendezvous::Endpoint> endpoint =
      rendezvous::ParseEndpoint(text);
  if (!endpoint.ok()) return endpoint.status();
  return *std::move(endpoint);
}

absl::StatusOr<std::optional<rendezvous::Endpoint>> ReadDashboardEndpoint(
    const std::string& text) {
  if (text.empty()) return std::nullopt;
  absl::StatusOr<rendezvous::Endpoint> endpoint =
      rendezvous::ParseDashboardEndpoint(text);
  if (!endpoint.ok()) return endpoint.status();
  return *std::move(endpoint);
}

absl::StatusOr<std::vector<rendezvous::Endpoint>> ReadEndpoints(
    const std::string& text) {
  if (text.empty()) return std::vector<rendezvous::Endpoint>();
  return rendezvous::ParseEndpoints(text);
}

absl::StatusOr<std::pair<int, int>> ReadNodes(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string first = text.substr(0, colon);
  const std::string second =
      colon == std::string::npos ? first : text.substr(colon + 1);
  const absl::StatusOr<int64_t> least =
      ReadNumber(first, 1, rendezvous::kMaxNodes);
  const absl::StatusOr<int64_t> most =
      ReadNumber(second, 1, rendezvous::kMaxNodes);
  if (!least.ok() || !most.ok()) {
    return Bad(absl::StrCat("is neither N nor MIN:MAX with numbers from 1 to ",
                            rendezvous::kMaxNodes,
                            "; write for example 2 or 2:4"));
  }
  if (*least > *most) {
    return Bad(absl::StrCat("its MIN is greater than its MAX; write ", *most,
                            ":", *least, "?"));
  }
  return std::pair<int, int>(static_cast<int>(*least), static_cast<int>(*most));
}

absl::StatusOr<std::vector<int>> ReadSignals(const std::string& text) {
  std::vector<int> signals;
  for (const std::string& name : ReadList(text)) {
    const std::optional<int> number = rendezvous::SignalNumber(name);
    if (!number) {
      return Bad(absl::StrCat(
          name, " is no signal; write for example SIGTERM,SIGUSR1"));
    }
    if (*number == SIGKILL || *number == SIGSTOP) {
      return Bad(absl::StrCat(name, " cannot be caught; leave it out"));
    }
    for (const int used : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP,
                           SIGSYS, SIGCHLD, SIGPIPE}) {
      if (*number == used) {
        return Bad(absl::StrCat(name, " has another use; leave it out"));
      }
    }
    if (std::find(signals.begin(), signals.end(), *number) == signals.end()) {
      signals.push_back(*number);
    }
  }
  return signals;
}

absl::StatusOr<std::string> ReadFolder(const std::string& text) {
  if (text.empty() || text[0] != '~') return text;
  return absl::InvalidArgumentError(absl::StrCat(
      "begins with ~, which is not replaced by a home folder here; write the "
      "whole path, on a command line $HOME",
      text.substr(std::min(text.find('/'), text.size())),
      ", or ./~ for a folder of that name"));
}

std::vector<std::string> ReadList(const std::string& text) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t comma = std::min(text.find(',', start), text.size());
    std::string part = Trimmed(text.substr(start, comma - start));
    if (!part.empty()) parts.push_back(std::move(part));
    start = comma + 1;
  }
  return parts;
}

std::vector<std::string> ReadFilters(const std::string& text) {
  std::vector<std::string> filters(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ',') {
      filters.back() += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == ',') {
      filters.back() += ',';
      ++i;
    } else {
      filters.emplace_back();
    }
  }
  std::erase(filters, "");
  return filters;
}

absl::StatusOr<std::string> ReadChoice(
    const std::string& text, const std::vector<std::string>& allowed) {
  std::string list;
  for (const std::string& word : allowed) {
    if (text == word) return text;
    absl::StrAppend(&list, list.empty() ? "" : ", ", word);
  }
  return Bad(absl::StrCat("is not one of the known ones; write ", list));
}

}  // namespace muster::launcher
