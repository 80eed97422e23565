#include "trainer_sdk/process_group/testing/transport_conformance.h"

#include <cstdlib>
#include <ostream>

#include "trainer_sdk/process_group/testing/conformance_checks.h"

namespace muster {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransportConformance);

void PrintTo(const ConformanceSubject& subject, std::ostream* out) {
  *out << subject.name;
}

namespace {

// Runs a check at every size. Stops at the first failure, because a broken
// transport may block forever at the next size.
template <typename Check>
void AtEverySize(const ConformanceSubject& subject, Check check) {
  for (const int size : subject.sizes) {
    const absl::Status status = check(size);
    ASSERT_TRUE(status.ok())
        << subject.name << ", " << size << " ranks: " << status;
  }
}

}  // namespace

TEST_P(TransportConformance, ComputesEveryCollective) {
  const ConformanceSubject subject =
      AtGrid(GetParam(), std::getenv("MUSTER_CONFORMANCE_GRID"));
  AtEverySize(subject,
              [&](int size) { return CheckCollectives(subject, size); });
}

TEST_P(TransportConformance, GivesEveryRankTheSameBits) {
  AtEverySize(GetParam(),
              [&](int size) { return CheckEqualBits(GetParam(), size); });
}

TEST_P(TransportConformance, DeliversMessages) {
  AtEverySize(GetParam(),
              [&](int size) { return CheckPointToPoint(GetParam(), size); });
}

TEST_P(TransportConformance, KeepsGroupsApart) {
  AtEverySize(GetParam(), [&](int size) -> absl::Status {
    for (uint64_t seed = 0; seed < 3; seed++) {
      absl::Status status = CheckInterleavings(GetParam(), size, seed);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

TEST_P(TransportConformance, DoesWhatWasStarted) {
  AtEverySize(GetParam(), [&](int size) {
    return CheckStartedOperations(GetParam(), size,
                                  static_cast<uint64_t>(size));
  });
}

TEST_P(TransportConformance, ExplainsMismatches) {
  AtEverySize(GetParam(),
              [&](int size) { return CheckMismatches(GetParam(), size); });
}

TEST_P(TransportConformance, NamesTheAbsentAtTheDeadline) {
  AtEverySize(GetParam(),
              [&](int size) { return CheckDeadline(GetParam(), size); });
}

TEST_P(TransportConformance, Aborts) {
  AtEverySize(GetParam(),
              [&](int size) { return CheckAbort(GetParam(), size); });
}

TEST_P(TransportConformance, IsBrokenForAllWhenItIsForOne) {
  AtEverySize(GetParam(),
              [&](int size) { return CheckBrokenForAll(GetParam(), size); });
}

TEST_P(TransportConformance, FailedFormationIsExplainedOnEveryRank) {
  AtEverySize(GetParam(),
              [&](int size) { return CheckFailedFormation(GetParam(), size); });
}

TEST_P(TransportConformance, GivesUpFormingAGroupWhenInterrupted) {
  AtEverySize(GetParam(), [&](int size) {
    return CheckInterruptedFormation(GetParam(), size);
  });
}

TEST_P(TransportConformance, LendsItsMemory) {
  AtEverySize(GetParam(),
              [&](int size) { return CheckMemory(GetParam(), size); });
}

}  // namespace muster
