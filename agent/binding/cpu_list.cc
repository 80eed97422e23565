#include "agent/binding/cpu_list.h"

#include <sched.h>

#include <cerrno>
#include <cstddef>

namespace muster::agent {

std::string CpuList(const std::vector<int>& numbers) {
  std::string text;
  size_t i = 0;
  while (i < numbers.size()) {
    size_t last = i;
    while (last + 1 < numbers.size() &&
           numbers[last + 1] == numbers[last] + 1) {
      ++last;
    }
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[i]);
    if (last > i) text += '-' + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

std::vector<int> AllowedCpus() {
  std::vector<int> allowed;
  // Retries with a larger set, because a machine may have more than CPU_SETSIZE
  // CPUs.
  for (int size = CPU_SETSIZE; size <= 1 << 16; size *= 2) {
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(size));
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(size));
    if (set == nullptr) break;
    const bool read = sched_getaffinity(0, bytes, set) == 0;
    const bool too_small = !read && errno == EINVAL;
    for (int cpu = 0; read && cpu < size; ++cpu) {
      if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set)) {
        allowed.push_back(cpu);
      }
    }
    CPU_FREE(set);
    if (!too_small) break;
  }
  return allowed;
}

}  // namespace muster::agent
