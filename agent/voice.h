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
  // `program`: "launch", "agent"; a literal.
  Voice(const char* program, Talk talk) : program_(program), talk_(talk) {}

  // Something that went as it should.
  void Notice(const std::string& line) const;

  // Something that did not.
  void Error(const std::string& line) const;

  // Says why nothing was started. The exit code for it: 2 for
  // InvalidArgument (with a hint at --help), 127 for NotFound, 126 for
  // PermissionDenied, as a shell has them; else 1.
  int Refuse(const absl::Status& error) const;

  Talk talk() const { return talk_; }

 private:
  const char* const program_;
  const Talk talk_;
};

}  // namespace muster

#endif  // MUSTER_AGENT_VOICE_H_
