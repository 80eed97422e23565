#include "agent/health_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

std::string Found(HealthGate::Options options) {
  HealthGate gate(std::move(options));
  std::promise<std::string> promise;
  gate.Check(
      [&](std::string unhealthy) { promise.set_value(std::move(unhealthy)); });
  std::future<std::string> found = promise.get_future();
  if (found.wait_for(seconds(60)) != std::future_status::ready) {
    gate.Drop();
    return "nothing was found";
  }
  return found.get();
}

TEST(HealthGate, PassedCheckIsHealthy) {
  EXPECT_EQ(Found({.command = "echo fine"}), "");
  EXPECT_EQ(Found({.built_in = [] { return absl::OkStatus(); }}), "");
}

TEST(HealthGate, TheLastLineOfTheCommandIsTheReason) {
  EXPECT_EQ(
      Found({.command = "echo checking; echo GPU 3 has fallen off; exit 9"}),
      "--health-command: GPU 3 has fallen off (exit code 9)");
}

TEST(HealthGate, BuiltInCheckGivesTheReason) {
  EXPECT_EQ(
      Found({.command = "exit 1",
             .built_in =
                 [] {
                   return absl::FailedPreconditionError("/ is\nfull\x1b[31m");
                 }}),
      "/ is");
}

TEST(HealthGate, BothMustPass) {
  EXPECT_EQ(
      Found({.command = "exit 5", .built_in = [] { return absl::OkStatus(); }}),
      "--health-command: exit code 5");
}

TEST(HealthGate, TooLongIsUnhealthy) {
  EXPECT_THAT(Found({.command = "exec tail -f /dev/null",
                     .timeout = milliseconds(100)}),
              HasSubstr("did not end within 0.1 s"));
}

TEST(HealthGate, ADroppedCheckSaysNothing) {
  HealthGate gate({.command = "exec tail -f /dev/null"});
  gate.Check([](std::string) { ADD_FAILURE() << "nobody waits for it"; });
  gate.Drop();
}

}  // namespace
}  // namespace muster::agent
