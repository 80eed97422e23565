#include "trainer_sdk/process_group/testing/conformance_subject.h"

#include <cstdlib>
#include <cstring>

namespace muster {

std::shared_ptr<void> ConformanceMemory::Allocate(int64_t bytes) {
  return std::shared_ptr<void>(std::malloc(static_cast<size_t>(bytes)),
                               std::free);
}

void ConformanceMemory::Write(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

void ConformanceMemory::Read(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

ConformanceSubject AtGrid(ConformanceSubject subject, const char* grid) {
  if (grid == nullptr || std::strcmp(grid, "whole") != 0) return subject;
  const ConformanceSubject all;
  subject.sizes = all.sizes;
  subject.every_nth = 1;
  subject.longest_every_nth = 1;
  subject.share = 0;
  subject.shares = 1;
  return subject;
}

}  // namespace muster
