#ifndef MUSTER_BASE_SECRETS_H_
#define MUSTER_BASE_SECRETS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// Whether `given` equals `expected`. The time depends only on the length of
// `given`, so that an attacker cannot guess a secret piece by piece.
inline bool IsSameSecret(std::string_view given, std::string_view expected) {
  unsigned difference = given.size() == expected.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const char other = expected.empty() ? 0 : expected[i % expected.size()];
    // `step` is volatile, so that the compiler cannot end the loop at the first
    // difference.
    volatile unsigned step = static_cast<unsigned char>(given[i] ^ other);
    difference |= step;
  }
  return difference == 0;
}

// The functions below hide a secret of this process from other processes of the
// same user, such as the workers that it starts. (Root can read everything.)

// Removes the environment variable `name` and returns its value; nullopt: the
// variable is not set. Overwrites the value in memory, too: even after
// unsetenv(3), /proc/PID/environ shows the memory in which execve(2) has put
// the environment. Must be called while the process has one thread.
std::optional<std::string> TakeSecretVariable(const char* name);

// Keeps other processes of the same user from reading this process's memory,
// environment and descriptors through /proc and from attaching a debugger.
// Processes that this process forks are hidden as well until they execute a
// program. This process leaves no core dump from now on.
void HideFromOtherProcesses();

}  // namespace muster

#endif  // MUSTER_BASE_SECRETS_H_
