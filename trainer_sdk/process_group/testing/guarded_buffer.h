#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_GUARDED_BUFFER_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_GUARDED_BUFFER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/dtype.h"
#include "trainer_sdk/process_group/testing/conformance_subject.h"

namespace muster {

// Elements in a subject's memory, between two guard borders that must not be
// overwritten.
class GuardedBuffer {
 public:
  // The elements are filled with a pattern that no test value has.
  GuardedBuffer(ConformanceMemory& memory, DType dtype, int64_t length);

  void* at(int64_t element) const;
  void Write(int64_t begin, const std::vector<double>& values);

  // Returns Internal with the element's index if an element differs from
  // `expected` by more than `tolerance`.
  absl::Status Expect(int64_t begin, const std::vector<double>& expected,
                      double tolerance) const;
  // Returns Internal if a border was overwritten.
  absl::Status ExpectBorders() const;

 private:
  ConformanceMemory& memory_;
  const DType dtype_;
  const int64_t bytes_;
  const std::shared_ptr<void> block_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_GUARDED_BUFFER_H_
