#ifndef MUSTER_LAUNCHER_OPTIONS_FLAG_VALUES_H_
#define MUSTER_LAUNCHER_OPTIONS_FLAG_VALUES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/command_line.h"
#include "launcher/options/defaults.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// What holds for each flag: the command line, else PET_<NAME> in the
// environment (an empty one counts as unset), else what a file or a cluster
// says (TakeDefaults), else the fallback. Keeps the
// first error of all reads, so that a reader asks for status() once.
class FlagValues {
 public:
  FlagValues(const std::vector<Flag>& flags, const CommandLine& line,
             const std::map<std::string, std::string>& environment);

  // For the flags that have not been given. Names that no flag has are left.
  void TakeDefaults(const std::map<std::string, FlagDefault>& defaults);

  // Whether somebody gave the flag: anything but the fallback holds.
  bool IsGiven(const std::string& name) const;

  // Those flags, with their texts.
  std::map<std::string, std::string> Given() const;

  // Who gave it: "--name", "PET_NAME", a default's origin; empty: nobody.
  std::string Origin(const std::string& name) const;

  // The flag's text as it holds.
  std::string Text(const std::string& name) const;

  // Reads the text with `read` into `target`, or keeps the error, which then
  // begins with "--name=text: " or "PET_NAME=text: ".
  template <typename T, typename Read>
  void Into(const std::string& name, Read read, T& target) {
    auto value = read(Text(name));
    if (value.ok()) {
      target = *std::move(value);
    } else {
      Refuse(name, value.status());
    }
  }

  // Keeps `error` as said of the flag's value, if it is the first one.
  void Refuse(const std::string& name, const absl::Status& error);

  // The same as said of the flag, whatever its value, which is not shown.
  void RefuseFlag(const std::string& name, const absl::Status& error);

  const absl::Status& status() const { return status_; }

 private:
  struct Value {
    std::string
        origin;  // "--name", "PET_NAME", a default's; empty: the fallback
    std::string text;
  };

  // Who gave it, or its name on a command line.
  std::string Called(const std::string& name) const;

  std::map<std::string, Value> values_;
  absl::Status status_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_FLAG_VALUES_H_
