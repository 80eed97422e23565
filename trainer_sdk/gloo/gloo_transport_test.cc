#include "trainer_sdk/gloo/gloo_transport.h"

#include <gtest/gtest.h>

#include <utility>

#include "trainer_sdk/process_group/testing/transport_conformance.h"

namespace muster {
namespace {

ConformanceSubject Gloo() {
  ConformanceSubject subject;
  subject.name = "Gloo";
  subject.factory = [](GroupPlace place, Instant deadline) {
    return NewGlooTransport(std::move(place), GlooOptions{}, deadline);
  };
  subject.sizes = {1, 2, 3, 5, 8};
  subject.every_nth = 41;
  return subject;
}

INSTANTIATE_TEST_SUITE_P(Gloo, TransportConformance, testing::Values(Gloo()));

}  // namespace
}  // namespace muster
