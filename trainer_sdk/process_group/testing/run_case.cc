#include "trainer_sdk/process_group/testing/run_case.h"

#include <chrono>
#include <memory>

#include "base/monotonic_clock.h"

namespace muster {
namespace {

// Much longer than any operation takes, so only a broken transport reaches it.
constexpr auto kPatience = std::chrono::seconds(30);

PreparedPlace PlaceOf(const RankUnderTest& rank) {
  return {*rank.memory, rank.rank, rank.size, rank.sequence};
}

absl::Status Perform(const PreparedOperation& prepared,
                     const RankUnderTest& rank) {
  OperationContext context;
  context.sequence = rank.sequence;
  context.deadline = MonotonicNow() + kPatience;
  return prepared.Judge(rank.transport->Execute(prepared.operation(), context));
}

}  // namespace

absl::Status RunCase(const CollectiveCase& test, RankUnderTest& rank) {
  rank.sequence++;
  return Perform(*PrepareCase(test, PlaceOf(rank)), rank);
}

absl::Status RunMessage(const MessageCase& test, RankUnderTest& rank) {
  const auto prepared = PrepareMessage(test, PlaceOf(rank));
  return prepared == nullptr ? absl::OkStatus() : Perform(*prepared, rank);
}

absl::Status RunBatch(const std::vector<MessageCase>& messages,
                      RankUnderTest& rank) {
  return Perform(*PrepareBatch(messages, PlaceOf(rank)), rank);
}

}  // namespace muster
