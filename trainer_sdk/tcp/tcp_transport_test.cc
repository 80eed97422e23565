#include "trainer_sdk/tcp/tcp_transport.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/channel_key.h"
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

ConformanceSubject EncryptedTcp() {
  ConformanceSubject subject = Tcp();
  subject.name = "EncryptedTcp";
  subject.factory = [](GroupPlace place, Instant deadline) {
    TcpOptions options;
    options.channel_key = std::string(kChannelKeyBytes, 'k');
    return NewTcpTransport(std::move(place), options, deadline);
  };
  return subject;
}

INSTANTIATE_TEST_SUITE_P(Tcp, TransportConformance,
                         testing::Values(Tcp(), EncryptedTcp()));

}  // namespace
}  // namespace muster
