#include "agent/options/endpoint.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

std::string Read(const std::string& text) {
  const absl::StatusOr<Endpoint> endpoint = ReadEndpoint(text, 29400);
  return endpoint.ok() ? endpoint->ToString() : "error";
}

TEST(Endpoint, HostAndPort) {
  EXPECT_EQ(Read("node1"), "node1:29400");
  EXPECT_EQ(Read("node1.cluster.local:80"), "node1.cluster.local:80");
  EXPECT_EQ(Read("10.0.0.1:0"), "10.0.0.1:0");
}

TEST(Endpoint, Ipv6) {
  EXPECT_EQ(Read("[fe80::1%eth0]:80"), "[fe80::1%eth0]:80");
  EXPECT_EQ(Read("[::1]"), "[::1]:29400");
  EXPECT_EQ(Read("::1"), "[::1]:29400");
}

TEST(Endpoint, Nonsense) {
  for (const char* text :
       {"", ":80", "node1:", "node1:x", "node1:65536", "node1:-1", "[::1",
        "[::1]80", "[::1]:", "[]:80", "tcp://node1:80", "node 1:80",
        "node1/x:80", "node1:80 "}) {
    EXPECT_EQ(Read(text), "error") << text;
  }
  EXPECT_EQ(Read(std::string(300, 'a')), "error");
}

}  // namespace
}  // namespace muster
