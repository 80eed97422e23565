#ifndef MUSTER_BASE_EXEC_POINTERS_H_
#define MUSTER_BASE_EXEC_POINTERS_H_

#include <string>
#include <vector>

namespace muster {

// Returns argv or envp for exec and posix_spawn: a pointer to each word, then a
// null pointer. The result refers to `words`, which exec does not change.
// Allocates, so a process with threads must call it before fork.
inline std::vector<char*> ExecPointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace muster

#endif  // MUSTER_BASE_EXEC_POINTERS_H_
