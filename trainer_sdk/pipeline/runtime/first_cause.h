#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_FIRST_CAUSE_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_FIRST_CAUSE_H_

#include <cstddef>
#include <string>
#include <string_view>

// When a pipeline breaks, each rank passes the error on to its neighbours, and
// each transport on the way adds text. The functions of this file extract the
// original cause, so that every rank reports the same text. Pure.

namespace muster {

// The mark that BrokenBecause puts before the original cause.
inline constexpr std::string_view kPipelineBroke = "the pipeline broke: ";

// Returns the original cause of a failure: the part of `message` after the last
// mark that BrokenBecause made. If there is no mark, returns all of `message`.
inline std::string FirstCause(std::string_view message) {
  const size_t at = message.rfind(kPipelineBroke);
  return std::string(at == std::string_view::npos
                         ? message
                         : message.substr(at + kPipelineBroke.size()));
}

// Returns the text that a rank sends to its neighbours when it stops with the
// error `message`. The text is a mark, followed by the original cause
// (FirstCause of `message`).
inline std::string BrokenBecause(std::string_view message) {
  return std::string(kPipelineBroke).append(FirstCause(message));
}

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_FIRST_CAUSE_H_
