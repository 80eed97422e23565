#ifndef MUSTER_AGENT_LOGS_LINE_PREFIX_H_
#define MUSTER_AGENT_LOGS_LINE_PREFIX_H_

#include <string>

namespace muster::agent {

// The worker that wrote a line of output.
struct LineOwner {
  std::string role;
  std::string host;
  int rank = 0;
  int local_rank = 0;
};

// The prefix of a worker's lines on the console: "[host:rank] ", or the text of
// `line_template` if it is not empty. In the template, $NAME and ${NAME} of
// role_name, local_rank, rank and hostname are replaced, "$$" becomes "$", and
// everything else stays, as in torchrun (Python's
// string.Template.safe_substitute). Control characters other than colours are
// removed. Pure.
std::string LinePrefix(const std::string& line_template,
                       const LineOwner& owner);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LINE_PREFIX_H_
