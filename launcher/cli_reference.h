#ifndef MUSTER_LAUNCHER_CLI_REFERENCE_H_
#define MUSTER_LAUNCHER_CLI_REFERENCE_H_

#include <string>

namespace muster::launcher {

// The text of docs/CLI.md, generated from the table of flags that parsing and
// help use. Pure. A test compares the file with this text; `bazel run
// //launcher:cli_reference_tool > docs/CLI.md` updates the file.
std::string CliReference();

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLI_REFERENCE_H_
