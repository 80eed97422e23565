#include "store/server/send_crew.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "base/owned_fd.h"

namespace muster::store {
namespace {

struct Pair {
  OwnedFd near;
  OwnedFd far;
};

std::vector<Pair> Pairs(size_t count) {
  std::vector<Pair> pairs(count);
  for (Pair& pair : pairs) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    pair = {OwnedFd(ends[0]), OwnedFd(ends[1])};
  }
  return pairs;
}

std::string Received(const OwnedFd& fd) {
  char buffer[64];
  const ssize_t count = recv(fd.get(), buffer, sizeof(buffer), 0);
  return count < 0 ? "nothing" : std::string(buffer, count);
}

class SendCrewTest : public testing::TestWithParam<size_t> {};

TEST_P(SendCrewTest, EachIsSentOnceBatchAfterBatch) {
  const std::vector<Pair> pairs = Pairs(200);
  SendCrew crew(GetParam());
  for (size_t batch = 0; batch < 50; ++batch) {
    // The batches have 0, 50, 100, 150 and 200 jobs in turn.
    const size_t count = pairs.size() * (batch % 5) / 4;
    std::vector<std::string> bytes;
    for (size_t i = 0; i < count; ++i) {
      bytes.push_back(std::to_string(batch) + " for " + std::to_string(i));
    }
    std::vector<SendCrew::Job> jobs;
    for (size_t i = 0; i < count; ++i) {
      jobs.push_back({.fd = pairs[i].near.get(), .bytes = bytes[i]});
    }
    crew.SendAll(jobs);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(jobs[i].sent, static_cast<ssize_t>(bytes[i].size()));
      ASSERT_EQ(Received(pairs[i].far), bytes[i]);
      ASSERT_EQ(Received(pairs[i].far), "nothing");
    }
  }
}

TEST_P(SendCrewTest, ReportsTheBytesSentOfEachJob) {
  std::vector<Pair> pairs = Pairs(30);
  const std::string large(size_t{64} << 20, 'x');
  std::vector<SendCrew::Job> jobs;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i % 3 == 0) pairs[i].far.Close();
    jobs.push_back({.fd = pairs[i].near.get(),
                    .bytes = i % 3 == 1 ? std::string_view(large) : "word"});
  }
  SendCrew crew(GetParam());
  crew.SendAll(jobs);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i % 3 == 0) {
      EXPECT_EQ(jobs[i].sent, -1) << i;
    } else if (i % 3 == 1) {
      EXPECT_GT(jobs[i].sent, 0) << i;
      EXPECT_LT(jobs[i].sent, static_cast<ssize_t>(large.size())) << i;
    } else {
      EXPECT_EQ(jobs[i].sent, 4) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Helpers, SendCrewTest, testing::Values(0, 1, 3));

}  // namespace
}  // namespace muster::store
