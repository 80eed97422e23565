#include "agent/guardian/bind_process.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>

namespace muster::agent {

int BindToCpus(const std::vector<int>& cpus) {
  // The set has room for the last, and greatest, CPU number.
  const size_t count = static_cast<size_t>(cpus.back()) + 1;
  const size_t bytes = CPU_ALLOC_SIZE(count);
  cpu_set_t* set = CPU_ALLOC(count);
  if (set == nullptr) return ENOMEM;
  CPU_ZERO_S(bytes, set);
  for (const int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), bytes, set);
  const int error = sched_setaffinity(0, bytes, set) == 0 ? 0 : errno;
  CPU_FREE(set);
  return error;
}

void PreferMemoryOf(int numa_node) {
#ifdef SYS_set_mempolicy
  // MPOL_PREFERRED of the kernel's mempolicy.h; the C library has no wrapper.
  constexpr int kPreferred = 1;
  constexpr size_t kBits = sizeof(unsigned long) * CHAR_BIT;
  const size_t node = static_cast<size_t>(numa_node);
  std::vector<unsigned long> mask(node / kBits + 1);
  mask[node / kBits] = 1ul << (node % kBits);
  // The kernel reads one bit less than this argument says.
  syscall(SYS_set_mempolicy, kPreferred, mask.data(), mask.size() * kBits + 1);
#endif
}

}  // namespace muster::agent
