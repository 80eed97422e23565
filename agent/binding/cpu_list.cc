#include "agent/binding/cpu_list.h"

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

}  // namespace muster::agent
