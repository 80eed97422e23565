#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_PREPARED_OPERATION_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_PREPARED_OPERATION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/testing/collective_case.h"
#include "trainer_sdk/process_group/testing/conformance_subject.h"

namespace muster {

// One rank's part in an operation, with its buffers: whoever performs it, and
// when, may be another.
class PreparedOperation {
 public:
  virtual ~PreparedOperation() = default;

  // Its buffers are this object's: it must outlive the operation.
  virtual const Operation& operation() const = 0;

  // Of an operation that has ended with `ended`: whether that was well and it
  // did what it must. Judges this rank's output, its input (which must be as it
  // was, unless in place) and the bytes beside both. The error says which
  // operation and rank.
  absl::Status Judge(const absl::Status& ended) const;

 protected:
  // `what` for errors.
  explicit PreparedOperation(std::string what);

 private:
  virtual absl::Status JudgeBuffers() const = 0;

  const std::string what_;
};

// One message of `count` elements from rank `from` to rank `to`; of the other
// ranks nothing is asked.
struct MessageCase {
  int from = 0;
  int to = 0;
  int tag = 0;
  int64_t count = 0;
  DType dtype = DType::kFloat32;
  uint64_t seed = 0;
};

// Where it is prepared for; `sequence` is the number of the last collective.
struct PreparedPlace {
  ConformanceMemory& memory;
  int rank = 0;
  int size = 1;
  uint64_t sequence = 0;
};

std::unique_ptr<PreparedOperation> PrepareCase(const CollectiveCase& test,
                                               const PreparedPlace& place);

// Null for a rank that the message does not concern.
std::unique_ptr<PreparedOperation> PrepareMessage(const MessageCase& test,
                                                  const PreparedPlace& place);

// All of `messages` that concern this rank in one batch.
std::unique_ptr<PreparedOperation> PrepareBatch(
    const std::vector<MessageCase>& messages, const PreparedPlace& place);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_PREPARED_OPERATION_H_
