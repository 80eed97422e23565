#ifndef MUSTER_BASE_PROCESS_SECRETS_H_
#define MUSTER_BASE_PROCESS_SECRETS_H_

#include <optional>
#include <string>

namespace muster {

// Functions by which a process hides a secret from other processes of the same
// user, such as the workers that it starts. (Root can read everything.)

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

#endif  // MUSTER_BASE_PROCESS_SECRETS_H_
