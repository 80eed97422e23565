#include "trainer_sdk/tcp/tcp_transport.h"

#include <gtest/gtest.h>

#include <utility>

#include "trainer_sdk/process_group/testing/transport_conformance.h"

namespace muster {
namespace {

ConformanceSubject Tcp() {
  ConformanceSubject subject;
  subject.name = "Tcp";
  subject.factory = [](GroupPlace place, Instant deadline) {
    return NewTcpTransport(std::move(place), TcpOptions{}, deadline);
  };
  subject.every_nth = 17;
  return subject;
}

INSTANTIATE_TEST_SUITE_P(Tcp, TransportConformance, testing::Values(Tcp()));

}  // namespace
}  // namespace muster
