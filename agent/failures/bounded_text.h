#ifndef MUSTER_AGENT_FAILURES_BOUNDED_TEXT_H_
#define MUSTER_AGENT_FAILURES_BOUNDED_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

// The first non-blank line of `text`, made safe for a report: valid UTF-8
// without control characters and escape sequences, at most `max_bytes` bytes. A
// longer line is cut between characters and ends with "...". All functions of
// this file are pure.
std::string BoundedLine(std::string_view text, size_t max_bytes);

// Makes one line safe as BoundedLine does, but keeps its indentation, which
// tracebacks need. A blank line becomes empty.
std::string BoundedIndentedLine(std::string_view line, size_t max_bytes);

// The last `max_lines` of `lines`, each made safe as by BoundedIndentedLine.
std::vector<std::string> BoundedLastLines(const std::vector<std::string>& lines,
                                          size_t max_lines, size_t max_bytes);

// The last lines of `text`, at most `max_bytes` bytes in total, each made safe,
// and cut if it is too long. The last lines of a traceback are the most
// informative. The first line is "..." if lines were omitted.
std::string BoundedTail(std::string_view text, size_t max_bytes);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FAILURES_BOUNDED_TEXT_H_
