#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_GUARDED_BUFFER_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_GUARDED_BUFFER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/dtype.h"
#include "trainer_sdk/process_group/testing/conformance_subject.h"

namespace muster {

// Elements in a subject's memory, with a border on both sides that nobody may
// write.
class GuardedBuffer {
 public:
  // Filled with a pattern that is no test value.
  GuardedBuffer(ConformanceMemory& memory, DType dtype, int64_t length);

  void* at(int64_t element) const;
  void Write(int64_t begin, const std::vector<double>& values);

  // Internal, saying which element: one is further from `expected` than
  // `tolerance`.
  absl::Status Expect(int64_t begin, const std::vector<double>& expected,
                      double tolerance) const;
  // Internal: somebody wrote beside the buffer.
  absl::Status ExpectBorders() const;

 private:
  ConformanceMemory& memory_;
  const DType dtype_;
  const int64_t bytes_;
  const std::shared_ptr<void> block_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_GUARDED_BUFFER_H_
