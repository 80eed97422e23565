#ifndef MUSTER_LAUNCHER_OPTIONS_COMMAND_LINE_H_
#define MUSTER_LAUNCHER_OPTIONS_COMMAND_LINE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// A command line taken apart, values not yet read.
struct CommandLine {
  // By flag name, every value in the order given; a switch without a value
  // has "1".
  std::map<std::string, std::vector<std::string>> values;
  // The first argument that is no flag of ours, and everything after it,
  // untouched.
  std::vector<std::string> rest;
};

// Takes apart `args` (without the program's name). A flag may be written with
// dashes or underscores, mixed too. InvalidArgument, one line: an unknown flag
// (with the nearest known one), a value that is missing or not wanted.
absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<Flag>& flags, const std::vector<std::string>& args);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_COMMAND_LINE_H_
