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

// How long a test waits for something that must happen. Long, since a loaded
// machine is not a failure; no test waits for it in vain when all is well.
inline constexpr std::chrono::seconds kPatience{60};

// A real program under test: its standard output and error are read as they
// come, and every wait is for an event. Ends the program when it goes.
class Subprocess {
 public:
  // `environment` is added to this process's own.
  explicit Subprocess(std::vector<std::string> argv,
                      std::map<std::string, std::string> environment = {});
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) const;

  // Waits until `text` has been printed `times` times, in whole lines. False if
  // it has not within kPatience or if the program ended without it.
  bool Printed(const std::string& text, int times = 1);

  // The lines that hold `text` so far, in order.
  std::vector<std::string> Lines(const std::string& text);

  // Everything printed so far.
  std::string Output();

  // The exit code, or 128 + signal; nothing if it runs on after kPatience.
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

// Waits until process `pid` is gone or a zombie; false after kPatience.
bool IsGone(pid_t pid);

// The value of `key=value` in a line of words, or "".
std::string Field(const std::string& line, const std::string& key);

}  // namespace muster

#endif  // MUSTER_TESTS_INTEGRATION_HARNESS_SUBPROCESS_H_
