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
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// One rank's part in an operation, with its buffers. This class only prepares
// the operation; other code performs it later.
class PreparedOperation {
 public:
  virtual ~PreparedOperation() = default;

  // The operation. Its buffers belong to this object, so this object must exist
  // until the operation is completed.
  virtual const Operation& operation() const = 0;

  // Checks the finished operation: its status, `ended`, is OK; this rank's
  // output is correct; its input is unchanged unless in place; the bytes around
  // both buffers are untouched. The error names the operation and the rank.
  absl::Status CheckResult(const absl::Status& ended) const;

 protected:
  // `what`: the operation's name in error messages.
  explicit PreparedOperation(std::string what);

 private:
  virtual absl::Status CheckBuffers() const = 0;

  const std::string what_;
};

// One message of `count` elements from rank `from` to rank `to`. The other
// ranks of the group take no part.
struct MessageCase {
  int from = 0;
  int to = 0;
  int tag = 0;
  int64_t count = 0;
  DType dtype = DType::kFloat32;
  uint64_t seed = 0;
};

// The rank for which an operation is prepared, and the size of its group.
// `sequence`: the number of the last collective that the rank called.
struct PreparedPlace {
  ConformanceMemory& memory;
  int rank = 0;
  int size = 1;
  uint64_t sequence = 0;
};

std::unique_ptr<PreparedOperation> PrepareCase(const CollectiveCase& test,
                                               const PreparedPlace& place);

// Prepares this rank's part of a message; null if this rank is neither the
// sender nor the receiver.
std::unique_ptr<PreparedOperation> PrepareMessage(const MessageCase& test,
                                                  const PreparedPlace& place);

// Prepares a batch with the elements of `messages` that this rank sends or
// receives.
std::unique_ptr<PreparedOperation> PrepareBatch(
    const std::vector<MessageCase>& messages, const PreparedPlace& place);

// One rank of a group under test. Ranks share nothing but the transport, so
// they may be threads or processes.
struct RankUnderTest {
  Transport* transport = nullptr;
  ConformanceMemory* memory = nullptr;
  int rank = 0;
  int size = 1;
  uint64_t sequence = 0;  // number of this rank's last collective
};

// Performs the collective `test` and checks the result
// (PreparedOperation::CheckResult).
absl::Status RunCase(const CollectiveCase& test, RankUnderTest& rank);

// Performs one message (RunMessage) or one batch (RunBatch), and checks the
// result.
absl::Status RunMessage(const MessageCase& test, RankUnderTest& rank);
absl::Status RunBatch(const std::vector<MessageCase>& messages,
                      RankUnderTest& rank);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_PREPARED_OPERATION_H_
