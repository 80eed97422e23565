#include "rendezvous/endpoint/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
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

TEST(EndpointTest, ReadsAList) {
  const auto endpoints = ParseEndpoints("a:1,b,[::1]:3,10.0.0.1");
  ASSERT_TRUE(endpoints.ok()) << endpoints.status();
  EXPECT_THAT(*endpoints,
              ElementsAre(Endpoint{"a", 1}, Endpoint{"b", kDefaultPort},
                          Endpoint{"::1", 3}, Endpoint{"10.0.0.1"}));
  const std::string text = EndpointsText(*endpoints);
  EXPECT_EQ(text, "a:1,b:29400,[::1]:3,10.0.0.1:29400");
  EXPECT_EQ(*ParseEndpoints(text), *endpoints);
}

TEST(EndpointTest, AListOfOneIsOneEndpoint) {
  EXPECT_THAT(*ParseEndpoints("a:1"), ElementsAre(Endpoint{"a", 1}));
  EXPECT_EQ(EndpointsText({{"a", 1}}), "a:1");
}

TEST(EndpointTest, AListMayHaveEightEndpoints) {
  EXPECT_EQ(ParseEndpoints("a,b,c,d,e,f,g,h")->size(), kMaxEndpoints);
}

TEST(EndpointTest, SaysWhatIsWrongWithAList) {
  const struct {
    const char* text;
    const char* why;
  } cases[] = {
      {"", "no host"},
      {",", "endpoint 1 of 2 is empty"},
      {"a,,b", "endpoint 2 of 3 is empty"},
      {"a:1,", "endpoint 2 of 2 is empty"},
      {"a, b", "character"},
      {"a,b:port", "endpoint \"b:port\": the port is not a number"},
      {"a:1,b:1,a:1", "a:1 is given twice"},
      {"a,b,A:29400", "a:29400 is given twice"},
      {"a,b,c,d,e,f,g,h,i", "9 endpoints are too many"},
  };
  for (const auto& c : cases) {
    const absl::Status status = ParseEndpoints(c.text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.why)) << c.text;
  }
}

}  // namespace
}  // namespace muster::rendezvous
