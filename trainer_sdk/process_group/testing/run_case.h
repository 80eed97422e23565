#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_RUN_CASE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_RUN_CASE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/testing/collective_case.h"
#include "trainer_sdk/process_group/testing/conformance_subject.h"
#include "trainer_sdk/process_group/testing/prepared_operation.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// One rank of a group under test. Ranks share nothing but the transport, so
// they may be threads or processes.
struct RankUnderTest {
  Transport* transport = nullptr;
  ConformanceMemory* memory = nullptr;
  int rank = 0;
  int size = 1;
  uint64_t sequence = 0;  // number of the last collective
};

// Performs `test` and checks it (PreparedOperation::Judge).
absl::Status RunCase(const CollectiveCase& test, RankUnderTest& rank);

// The same for one message and for a batch.
absl::Status RunMessage(const MessageCase& test, RankUnderTest& rank);
absl::Status RunBatch(const std::vector<MessageCase>& messages,
                      RankUnderTest& rank);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_RUN_CASE_H_
