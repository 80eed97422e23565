#ifndef MUSTER_TESTS_INTEGRATION_HARNESS_SUBPROCESS_H_
#define MUSTER_TESTS_INTEGRATION_HARNESS_SUBPROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace muster {

// The time that a test waits for an event that must happen. Long, because a
// loaded machine is not a failure; a passing test never waits this long.
inline constexpr std::chrono::seconds kEventTimeout{60};

// A real program under test. Its stdout and stderr are read as they arrive, and
// every wait is for an event. The destructor ends the program.
class Subprocess {
 public:
  // `environment` is added to this process's environment.
  explicit Subprocess(std::vector<std::string> argv,
                      std::map<std::string, std::string> environment = {});
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) const;

  // Waits until `text` has been printed `times` times, in whole lines. Returns
  // false after kEventTimeout, or if the program has ended without it.
  bool Printed(const std::string& text, int times = 1);

  // The lines so far that contain `text`, in order.
  std::vector<std::string> Lines(const std::string& text);

  // All output so far.
  std::string Output();

  // Waits for the exit code, or 128 + signal; nullopt after kEventTimeout.
  std::optional<int> ExitCode();

 private:
  void Read(int fd);

  pid_t pid_ = -1;
  std::mutex mutex_;
  std::condition_variable grown_;
  std::string output_;
  bool closed_ = false;
  std::optional<int> exit_code_;
  std::thread reader_;
};

// Waits until process `pid` is gone or a zombie; returns false after
// kEventTimeout.
bool IsGone(pid_t pid);

// Returns the value of `key=value` in a line of words, or "".
std::string Field(const std::string& line, const std::string& key);

}  // namespace muster

#endif  // MUSTER_TESTS_INTEGRATION_HARNESS_SUBPROCESS_H_
