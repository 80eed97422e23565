#ifndef MUSTER_AGENT_FAILURES_BOUNDED_TEXT_H_
#define MUSTER_AGENT_FAILURES_BOUNDED_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

// Texts from workers, made fit for a report: valid UTF-8 without control
// characters and escape sequences, at most `max_bytes` long and cut between
// characters. Pure.

// The first line that is not blank; "..." at its end where it was cut.
std::string BoundedLine(std::string_view text, size_t max_bytes);

// One line with its indentation, by which tracebacks are read; blank lines are
// empty.
std::string BoundedIndentedLine(std::string_view line, size_t max_bytes);

// The last `max_lines` of `lines`, each as above.
std::vector<std::string> BoundedLastLines(const std::vector<std::string>& lines,
                                          size_t max_lines, size_t max_bytes);

// Whole lines from the end of `text`, since a traceback's last lines say most;
// a first line "..." where some were left out.
std::string BoundedTail(std::string_view text, size_t max_bytes);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FAILURES_BOUNDED_TEXT_H_
