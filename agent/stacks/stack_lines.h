#ifndef MUSTER_AGENT_STACKS_STACK_LINES_H_
#define MUSTER_AGENT_STACKS_STACK_LINES_H_

#include <string>
#include <vector>

namespace muster::agent {

// The stacks of one process, one text from each source (py-spy, gdb, /proc). A
// text is empty if its source gave no stack.
struct StackTexts {
  std::string python;  // Python frames printed by `py-spy dump`
  std::string native;  // backtraces printed by gdb
  std::string kernel;  // description of the threads from /proc (KernelStacks)
  // one line that says why a Python process has no Python stack here
  std::string why_no_python;
};

// Returns all stacks with headings, as the text of a file.
std::string WholeText(const StackTexts& texts);

// The most informative lines, for a Failure. They show the main thread: its
// Python frames, its native frames (both innermost first) and its description
// by the kernel. If there are no frames, the kernel's descriptions of all
// threads are shown. At most kMaxStackLines lines of kMaxLineBytes, printable.
// Empty if no stack was found. Pure.
std::vector<std::string> MostInformativeLines(const StackTexts& texts);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STACKS_STACK_LINES_H_
