#ifndef MUSTER_LAUNCHER_OPTIONS_COMMAND_LINE_H_
#define MUSTER_LAUNCHER_OPTIONS_COMMAND_LINE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/flag.h"
#include "rendezvous/tls/tls_files.h"

namespace muster::launcher {

// A parsed command line. The values are unparsed text.
struct CommandLine {
  // Every value of each flag by flag name, in the order given; a switch without
  // a value has "1".
  std::map<std::string, std::vector<std::string>> values;
  // The first argument that is neither a flag of Muster nor its value, and all
  // arguments after it, unchanged.
  std::vector<std::string> rest;
};

// Parses `args` (without the program's name). A flag may be written with
// dashes, underscores or both. InvalidArgument, one line: an unknown flag (with
// the nearest known one), a missing value, or a value that is not allowed.
absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<Flag>& flags, const std::vector<std::string>& args);

// The value of a flag that does not come from the command line.
struct FlagDefault {
  std::string origin;  // the source of the value, for messages: "SLURM_JOB_ID"
  std::string text;    // the value as it would be written after --name=
};

// The value of each flag. A value comes from the first source that gives one:
// the command line; PET_<NAME> or Flag::variable in the environment (an empty
// variable counts as unset); a file or a cluster (TakeDefaults); the default in
// the table of flags. Keeps the first error, so that a caller can read all
// flags and then check status() once.
class FlagValues {
 public:
  FlagValues(const std::vector<Flag>& flags, const CommandLine& line,
             const std::map<std::string, std::string>& environment);

  // Sets the values of flags that have not been given. Ignores names that no
  // flag has.
  void TakeDefaults(const std::map<std::string, FlagDefault>& defaults);

  // Whether the command line, the environment or TakeDefaults gave the flag;
  // false if the flag has only the default in the table of flags.
  bool IsGiven(const std::string& name) const;

  // The flags for which IsGiven is true, with their texts.
  std::map<std::string, std::string> Given() const;

  // The source of the flag's value: "--name", "PET_NAME" or a default's origin;
  // empty: the flag is not given.
  std::string Origin(const std::string& name) const;

  // The text of the flag's value; the default's text if the flag is not given.
  std::string Text(const std::string& name) const;

  // Whether the flag, which is a switch, is on.
  bool IsOn(const std::string& name) const;

  // Reads the flag's text with `read` into `target`. If `read` fails, keeps the
  // error, which then begins with "--name=text: " or "PET_NAME=text: ".
  template <typename T, typename Read>
  void Into(const std::string& name, Read read, T& target) {
    auto value = read(Text(name));
    if (value.ok()) {
      target = *std::move(value);
    } else {
      Refuse(name, value.status());
    }
  }

  // Keeps `error`, which is about the flag's value, if no error has been kept
  // before.
  void Refuse(const std::string& name, const absl::Status& error);

  // Keeps `error`, which is about the flag itself, if no error has been kept
  // before. The message does not show the flag's value.
  void RefuseFlag(const std::string& name, const absl::Status& error);

  const absl::Status& status() const { return status_; }

 private:
  struct Value {
    // name of the flag or environment variable that gave the value, such as
    // "--nnodes" or "PET_NNODES"
    std::string origin;
    std::string text;
  };

  // The name of the flag in messages: "--name", "PET_NAME" (the environment
  // variable that gave the value) or the source of a default, such as
  // "SLURM_JOB_ID". If the flag is not given: "--name".
  std::string Called(const std::string& name) const;

  std::map<std::string, Value> values_;
  absl::Status status_;
};

// The values of --tls-cert, --tls-key and --tls-ca.
rendezvous::TlsFiles ReadTlsFiles(const FlagValues& values);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_COMMAND_LINE_H_
