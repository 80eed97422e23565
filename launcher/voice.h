#ifndef MUSTER_LAUNCHER_VOICE_H_
#define MUSTER_LAUNCHER_VOICE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "agent/logs/console.h"

namespace muster::launcher {

// The messages that are printed. kAll: notices and errors. kErrorsOnly: errors
// only.
enum class Talk { kAll, kErrorsOnly };

// Prints a program's messages for people: lines on stderr that begin with the
// program's name. Each line is one write, so that lines of several processes do
// not mix. After SpeakThrough, lines go into the queue of a console instead.
// With a console, printing never blocks, and each message begins at the start
// of a line. Copies share the console. Control characters in names from outside
// are escaped (ForTerminal). Thread-safe.
class Voice {
 public:
  // `program`: "launch" or "agent"; must outlive this object. `verdict_fd`:
  // descriptor for a job's verdict.
  Voice(const char* program, Talk talk, int verdict_fd = 2);

  // Sends all later messages to the stderr of `console`, whose threads write
  // them.
  void SpeakThrough(std::shared_ptr<agent::Console> console) const;

  // Prints a notice, unless the constructor got Talk::kErrorsOnly.
  void Notice(const std::string& line) const;

  // Prints an error message.
  void Error(const std::string& line) const;

  // Prints a job's verdict to verdict_fd.
  void Verdict(const std::string& text) const;

  // Prints the reason why the program or the job was not started. Returns the
  // exit code that shells use: 2 for InvalidArgument (with a hint at the --help
  // of the program, or of its `subcommand`), 127 for NotFound, 126 for
  // PermissionDenied, else 1.
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

// Whether a call of Print has failed. A reader that has closed its end of the
// pipe does not count as a failure. Thread-safe.
bool OutputWasLost();

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_VOICE_H_
