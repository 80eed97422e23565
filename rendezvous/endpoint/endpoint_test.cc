#include "rendezvous/endpoint/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;

TEST(EndpointTest, ReadsEveryForm) {
  const struct {
    const char* text;
    const char* host;
    int port;
    const char* written;
  } cases[] = {
      {"node0:1234", "node0", 1234, "node0:1234"},
      {"node0", "node0", kDefaultPort, "node0:29400"},
      {"10.0.0.7:0", "10.0.0.7", 0, "10.0.0.7:0"},
      {"[::1]:80", "::1", 80, "[::1]:80"},
      {"[fe80::1%eth0]", "fe80::1%eth0", kDefaultPort, "[fe80::1%eth0]:29400"},
      {"::1", "::1", kDefaultPort, "[::1]:29400"},
  };
  for (const auto& c : cases) {
    const absl::StatusOr<Endpoint> endpoint = ParseEndpoint(c.text);
    ASSERT_TRUE(endpoint.ok()) << endpoint.status();
    EXPECT_EQ(endpoint->host, c.host);
    EXPECT_EQ(endpoint->port, c.port);
    EXPECT_EQ(endpoint->ToString(), c.written);
  }
}

TEST(EndpointTest, SaysWhatIsWrong) {
  const struct {
    std::string text;
    const char* why;
  } cases[] = {
      {"", "no host"},          {":29400", "no host"},
      {"node0:", "port"},       {"node0:port", "port"},
      {"node0:65536", "port"},  {"node0:-1", "port"},
      {"[::1", "no ]"},         {"[::1]80", "after ]"},
      {"http://node0", "port"}, {"a/b", "character"},
      {"a b:1", "character"},   {std::string(300, 'a'), "too long"},
  };
  for (const auto& c : cases) {
    const absl::StatusOr<Endpoint> endpoint = ParseEndpoint(c.text);
    EXPECT_EQ(endpoint.status().code(), absl::StatusCode::kInvalidArgument)
        << c.text;
    EXPECT_THAT(std::string(endpoint.status().message()), HasSubstr(c.why));
  }
}

}  // namespace
}  // namespace muster::rendezvous
