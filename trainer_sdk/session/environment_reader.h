#ifndef MUSTER_TRAINER_SDK_SESSION_ENVIRONMENT_READER_H_
#define MUSTER_TRAINER_SDK_SESSION_ENVIRONMENT_READER_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace muster {

// No world has more ranks than this.
inline constexpr int kMostRanks = 1 << 20;

// Reads variables and remembers the first that was wrong, so that a plan can
// be read as a whole and judged once. A variable that is set and empty counts
// as not set. Pure.
class EnvironmentReader {
 public:
  explicit EnvironmentReader(
      const std::map<std::string, std::string>& environment)
      : environment_(environment) {}

  // "" where it is not set.
  std::string Text(const std::string& name) const;
  bool Has(const std::string& name) const { return !Text(name).empty(); }

  // A whole decimal number; nothing where it is not set or wrong.
  std::optional<int64_t> Number(const std::string& name, int64_t least,
                                int64_t most);
  // As Number; that it is not set is wrong too, as `beside` is, which says who
  // set them. `least` then.
  int64_t Required(const std::string& name, int64_t least, int64_t most,
                   const std::string& beside);

  // The first name that is set, else the first.
  std::string FirstSet(std::initializer_list<const char*> names) const;

  // "NAME=value", for messages; "NAME is not set".
  std::string Shown(const std::string& name) const;

  void Refuse(const std::string& why);
  // InvalidArgument with what was wrong first.
  const absl::Status& status() const { return status_; }

 private:
  const std::map<std::string, std::string>& environment_;
  absl::Status status_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_ENVIRONMENT_READER_H_
