#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_RUN_CASE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_RUN_CASE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/testing/collective_case.h"
#include "trainer_sdk/process_group/testing/conformance_subject.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// One rank of a group under test: what it does needs nothing of the other
// ranks but that they do the same, so ranks may be threads or processes.
struct RankUnderTest {
  Transport* transport = nullptr;
  ConformanceMemory* memory = nullptr;
  int rank = 0;
  int size = 1;
  uint64_t sequence = 0;  // of the last collective
};

// Performs `test` and judges this rank's output, its input (which must be as
// it was, unless in place) and the bytes beside both. The error says which
// case and rank.
absl::Status RunCase(const CollectiveCase& test, RankUnderTest& rank);

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
absl::Status RunMessage(const MessageCase& test, RankUnderTest& rank);

// All of `messages` that concern this rank in one batch.
absl::Status RunBatch(const std::vector<MessageCase>& messages,
                      RankUnderTest& rank);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_RUN_CASE_H_
