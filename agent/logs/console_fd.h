#ifndef MUSTER_AGENT_LOGS_CONSOLE_FD_H_
#define MUSTER_AGENT_LOGS_CONSOLE_FD_H_

namespace muster::agent {

// A new descriptor for the open file of `fd`; -1 if `fd` is closed.
//
// Pipes and terminals are opened again, non-blocking. O_NONBLOCK belongs to the
// open file description: on `fd` itself it would also affect the shell and
// every other program that shares it. Files that cannot be opened again
// (sockets, a terminal of another user) are duplicated and may block.
int OpenConsoleCopy(int fd);

// Whether both descriptors refer to the same file, pipe or terminal.
bool IsSameConsole(int fd, int other);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_CONSOLE_FD_H_
