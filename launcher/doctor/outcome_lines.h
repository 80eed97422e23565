#ifndef MUSTER_LAUNCHER_DOCTOR_OUTCOME_LINES_H_
#define MUSTER_LAUNCHER_DOCTOR_OUTCOME_LINES_H_

#include <optional>
#include <string>

namespace muster::launcher {

// How a worker hands a text to the `launch` that started the job from another
// machine: in lines of its output, which may get prefixes on their way, pass a
// console's filters and be cut where they are long.

// Lines of bounded length. Pure, as the other.
std::string OutcomeLines(const std::string& text);

struct ReadOutcome {
  std::optional<std::string> text;  // nullopt: it is not there, or not whole
  std::string rest;                 // the lines that are something else
};
ReadOutcome ReadOutcomeLines(const std::string& output);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_OUTCOME_LINES_H_
