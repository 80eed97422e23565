#ifndef MUSTER_BASE_EXEC_POINTERS_H_
#define MUSTER_BASE_EXEC_POINTERS_H_

#include <string>
#include <vector>

namespace muster {

// argv or envp for exec and posix_spawn: a pointer to each word, and a null at
// the end. Points into `words`, which exec does not change. Allocates, so in a
// process with threads it is made before fork.
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
