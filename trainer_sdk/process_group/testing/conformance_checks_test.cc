// Tests that the conformance suite accepts a correct transport and rejects
// defective ones.
#include "trainer_sdk/process_group/testing/conformance_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/monotonic_clock.h"
#include "base/time.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/testing/reference_transport.h"
#include "trainer_sdk/process_group/testing/transport_conformance.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

ConformanceSubject Reference() {
  ConformanceSubject subject;
  subject.name = "Reference";
  subject.factory = ReferenceTransports();
  subject.every_nth = 23;
  // Only about one in 23 of the cases with the longest buffers is tried. This
  // is enough: the reference transport has no staging buffers, so it treats
  // long data like short data.
  subject.longest_every_nth = 23;
  return subject;
}

INSTANTIATE_TEST_SUITE_P(Reference, TransportConformance,
                         testing::Values(Reference()));

TEST(ReferenceTransportTest, ARankThatEntersLastFindsItBroken) {
  const TransportFactory factory = ReferenceTransports();
  const auto store = std::make_shared<InProcessStore>();
  // Rank 0 never enters the group's room (the shared state of its ranks).
  // Instead of rank 0, this test makes the store calls with which rank 0
  // announces the room and its arrival.
  ASSERT_TRUE(store->Set("room", "late 0").ok());
  ASSERT_TRUE(store->Add("here", 1).ok());
  const auto enter = [&](int rank, Duration timeout) {
    GroupPlace place;
    place.rank = rank;
    place.size = 3;
    place.store = store;
    place.name = "late";
    return factory(std::move(place), MonotonicNow() + timeout);
  };
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(enter(1, std::chrono::seconds(0)).status()));
  const auto last = enter(2, std::chrono::seconds(10));
  ASSERT_TRUE(last.ok()) << last.status();
  OperationContext context;
  context.sequence = 1;
  context.deadline = MonotonicNow() + std::chrono::seconds(10);
  EXPECT_TRUE(absl::IsAborted((*last)->Execute(Barrier(), context)));
}

// A transport whose Execute is replaced by a function of the test, which plants
// a defect.
class Spoiled : public Transport {
 public:
  using Execution = std::function<absl::Status(
      Transport& right, const Operation&, const OperationContext&)>;

  Spoiled(std::unique_ptr<Transport> right, Execution execution)
      : right_(std::move(right)), execution_(std::move(execution)) {}

  const char* name() const override { return "spoiled"; }
  absl::Status Execute(const Operation& operation,
                       const OperationContext& context) override {
    return execution_(*right_, operation, context);
  }
  void Abort(const std::string& reason) override { right_->Abort(reason); }
  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, const OperationContext& context) override {
    return right_->Allocate(bytes, context);
  }

 private:
  const std::unique_ptr<Transport> right_;
  const Execution execution_;
};

// A conformance subject with the reference transport, in which ranks `first`
// and higher call `execution` instead of Transport::Execute.
ConformanceSubject With(const Spoiled::Execution& execution, int first = 1) {
  ConformanceSubject subject = Reference();
  subject.factory =
      [right = subject.factory, execution, first](
          GroupPlace place,
          Instant deadline) -> absl::StatusOr<std::unique_ptr<Transport>> {
    const int rank = place.rank;
    auto transport = right(std::move(place), deadline);
    if (!transport.ok() || rank < first) return transport;
    return std::make_unique<Spoiled>(*std::move(transport), execution);
  };
  return subject;
}

// A conformance subject with the reference transport, except that `spoil`
// changes the output of each successful operation.
ConformanceSubject Afterwards(
    const std::function<void(const Operation&)>& spoil) {
  return With([spoil](Transport& right, const Operation& operation,
                      const OperationContext& context) {
    absl::Status status = right.Execute(operation, context);
    if (status.ok()) spoil(operation);
    return status;
  });
}

void FlipBit(const Operation& operation) {
  *static_cast<unsigned char*>(operation.output) ^= 1;
}

absl::Status Every(ConformanceSubject subject) {
  // Run all cases, because perhaps only a few cases show the defect that the
  // test has planted in the transport.
  subject.every_nth = 1;
  return CheckCollectives(subject, 3);
}

TEST(ConformanceChecksTest, TheWholeGridLeavesNothingOfASubjectsShareOut) {
  ConformanceSubject subject = Reference();
  subject.sizes = {3, 5};
  subject.share = 1;
  subject.shares = 5;
  const ConformanceSubject same = AtGrid(subject, nullptr);
  EXPECT_EQ(same.sizes, subject.sizes);
  EXPECT_EQ(same.every_nth, 23);
  EXPECT_EQ(same.longest_every_nth, 23);
  EXPECT_EQ(same.share, 1);
  EXPECT_EQ(same.shares, 5);
  const ConformanceSubject whole = AtGrid(subject, "whole");
  EXPECT_THAT(whole.sizes, testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(whole.every_nth, 1);
  EXPECT_EQ(whole.longest_every_nth, 1);
  EXPECT_EQ(whole.share, 0);
  EXPECT_EQ(whole.shares, 1);
}

TEST(ConformanceChecksTest, SeeOneWrongBitOfAnyKind) {
  for (int k = 0; k < kOperationKinds; k++) {
    const auto kind = static_cast<OperationKind>(k);
    if (IsPointToPoint(kind) || kind == OperationKind::kBarrier) continue;
    EXPECT_FALSE(
        Every(With(
                  [kind](Transport& right, const Operation& operation,
                         const OperationContext& context) {
                    absl::Status status = right.Execute(operation, context);
                    if (operation.kind == kind && operation.output != nullptr &&
                        operation.count == 7) {
                      FlipBit(operation);
                    }
                    return status;
                  },
                  0))
            .ok())
        << Name(kind);
  }
}

TEST(ConformanceChecksTest, SeeAWriteBesideABuffer) {
  EXPECT_FALSE(
      Every(Afterwards([](const Operation& operation) {
        if (operation.kind != OperationKind::kAllReduce) return;
        static_cast<char*>(
            operation.output)[operation.count * SizeOf(operation.dtype)]++;
      })).ok());
}

TEST(ConformanceChecksTest, SeeAnInputThatIsChanged) {
  EXPECT_FALSE(Every(Afterwards([](const Operation& operation) {
                 if (operation.kind != OperationKind::kReduce ||
                     operation.count == 0) {
                   return;
                 }
                 (*static_cast<char*>(const_cast<void*>(operation.input)))++;
               })).ok());
}

TEST(ConformanceChecksTest, SeeAnAverageThatIsASum) {
  EXPECT_FALSE(Every(With(
                         [](Transport& right, const Operation& operation,
                            const OperationContext& context) {
                           Operation wrong = operation;
                           if (wrong.reduce_op == ReduceOp::kAvg) {
                             wrong.reduce_op = ReduceOp::kSum;
                           }
                           return right.Execute(wrong, context);
                         },
                         0))
                   .ok());
}

TEST(ConformanceChecksTest, SeeRanksWithOtherBits) {
  const auto last_bit = [](const Operation& operation) { FlipBit(operation); };
  EXPECT_FALSE(CheckEqualBits(Afterwards(last_bit), 2).ok());
}

TEST(ConformanceChecksTest, SeeALostMessage) {
  const auto lost = [](const Operation& operation) {
    if (operation.kind == OperationKind::kReceive && operation.count == 1) {
      FlipBit(operation);
    }
  };
  EXPECT_FALSE(CheckPointToPoint(Afterwards(lost), 2).ok());
}

TEST(ConformanceChecksTest, SeeSwappedMessagesOfABatch) {
  const auto swapped = [](Transport& right, const Operation& operation,
                          const OperationContext& context) {
    Operation wrong = operation;
    for (PointToPoint& message : wrong.messages) message.tag = 0;
    return right.Execute(wrong, context);
  };
  EXPECT_FALSE(CheckPointToPoint(With(swapped, 0), 2).ok());
}

TEST(ConformanceChecksTest, SeeGroupsThatMeet) {
  EXPECT_FALSE(CheckInterleavings(Afterwards([](const Operation& operation) {
                                    if (operation.count > 0 &&
                                        operation.output != nullptr) {
                                      FlipBit(operation);
                                    }
                                  }),
                                  3, 1)
                   .ok());
}

// CheckStartedOperations must reject a transport whose results are wrong on
// every thread except the thread that made the transport.
TEST(ConformanceChecksTest, SeeWhatIsWrongOnOtherThreadsThanTheMakers) {
  ConformanceSubject subject = Reference();
  subject.factory =
      [right = subject.factory](
          GroupPlace place,
          Instant deadline) -> absl::StatusOr<std::unique_ptr<Transport>> {
    auto transport = right(std::move(place), deadline);
    if (!transport.ok()) return transport;
    return std::make_unique<Spoiled>(
        *std::move(transport), [maker = std::this_thread::get_id()](
                                   Transport& given, const Operation& operation,
                                   const OperationContext& context) {
          absl::Status status = given.Execute(operation, context);
          if (status.ok() && std::this_thread::get_id() != maker &&
              operation.count > 0 && operation.output != nullptr) {
            FlipBit(operation);
          }
          return status;
        });
  };
  EXPECT_FALSE(CheckStartedOperations(subject, 3, 1).ok());
}

TEST(ConformanceChecksTest, SeeAMismatchWithoutExplanation) {
  const auto silent = [](Transport& right, const Operation& operation,
                         const OperationContext& context) {
    const absl::Status status = right.Execute(operation, context);
    return absl::Status(status.code(), "something differs");
  };
  EXPECT_FALSE(CheckMismatches(With(silent), 2).ok());
}

TEST(ConformanceChecksTest, SeeADeadlineThatNamesNobody) {
  const auto silent = [](Transport& right, const Operation& operation,
                         const OperationContext& context) {
    const absl::Status status = right.Execute(operation, context);
    return status.ok() ? status
                       : absl::DeadlineExceededError("all_reduce #2 is late");
  };
  EXPECT_FALSE(CheckDeadline(With(silent, 0), 3).ok());
}

TEST(ConformanceChecksTest, SeeAGroupThatGoesOnAfterItsDeadline) {
  const auto forgets = [](Transport& right, const Operation& operation,
                          const OperationContext& context) {
    if (context.sequence > 2) return absl::OkStatus();
    return right.Execute(operation, context);
  };
  EXPECT_FALSE(CheckDeadline(With(forgets), 3).ok());
}

TEST(ConformanceChecksTest, SeeAGroupThatIsBrokenForOneRankOnly) {
  const auto forgets = [](Transport& right, const Operation& operation,
                          const OperationContext& context) {
    const absl::Status status = right.Execute(operation, context);
    // The planted defect: the first barrier succeeds although another rank has
    // failed in it.
    return operation.kind == OperationKind::kBarrier && context.sequence == 1
               ? absl::OkStatus()
               : status;
  };
  EXPECT_FALSE(CheckBrokenForAll(With(forgets), 2).ok());
}

TEST(ConformanceChecksTest, SeeAnAbortWithoutReason) {
  const auto silent = [](Transport& right, const Operation& operation,
                         const OperationContext& context) {
    const absl::Status status = right.Execute(operation, context);
    return status.ok() ? status : absl::AbortedError("aborted");
  };
  EXPECT_FALSE(CheckAbort(With(silent, 0), 2).ok());
}

}  // namespace
}  // namespace muster
