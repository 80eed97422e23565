#ifndef MUSTER_LAUNCHER_VOICE_H_
#define MUSTER_LAUNCHER_VOICE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "agent/logs/console.h"

namespace muster::launcher {

// Whether a program tells what goes on, or only what went wrong.
enum class Talk { kAll, kErrorsOnly };

// What a program says to a person: lines on stderr that begin with its name.
// Each is one write, so that lines of several processes do not mix; or, once
// SpeakThrough has been called, takes its place in a console's queue, so that
// it waits for nobody and begins at the start of a line. Copies share that.
// Names that come from outside do nothing to the terminal (ForTerminal).
// Thread-safe.
class Voice {
 public:
  // `program`: "launch", "agent"; outlives this. `verdict_fd`: where a job's
  // verdict goes.
  Voice(const char* program, Talk talk, int verdict_fd = 2);

  // From now on lines go to the stderr of `console`, which has threads.
  void SpeakThrough(std::shared_ptr<agent::Console> console) const;

  // Something that went as it should.
  void Notice(const std::string& line) const;

  // Something that did not.
  void Error(const std::string& line) const;

  // A job's verdict, to verdict_fd.
  void Verdict(const std::string& text) const;

  // Says why nothing was started. The exit code for it: 2 for
  // InvalidArgument (with a hint at the --help of the program, or of its
  // `subcommand`), 127 for NotFound, 126 for PermissionDenied, as a shell has
  // them; else 1.
  int Refuse(const absl::Status& error,
             const std::string& subcommand = "") const;

  const char* program() const { return program_; }
  Talk talk() const { return talk_; }
  int verdict_fd() const { return verdict_fd_; }

 private:
  struct Outlet;

  void Write(const std::string& text) const;

  const char* const program_;
  const Talk talk_;
  const int verdict_fd_;
  const std::shared_ptr<Outlet> outlet_;
};

// Prints `text` on stdout. Returns `exit_code`, or 1 if the write failed.
int Print(const std::string& text, int exit_code = 0);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_VOICE_H_
