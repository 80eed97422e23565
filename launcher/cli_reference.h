#ifndef MUSTER_LAUNCHER_CLI_REFERENCE_H_
#define MUSTER_LAUNCHER_CLI_REFERENCE_H_

#include <string>

namespace muster::launcher {

// docs/CLI.md, made of the same table as parsing and help. Pure. A test
// compares; `bazel run //launcher:cli_reference_tool > docs/CLI.md` renews it.
std::string CliReference();

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLI_REFERENCE_H_
