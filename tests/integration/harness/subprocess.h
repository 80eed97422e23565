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

// Time that a test waits for an event that must happen. It is long, so that a
// test does not fail on a loaded machine; a passing test never waits this long.
inline constexpr std::chrono::seconds kEventTimeout{60};

// Runs a real program under test. Reads its stdout and stderr as they arrive,
// and waits for events, never for a fixed time. The destructor ends the
// program.
class Subprocess {
 public:
  // `environment`: variables that are added to this process's environment.
  explicit Subprocess(std::vector<std::string> argv,
                      std::map<std::string, std::string> environment = {});
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) const;

  // Waits until `text` has been printed `times` times, in whole lines. Returns
  // false after kEventTimeout, or if the program ends before.
  bool Printed(const std::string& text, int times = 1);

  // The lines printed so far that contain `text`, in order.
  std::vector<std::string> Lines(const std::string& text);

  // All output so far.
  std::string Output();

  // Waits until the program ends. Returns its exit code, or 128 + the number of
  // the signal that killed it; nullopt after kEventTimeout.
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

// Waits until process `pid` does not exist or is a zombie. Returns false after
// kEventTimeout.
bool IsGone(pid_t pid);

// Returns VALUE from the word KEY=VALUE in `line`, whose words are separated by
// spaces; "" if no word begins with KEY=.
std::string Field(const std::string& line, const std::string& key);

}  // namespace muster

#endif  // MUSTER_TESTS_INTEGRATION_HARNESS_SUBPROCESS_H_
