// Tests that the coordinator spends little time on operators' requests for the
// status of a large job.

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/client/admin_client.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/directive_sink.h"
#include "rendezvous/server/grpc_server.h"
#include "rendezvous/testing/scripted_node.h"

namespace muster::rendezvous {
namespace {

constexpr int kNodes = 2000;

class IgnoredDirectives : public DirectiveSink {
 public:
  void Deliver(const Directive&) override {}
};

class StatusCostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < kNodes; ++i) {
      Report report = FirstReport("job", "node-" + std::to_string(i), kNodes);
      report.sequence = 1;
      streams_.push_back(coordinator_.Attach(&sink_));
      ASSERT_TRUE(coordinator_.OnReport(streams_.back(), report).ok());
    }
    GrpcServer::Options options;
    options.listen = {"127.0.0.1", 0};
    auto server = GrpcServer::Start(&coordinator_, options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  void TearDown() override {
    server_.reset();
    for (const StreamId stream : streams_) coordinator_.Detach(stream);
  }

  IgnoredDirectives sink_;
  Coordinator coordinator_{Coordinator::Options{}};
  std::vector<StreamId> streams_;
  std::unique_ptr<GrpcServer> server_;
};

// The coordinator reuses a computed status for 20 times as long as its
// computation took. The test sends 40 requests, one after another, each of
// which takes about as long as a computation. So most of them must get the
// status of an earlier request. Newly computed statuses differ in the job's
// age.
TEST_F(StatusCostTest, QuestionsAboutALargeJobShareAnswers) {
  AdminClient::Options options;
  options.endpoints = {server_->address()};
  AdminClient client(options);
  constexpr int kQuestions = 40;
  std::set<Duration> ages;
  for (int i = 0; i < kQuestions; ++i) {
    const auto job = client.GetJob("job");
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->nodes.size(), static_cast<size_t>(kNodes));
    ages.insert(job->age);
  }
  EXPECT_LT(ages.size(), kQuestions / 2);
}

TEST_F(StatusCostTest, AListOfJobsIsWithoutNodes) {
  AdminClient::Options options;
  options.endpoints = {server_->address()};
  AdminClient client(options);
  const auto jobs = client.ListJobs();
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_EQ(jobs->size(), 1u);
  EXPECT_TRUE((*jobs)[0].nodes.empty());
  EXPECT_FALSE(client.GetJob("another").ok());
}

}  // namespace
}  // namespace muster::rendezvous
