#include "store/server/listening_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::store {
namespace {

using ::testing::HasSubstr;

TEST(StrangerLog, NamesEachAddressOnce) {
  StrangerLog log;
  EXPECT_EQ(log.Summary(), "");
  EXPECT_EQ(log.Refused("10.0.0.9"),
            "the store refused a connection from 10.0.0.9: no node of this "
            "round has this address; if workers connect from there, as behind "
            "NAT, add it with --store-clients=10.0.0.9");
  EXPECT_EQ(log.Summary(), "");
  EXPECT_EQ(log.Refused("10.0.0.9"), "");
  EXPECT_THAT(log.Refused("10.0.0.8"), HasSubstr("10.0.0.8"));
  EXPECT_EQ(log.connections(), 3u);
  EXPECT_EQ(
      log.Summary(),
      "the store refused 3 connections from addresses outside of the job");
}

TEST(StrangerLog, SaysOnceThatThereAreMoreAddresses) {
  StrangerLog log;
  size_t sentences = 0;
  std::string last;
  for (int i = 0; i < 1000; ++i) {
    const std::string sentence = log.Refused("10.0.1." + std::to_string(i));
    if (sentence.empty()) continue;
    ++sentences;
    last = sentence;
  }
  EXPECT_EQ(sentences, StrangerLog::kMaxNamed + 1);
  EXPECT_THAT(last, HasSubstr("more than 8 addresses"));
  EXPECT_THAT(log.Summary(), HasSubstr("refused 1000 connections"));
}

}  // namespace
}  // namespace muster::store
