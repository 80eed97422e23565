#ifndef MUSTER_AGENT_DIALECTS_DIALECT_COMMAND_H_
#define MUSTER_AGENT_DIALECTS_DIALECT_COMMAND_H_

#include <string>
#include <vector>

#include "agent/workers/dialect.h"

namespace muster::agent {

inline constexpr char kDialectArgument[] = "--dialect-process";
inline constexpr char kTensorFlowWord[] = "tf";
inline constexpr char kJaxWord[] = "jax";

// The worker's command that begins as a dialect process (dialect_process.h) of
// this program; `command` itself where none of `dialects` needs it. Pure.
std::vector<std::string> WithDialects(const std::vector<Dialect>& dialects,
                                      std::vector<std::string> command);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_DIALECTS_DIALECT_COMMAND_H_
