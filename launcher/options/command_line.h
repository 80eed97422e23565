#ifndef MUSTER_LAUNCHER_OPTIONS_COMMAND_LINE_H_
#define MUSTER_LAUNCHER_OPTIONS_COMMAND_LINE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// A parsed command line; the values are still texts.
struct CommandLine {
  // By flag name, every value in the order given; a switch without a value
  // has "1".
  std::map<std::string, std::vector<std::string>> values;
  // The first argument that is no flag of ours, and everything after it,
  // untouched.
  std::vector<std::string> rest;
};

// Parses `args` (without the program's name). A flag may be written with
// dashes or underscores, mixed too. InvalidArgument, one line: an unknown flag
// (with the nearest known one), a value that is missing or not
// allowed.
absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<Flag>& flags, const std::vector<std::string>& args);

// A value of a flag from outside of the command line.
struct FlagDefault {
  std::string origin;  // its source, for messages: "SLURM_JOB_ID"
  std::string text;    // the text after --name=
};

// The value of each flag: from the command line, else from PET_<NAME> or
// Flag::variable in the environment (an empty variable counts as unset), else
// from a file or a cluster (TakeDefaults), else the row's default. Keeps the
// first error of all reads, so that a reader asks for status() once.
class FlagValues {
 public:
  FlagValues(const std::vector<Flag>& flags, const CommandLine& line,
             const std::map<std::string, std::string>& environment);

  // For the flags that have not been given. Names that no flag has are left.
  void TakeDefaults(const std::map<std::string, FlagDefault>& defaults);

  // Whether the flag was given by any of these, except the row's default.
  bool IsGiven(const std::string& name) const;

  // Those flags, with their texts.
  std::map<std::string, std::string> Given() const;

  // Who gave it: "--name", "PET_NAME", a default's origin; empty: nobody.
  std::string Origin(const std::string& name) const;

  // The flag's text.
  std::string Text(const std::string& name) const;

  // Whether the flag is a switch and on.
  bool IsOn(const std::string& name) const;

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
    std::string origin;  // "--name", "PET_NAME", a default's; empty: not given
    std::string text;
  };

  // Who gave it, or its name on a command line.
  std::string Called(const std::string& name) const;

  std::map<std::string, Value> values_;
  absl::Status status_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_COMMAND_LINE_H_
