#ifndef MUSTER_TRAINER_SDK_SESSION_ENVIRONMENT_READER_H_
#define MUSTER_TRAINER_SDK_SESSION_ENVIRONMENT_READER_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace muster {

// The largest allowed world size.
inline constexpr int kMostRanks = 1 << 20;

// Reads environment variables and remembers the first error, so that a caller
// can read a whole plan and check once. A variable that is set to the empty
// string counts as unset. Pure.
class EnvironmentReader {
 public:
  explicit EnvironmentReader(
      const std::map<std::string, std::string>& environment)
      : environment_(environment) {}

  // The value; "" if it is not set.
  std::string Text(const std::string& name) const;
  bool Has(const std::string& name) const { return !Text(name).empty(); }

  // A decimal integer in [least, most]; nothing if it is unset or invalid.
  std::optional<int64_t> Number(const std::string& name, int64_t least,
                                int64_t most);
  // As Number, but an unset variable is an error as well. `beside` says in the
  // message which launcher set the related variables. Returns `least` on an
  // error.
  int64_t Required(const std::string& name, int64_t least, int64_t most,
                   const std::string& beside);

  // The first of `names` that is set, or the first of them if none is.
  std::string FirstSet(std::initializer_list<const char*> names) const;

  // For messages: "NAME=value" or "NAME is not set".
  std::string Shown(const std::string& name) const;

  void Refuse(const std::string& why);
  // OK, or InvalidArgument with the first error.
  const absl::Status& status() const { return status_; }

 private:
  const std::map<std::string, std::string>& environment_;
  absl::Status status_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_ENVIRONMENT_READER_H_
