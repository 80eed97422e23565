#ifndef MUSTER_AGENT_LOGS_LINE_PREFIX_H_
#define MUSTER_AGENT_LOGS_LINE_PREFIX_H_

#include <string>

namespace muster::agent {

// Who a line is of.
struct LineOwner {
  std::string role;
  std::string host;
  int rank = 0;
  int local_rank = 0;
};

// What a worker's lines begin with on the console: "[host:rank] ", or
// `line_template`, where that is not empty, as torchrun reads it (Python's
// string.Template.safe_substitute): $NAME and ${NAME} of role_name, local_rank,
// rank and hostname are replaced, "$$" is "$", and anything else stays. Control
// characters but colours are left out. Pure.
std::string LinePrefix(const std::string& line_template,
                       const LineOwner& owner);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LINE_PREFIX_H_
