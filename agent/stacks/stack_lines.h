#ifndef MUSTER_AGENT_STACKS_STACK_LINES_H_
#define MUSTER_AGENT_STACKS_STACK_LINES_H_

#include <string>
#include <vector>

namespace muster::agent {

// The stacks of one process, as each tool printed them; empty where a tool
// found nothing.
struct StackTexts {
  std::string python;         // py-spy's dump
  std::string native;         // gdb's backtraces
  std::string kernel;         // the result of KernelStacks
  std::string why_no_python;  // one line, for a Python process without `python`
};

// All stacks with headings, for a file.
std::string WholeText(const StackTexts& texts);

// The most informative lines, for a Failure: frames of the first thread,
// innermost first, from Python, else native code, else the kernel's
// description. At most kMaxStackLines lines of kMaxLineBytes, printable. Empty
// if nothing was found. Pure.
std::vector<std::string> MostInformativeLines(const StackTexts& texts);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STACKS_STACK_LINES_H_
