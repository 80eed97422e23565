#include "agent/fitness_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

std::string Found(FitnessGate::Options options) {
  FitnessGate gate(std::move(options));
  std::promise<std::string> promise;
  gate.Check([&](std::string unfit) { promise.set_value(std::move(unfit)); });
  std::future<std::string> found = promise.get_future();
  if (found.wait_for(seconds(60)) != std::future_status::ready) {
    gate.Drop();
    return "nothing was found";
  }
  return found.get();
}

TEST(FitnessGate, OneThatPassesIsFit) {
  EXPECT_EQ(Found({.command = "echo fine"}), "");
  EXPECT_EQ(Found({.built_in = [] { return absl::OkStatus(); }}), "");
}

TEST(FitnessGate, TheLastLineOfTheCommandIsTheReason) {
  EXPECT_EQ(
      Found({.command = "echo checking; echo GPU 3 has fallen off; exit 9"}),
      "--health-check: GPU 3 has fallen off (exit code 9)");
}

TEST(FitnessGate, WhatABuiltInCheckFindsIsTheReason) {
  EXPECT_EQ(
      Found({.command = "exit 1",
             .built_in =
                 [] {
                   return absl::FailedPreconditionError("/ is\nfull\x1b[31m");
                 }}),
      "/ is");
}

TEST(FitnessGate, BothMustPass) {
  EXPECT_EQ(
      Found({.command = "exit 5", .built_in = [] { return absl::OkStatus(); }}),
      "--health-check: exit code 5");
}

TEST(FitnessGate, TooLongIsUnfit) {
  EXPECT_THAT(Found({.command = "exec tail -f /dev/null",
                     .timeout = milliseconds(100)}),
              HasSubstr("did not end within 0.1 s"));
}

TEST(FitnessGate, ADroppedCheckSaysNothing) {
  FitnessGate gate({.command = "exec tail -f /dev/null"});
  gate.Check([](std::string) { ADD_FAILURE() << "nobody waits for it"; });
  gate.Drop();
}

}  // namespace
}  // namespace muster::agent
