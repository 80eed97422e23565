#ifndef MUSTER_AGENT_LOGS_CONSOLE_FD_H_
#define MUSTER_AGENT_LOGS_CONSOLE_FD_H_

namespace muster::agent {

// A descriptor of its own on what `fd` is open on; -1 where `fd` is closed.
//
// Pipes and terminals are opened anew, non-blocking: O_NONBLOCK belongs to the
// open file description, so setting it on `fd` itself would also change it for
// the shell and every other program that has it. What cannot be opened anew
// (sockets, a terminal of another user) is duplicated and may block.
int OpenConsoleCopy(int fd);

// Whether both are open on the same file, pipe or terminal.
bool IsSameConsole(int fd, int other);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_CONSOLE_FD_H_
