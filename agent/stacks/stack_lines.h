#ifndef MUSTER_AGENT_STACKS_STACK_LINES_H_
#define MUSTER_AGENT_STACKS_STACK_LINES_H_

#include <string>
#include <vector>

namespace muster::agent {

// What was found of one process, each as its source printed it; empty where
// there was none.
struct StackTexts {
  std::string python;         // py-spy's dump
  std::string native;         // gdb's backtraces
  std::string kernel;         // KernelStacks
  std::string why_no_python;  // of a Python process without `python`: one line
};

// All of it, under headings, for a file.
std::string WholeText(const StackTexts& texts);

// What tells most where the process is, for a Failure: the first thread's
// frames, innermost first, of Python, then of native code, then the kernel's
// word for it. At most kMaxStackLines lines of kMaxLineBytes, printable.
// Empty if nothing was found. Pure.
std::vector<std::string> TellingLines(const StackTexts& texts);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STACKS_STACK_LINES_H_
