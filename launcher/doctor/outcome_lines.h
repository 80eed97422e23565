#ifndef MUSTER_LAUNCHER_DOCTOR_OUTCOME_LINES_H_
#define MUSTER_LAUNCHER_DOCTOR_OUTCOME_LINES_H_

#include <optional>
#include <string>

namespace muster::launcher {

// A worker sends a text to the `launch` on another machine, which started the
// job, as encoded lines of the worker's output. On the way, lines may get
// prefixes, are mixed with other output, and are cut if they are long.

// Encodes `text` as lines of bounded length. Pure.
std::string OutcomeLines(const std::string& text);

struct ReadOutcome {
  std::optional<std::string> text;  // nullopt: it is not there, or not whole
  std::string rest;                 // the lines that are something else
};
// Decodes the lines of OutcomeLines that `output` contains. Pure.
ReadOutcome ReadOutcomeLines(const std::string& output);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_OUTCOME_LINES_H_
