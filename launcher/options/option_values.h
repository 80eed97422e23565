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

// Readers of single values. Each returns InvalidArgument with what was wrong
// and what to write instead, without the flag's name: "is not a number between
// 0 and 9; write for example 3".

// A whole decimal number; a sign only where `least` is negative.
absl::StatusOr<int64_t> ReadNumber(const std::string& text, int64_t least,
                                   int64_t most);

// 0 or 1 (also true, false, yes, no, on, off).
absl::StatusOr<bool> ReadSwitch(const std::string& text);

// A switch as one of two values of an enumeration.
template <typename T>
absl::StatusOr<T> ReadEither(const std::string& text, T off, T on) {
  const absl::StatusOr<bool> value = ReadSwitch(text);
  if (!value.ok()) return value.status();
  return *value ? on : off;
}

// Seconds, with a fraction if need be, from 0 to one year.
absl::StatusOr<Duration> ReadSeconds(const std::string& text);

// The same, at least one millisecond.
absl::StatusOr<Duration> ReadPositiveSeconds(const std::string& text);

// A name that becomes a folder and part of a line: 1 to 128 characters without
// slash, space and control characters.
absl::StatusOr<std::string> ReadName(const std::string& text);

// HOST[:PORT]; nullopt if `text` is empty.
absl::StatusOr<std::optional<rendezvous::Endpoint>> ReadOptionalEndpoint(
    const std::string& text);

// "N" or "MIN:MAX", 1 <= MIN <= MAX <= 1000000.
absl::StatusOr<std::pair<int, int>> ReadNodes(const std::string& text);

// "SIGTERM,USR1,15": names with or without SIG, or numbers, each once. Empty
// text: none. SIGKILL and SIGSTOP cannot be caught and are refused.
absl::StatusOr<std::vector<int>> ReadSignals(const std::string& text);

// A folder's path; empty text: none. Refuses a leading "~", which a shell
// leaves as it is behind "=", and which names no home folder here.
absl::StatusOr<std::string> ReadFolder(const std::string& text);

// "a,b,,c" as {a, b, c}, spaces around the parts removed.
std::vector<std::string> ReadList(const std::string& text);

// "a,b,,c" as {"a", "b,c"}: parted as torchrun parts filters, where a comma is
// written twice; blanks stay. Empty parts are left out.
std::vector<std::string> ReadFilters(const std::string& text);

// One of `allowed`.
absl::StatusOr<std::string> ReadChoice(const std::string& text,
                                       const std::vector<std::string>& allowed);

// Assigns `value` to `field`, or returns the reader's error.
template <typename Field, typename Value>
absl::Status Set(Field& field, absl::StatusOr<Value> value) {
  if (!value.ok()) return value.status();
  field = *std::move(value);
  return absl::OkStatus();
}

// The same for readers that accept every text.
template <typename Field>
absl::Status Set(Field& field, Field value) {
  field = std::move(value);
  return absl::OkStatus();
}

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_OPTION_VALUES_H_
