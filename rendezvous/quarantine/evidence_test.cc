#include "rendezvous/quarantine/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace muster::rendezvous {
namespace {

using ::testing::Optional;

Failure Killed(int signal) {
  Failure failure;
  failure.kind = FailureKind::kSignal;
  failure.signal = signal;
  return failure;
}

Failure Raised(const std::string& message) {
  Failure failure;
  failure.exit_code = 1;
  failure.message = message;
  return failure;
}

TEST(Evidence, SignalsOfDefectHardwareCount) {
  EXPECT_THAT(EvidenceIn(Killed(SIGBUS)), Optional(std::string("SIGBUS")));
  EXPECT_THAT(EvidenceIn(Killed(SIGILL)), Optional(std::string("SIGILL")));
}

TEST(Evidence, SignalsOfProgramsAndSchedulersDoNotCount) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGKILL, SIGTERM, SIGINT}) {
    EXPECT_EQ(EvidenceIn(Killed(signal)), std::nullopt) << signal;
  }
}

TEST(Evidence, ExceptionsAndExitCodesDoNotCount) {
  EXPECT_EQ(EvidenceIn(Raised("ValueError: no such key")), std::nullopt);
  EXPECT_EQ(EvidenceIn(Raised("RuntimeError: CUDA out of memory")),
            std::nullopt);
  EXPECT_EQ(EvidenceIn(Raised("exit code 3")), std::nullopt);
}

TEST(Evidence, TextsAboutHardwareCount) {
  EXPECT_THAT(EvidenceIn(Raised("RuntimeError: CUDA error: Uncorrectable ECC "
                                "error encountered")),
              Optional(std::string("uncorrectable ECC error")));
  Failure failure = Raised("exit code 1");
  failure.stderr_tail = {"one", "OSError: [Errno 5] Input/output error"};
  EXPECT_THAT(EvidenceIn(failure), Optional(std::string("input/output error")));
  failure = Killed(SIGABRT);
  failure.stderr_tail = {"GPU 3 has fallen off the bus."};
  EXPECT_THAT(EvidenceIn(failure),
              Optional(std::string("GPU fallen off the bus")));
  failure.kind = FailureKind::kHung;
  EXPECT_TRUE(EvidenceIn(failure).has_value());
}

TEST(Evidence, CollateralAndLostNodesAreNoEvidence) {
  Failure failure = Raised("Input/output error");
  for (const FailureKind kind :
       {FailureKind::kStoppedByUs, FailureKind::kStartFailed,
        FailureKind::kNodeLost}) {
    failure.kind = kind;
    EXPECT_EQ(EvidenceIn(failure), std::nullopt);
  }
}

}  // namespace
}  // namespace muster::rendezvous
