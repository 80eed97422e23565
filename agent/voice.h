#ifndef MUSTER_AGENT_VOICE_H_
#define MUSTER_AGENT_VOICE_H_

#include <string>

#include "absl/status/status.h"

namespace muster {

// Whether a program tells what goes on, or only what went wrong.
enum class Talk { kAll, kErrorsOnly };

// What a program says to a person: lines on stderr that begin with its name.
// Each is one write, so that lines of several processes do not mix.
// Thread-safe.
class Voice {
 public:
  // `program`: "launch", "agent"; a literal. `verdict_fd`: where a job's
  // verdict goes.
  Voice(const char* program, Talk talk, int verdict_fd = 2)
      : program_(program), talk_(talk), verdict_fd_(verdict_fd) {}

  // Something that went as it should.
  void Notice(const std::string& line) const;

  // Something that did not.
  void Error(const std::string& line) const;

  // Says why nothing was started. The exit code for it: 2 for
  // InvalidArgument (with a hint at --help), 127 for NotFound, 126 for
  // PermissionDenied, as a shell has them; else 1.
  int Refuse(const absl::Status& error) const;

  Talk talk() const { return talk_; }
  int verdict_fd() const { return verdict_fd_; }

 private:
  const char* const program_;
  const Talk talk_;
  const int verdict_fd_;
};

}  // namespace muster

#endif  // MUSTER_AGENT_VOICE_H_
