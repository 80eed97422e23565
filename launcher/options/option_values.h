#ifndef MUSTER_LAUNCHER_OPTIONS_OPTION_VALUES_H_
#define MUSTER_LAUNCHER_OPTIONS_OPTION_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {

// Functions that read the value of one flag. If the text is invalid, they
// return InvalidArgument; its message has the error and a valid example, but
// not the flag's name: "is not a number between 0 and 9; write for example 3".

// Reads a whole decimal number; a sign is accepted only if `least` is negative.
absl::StatusOr<int64_t> ReadNumber(const std::string& text, int64_t least,
                                   int64_t most);

// Reads a switch: 0 or 1 (also true, false, yes, no, on, off).
absl::StatusOr<bool> ReadSwitch(const std::string& text);

// Reads a switch and returns the caller's value `on` if the switch is on,
// otherwise `off`.
template <typename T>
absl::StatusOr<T> ReadEither(const std::string& text, T off, T on) {
  const absl::StatusOr<bool> value = ReadSwitch(text);
  if (!value.ok()) return value.status();
  return *value ? on : off;
}

// Reads seconds from 0 to one year; fractions are accepted.
absl::StatusOr<Duration> ReadSeconds(const std::string& text);

// Reads seconds from one millisecond to one year; fractions are accepted.
absl::StatusOr<Duration> ReadPositiveSeconds(const std::string& text);

// Reads a name that becomes a folder's name and part of a line of output: 1 to
// 128 characters without slash, space and control characters.
absl::StatusOr<std::string> ReadName(const std::string& text);

// Reads HOST[:PORT]; returns nullopt if `text` is empty.
absl::StatusOr<std::optional<rendezvous::Endpoint>> ReadOptionalEndpoint(
    const std::string& text);

// Reads HOST[:PORT], or PORT alone, which means 127.0.0.1:PORT; returns nullopt
// if `text` is empty.
absl::StatusOr<std::optional<rendezvous::Endpoint>> ReadDashboardEndpoint(
    const std::string& text);

// Reads HOST[:PORT],HOST[:PORT],…; returns no endpoint if `text` is empty.
absl::StatusOr<std::vector<rendezvous::Endpoint>> ReadEndpoints(
    const std::string& text);

// Reads "N" or "MIN:MAX", with 1 <= MIN <= MAX <= rendezvous::kMaxNodes.
absl::StatusOr<std::pair<int, int>> ReadNodes(const std::string& text);

// Reads signals such as "SIGTERM,USR1,15": names with or without SIG, or
// numbers, without duplicates. Empty text: none. Refuses SIGKILL and SIGSTOP,
// which cannot be caught.
absl::StatusOr<std::vector<int>> ReadSignals(const std::string& text);

// Reads a folder's path; empty text: none. Refuses a leading "~": shells do not
// expand it after "=", so it would name a folder called "~".
absl::StatusOr<std::string> ReadFolder(const std::string& text);

// Splits "a,b,,c" into {a, b, c}; removes blanks around the parts.
std::vector<std::string> ReadList(const std::string& text);

// Splits "a,b,,c" into {"a", "b,c"}, as torchrun splits filters: a double comma
// means a comma. Keeps blanks; omits empty parts.
std::vector<std::string> ReadFilters(const std::string& text);

// Reads one of the words in `allowed`; every other text is an error.
absl::StatusOr<std::string> ReadChoice(const std::string& text,
                                       const std::vector<std::string>& allowed);

// Assigns `value` to `field`; if `value` is an error, returns that error.
template <typename Field, typename Value>
absl::Status Set(Field& field, absl::StatusOr<Value> value) {
  if (!value.ok()) return value.status();
  field = *std::move(value);
  return absl::OkStatus();
}

// Assigns `value` to `field` and returns OK. For values of readers that accept
// every text and therefore return no error.
template <typename Field>
absl::Status Set(Field& field, Field value) {
  field = std::move(value);
  return absl::OkStatus();
}

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_OPTION_VALUES_H_
