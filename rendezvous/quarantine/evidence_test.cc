#include "rendezvous/quarantine/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace muster::rendezvous {
namespace {

using ::testing::Eq;
using ::testing::FieldsAre;
using ::testing::Optional;

// Matches Evidence of this signature and line.
auto Shows(const std::string& signature, const std::string& line) {
  return FieldsAre(Eq(signature), Eq(line));
}

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
  EXPECT_THAT(EvidenceIn(Killed(SIGBUS)), Optional(Shows("SIGBUS", "")));
  EXPECT_THAT(EvidenceIn(Killed(SIGILL)), Optional(Shows("SIGILL", "")));
}

TEST(Evidence, SignalsOfProgramsAndSchedulersDoNotCount) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGKILL, SIGTERM, SIGINT}) {
    EXPECT_FALSE(EvidenceIn(Killed(signal)).has_value()) << signal;
  }
}

TEST(Evidence, ExceptionsAndExitCodesDoNotCount) {
  for (const char* const message :
       {"ValueError: no such key", "RuntimeError: CUDA out of memory",
        "exit code 3"}) {
    EXPECT_FALSE(EvidenceIn(Raised(message)).has_value()) << message;
  }
}

TEST(Evidence, TextsAboutHardwareCount) {
  const std::string ecc =
      "RuntimeError: CUDA error: Uncorrectable ECC error encountered";
  EXPECT_THAT(EvidenceIn(Raised(ecc)),
              Optional(Shows("uncorrectable ECC error", ecc)));
  Failure failure = Raised("exit code 1");
  const std::string io = "OSError: [Errno 5] Input/output error";
  failure.stderr_tail = {"one", io};
  EXPECT_THAT(EvidenceIn(failure), Optional(Shows("input/output error", io)));
  failure = Killed(SIGABRT);
  failure.stderr_tail = {"GPU 3 has fallen off the bus."};
  EXPECT_THAT(EvidenceIn(failure), Optional(Shows("GPU fallen off the bus",
                                                  failure.stderr_tail[0])));
  failure.kind = FailureKind::kHung;
  EXPECT_TRUE(EvidenceIn(failure).has_value());
}

TEST(Evidence, CollateralAndLostNodesAreNoEvidence) {
  Failure failure = Raised("Input/output error");
  for (const FailureKind kind :
       {FailureKind::kStoppedByUs, FailureKind::kStartFailed,
        FailureKind::kNodeLost}) {
    failure.kind = kind;
    EXPECT_FALSE(EvidenceIn(failure).has_value());
  }
}

}  // namespace
}  // namespace muster::rendezvous
