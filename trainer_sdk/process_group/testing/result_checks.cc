// Checks of the conformance suite for the results of successful operations.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/element.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/collective_case.h"
#include "trainer_sdk/process_group/testing/conformance_checks.h"
#include "trainer_sdk/process_group/testing/element_values.h"
#include "trainer_sdk/process_group/testing/prepared_operation.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"

namespace muster {
namespace {

constexpr auto kOperationTimeout = std::chrono::seconds(30);

// Runs `body` on every rank of a new group. A rank that fails aborts its
// transport, so that the other ranks do not wait for that rank.
template <typename Body>
absl::Status InGroup(const ConformanceSubject& subject, int size, Body body) {
  auto transports = MakeTransports(subject.factory, size, "conformance");
  if (!transports.ok()) return transports.status();
  return FirstFailure(RunRanks(size, [&](int rank) {
    RankUnderTest under_test;
    under_test.transport = (*transports)[rank].get();
    under_test.memory = subject.memory.get();
    under_test.rank = rank;
    under_test.size = size;
    const absl::Status status = body(under_test);
    if (!status.ok()) {
      under_test.transport->Abort(
          absl::StrCat("rank ", rank,
                       " of the test failed: ", std::string(status.message())));
    }
    return status;
  }));
}

absl::Status Internal(const std::string& what) {
  return absl::InternalError(what);
}

MessageCase RingMessage(int from, int size, int64_t count, DType dtype) {
  MessageCase message;
  message.from = from;
  message.to = (from + 1) % size;
  message.count = count;
  message.dtype = dtype;
  message.seed = static_cast<uint64_t>(from);
  return message;
}

absl::Status RingOfMessages(RankUnderTest& rank) {
  for (int d = 0; d < kDTypes; d++) {
    for (const int64_t count : {0, 1, 7, 1025, 20011}) {
      const auto dtype = static_cast<DType>(d);
      // A message goes around the ring: rank 0 sends first, and every other
      // rank sends after it has received.
      for (int from = 0; from < rank.size; from++) {
        const absl::Status status =
            RunMessage(RingMessage(from, rank.size, count, dtype), rank);
        if (!status.ok()) return status;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Batches(RankUnderTest& rank, ConformanceSubject::Tags tags) {
  absl::Status status = RunBatch({}, rank);
  if (!status.ok()) return status;
  for (const int64_t count : {0, 1, 1025, 100003}) {
    std::vector<MessageCase> messages;
    for (int from = 0; from < rank.size; from++) {
      // Every rank sends one message to each of its two neighbours before it
      // receives. In a group of two ranks, both messages go to the same rank.
      MessageCase message =
          RingMessage(from, rank.size, count, DType::kFloat32);
      messages.push_back(message);
      std::swap(message.from, message.to);
      message.seed += 100;
      message.tag = 1;
      messages.push_back(message);
    }
    status = RunBatch(messages, rank);
    if (!status.ok()) return status;
  }
  if (tags == ConformanceSubject::Tags::kInOrder) return absl::OkStatus();
  // Rank 0 sends three messages with the tags 0, 1 and 2, and the receiver
  // posts its receives with the tags 2, 1 and 0. So each message must be
  // matched by its tag.
  std::vector<MessageCase> messages;
  for (int tag = 0; tag < 3; tag++) {
    MessageCase message = RingMessage(0, rank.size, 11, DType::kInt32);
    message.tag = rank.rank == message.to ? 2 - tag : tag;
    message.seed = static_cast<uint64_t>(1000 + message.tag);
    messages.push_back(message);
  }
  return RunBatch(messages, rank);
}

}  // namespace

absl::Status CheckCollectives(const ConformanceSubject& subject, int size) {
  const auto at = std::find(subject.sizes.begin(), subject.sizes.end(), size);
  if (at == subject.sizes.end()) return Internal("not one of the sizes");
  const std::vector<CollectiveCase> cases =
      CasesOfSize({.sizes = subject.sizes,
                   .every_nth = subject.every_nth,
                   .share = subject.share,
                   .shares = subject.shares,
                   .longest_every_nth = subject.longest_every_nth},
                  static_cast<size_t>(at - subject.sizes.begin()));
  return InGroup(subject, size, [&](RankUnderTest& rank) {
    for (const CollectiveCase& test : cases) {
      const absl::Status status = RunCase(test, rank);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

absl::Status CheckEqualBits(const ConformanceSubject& subject, int size) {
  constexpr int64_t kCount = 5003;
  std::vector<std::vector<float>> inputs(size), outputs(size);
  for (int rank = 0; rank < size; rank++) {
    std::minstd_rand random(rank + 1);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < kCount; i++) {
      inputs[rank].push_back(std::ldexp(normal(random), random() % 20));
    }
    outputs[rank].resize(kCount);
  }
  constexpr int64_t kBytes = kCount * static_cast<int64_t>(sizeof(float));
  const absl::Status ran = InGroup(subject, size, [&](RankUnderTest& rank) {
    const std::shared_ptr<void> memory = rank.memory->Allocate(kBytes);
    rank.memory->Write(memory.get(), inputs[rank.rank].data(), kBytes);
    OperationContext context;
    context.sequence = ++rank.sequence;
    context.deadline = MonotonicNow() + kOperationTimeout;
    const absl::Status status = rank.transport->Execute(
        AllReduce(memory.get(), memory.get(), kCount, DType::kFloat32),
        context);
    rank.memory->Read(outputs[rank.rank].data(), memory.get(), kBytes);
    return status;
  });
  if (!ran.ok()) return ran;
  for (int64_t i = 0; i < kCount; i++) {
    double sum = 0, magnitude = 0;
    for (int rank = 0; rank < size; rank++) {
      sum += inputs[rank][i];
      magnitude += std::fabs(inputs[rank][i]);
      if (std::memcmp(&outputs[0][i], &outputs[rank][i], sizeof(float)) != 0) {
        return Internal(absl::StrCat("element ", i, " of an all_reduce is ",
                                     outputs[0][i], " on rank 0 and ",
                                     outputs[rank][i], " on rank ", rank));
      }
    }
    if (!(std::fabs(outputs[0][i] - sum) <=
          magnitude * size * EpsilonOf(DType::kFloat32))) {
      return Internal(absl::StrCat("element ", i, " of an all_reduce is ",
                                   outputs[0][i], ", not ", sum));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPointToPoint(const ConformanceSubject& subject, int size) {
  if (size == 1) return absl::OkStatus();
  return InGroup(subject, size, [&](RankUnderTest& rank) {
    const absl::Status status = RingOfMessages(rank);
    return status.ok() ? Batches(rank, subject.tags) : status;
  });
}

absl::Status CheckMemory(const ConformanceSubject& subject, int size) {
  return InGroup(subject, size, [&](RankUnderTest& rank) -> absl::Status {
    for (const int64_t count : {1, 1025, 300001}) {
      OperationContext context;
      context.sequence = ++rank.sequence;
      context.deadline = MonotonicNow() + kOperationTimeout;
      const int64_t bytes = count * static_cast<int64_t>(sizeof(float));
      auto memory = rank.transport->Allocate(bytes, context);
      if (absl::IsUnimplemented(memory.status())) return absl::OkStatus();
      if (!memory.ok()) return memory.status();
      if ((*memory)->bytes() < bytes) return Internal("less than asked for");
      const std::vector<float> given(count, static_cast<float>(rank.rank + 1));
      rank.memory->Write((*memory)->data(), given.data(), bytes);
      context.sequence = ++rank.sequence;
      const absl::Status status = rank.transport->Execute(
          AllReduce((*memory)->data(), (*memory)->data(), count,
                    DType::kFloat32),
          context);
      if (!status.ok()) return status;
      std::vector<float> found(count);
      rank.memory->Read(found.data(), (*memory)->data(), bytes);
      const float sum = static_cast<float>(rank.size * (rank.size + 1) / 2);
      for (const float element : found) {
        if (element != sum) {
          return Internal(absl::StrCat("in memory of the transport: ", element,
                                       ", not ", sum));
        }
      }
    }
    // Operations must still work after memory from Transport::Allocate was
    // freed.
    CollectiveCase test;
    test.count = 1025;
    return RunCase(test, rank);
  });
}

}  // namespace muster
