#include "rendezvous/dashboard/dashboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "rendezvous/events/status_json.h"
#include "rendezvous/tls/token_identity.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kSecret[] = "a secret that no one can guess";
constexpr std::time_t kUnixTime = 1'800'000'000;

JobStatus Job(const std::string& run_id) {
  JobStatus job;
  job.run_id = run_id;
  job.phase = JobPhase::kRunning;
  job.round = 1;
  job.world_size = 1;
  NodeStatus node;
  node.node.node_id = "host-a";
  node.group_rank = 0;
  node.progress = {{.local_rank = 0, .step = 7}};
  job.nodes = {node};
  return job;
}

class DashboardTest : public ::testing::Test {
 protected:
  std::optional<ProbeAnswer> Ask(const std::string& target,
                                 const std::string& token = "") {
    return dashboard().Answer(
        {.method = "GET",
         .target = target,
         .host = "127.0.0.1:8080",
         .authorization = token.empty() ? "" : "Bearer " + token});
  }

  // Advances the clock and the jobs' age by a second, and calls Tick.
  void TickLater() {
    now_ += std::chrono::seconds(1);
    for (JobStatus& job : jobs_.jobs) job.age += std::chrono::seconds(1);
    dashboard().Tick();
  }

  Dashboard& dashboard() {
    if (dashboard_ == nullptr) {
      dashboard_ = std::make_unique<Dashboard>(
          [this] {
            ++reads_;
            now_ += reading_takes_;
            return jobs_;
          },
          access_,
          Dashboard::Clock{.now = [this] { return now_; },
                           .unix_time = [] { return kUnixTime; }});
    }
    return *dashboard_;
  }

  Instant now_{std::chrono::hours(1)};
  CoordinatedJobs jobs_{.jobs = {Job("a-1"), Job("b-1")}, .elsewhere = ""};
  DashboardAccess access_;
  Duration reading_takes_ = Duration::zero();
  int reads_ = 0;

 private:
  std::unique_ptr<Dashboard> dashboard_;
};

TEST_F(DashboardTest, ThePageAndItsFilesAreThere) {
  EXPECT_THAT(*Ask("/")->body, StartsWith("<!doctype html>"));
  EXPECT_EQ(Ask("/dashboard.js")->content_type, "text/javascript");
  EXPECT_EQ(Ask("/dashboard.css")->content_type, "text/css");
  EXPECT_FALSE(Ask("/metrics").has_value());
  EXPECT_FALSE(Ask("/dashboard.js.map").has_value());
}

TEST_F(DashboardTest, ThePageRunsNothingButItsOwnFiles) {
  const ProbeAnswer page = *Ask("/");
  EXPECT_THAT(*page.body, Not(HasSubstr("<script>")));
  EXPECT_THAT(*page.body, Not(HasSubstr("style=")));
  EXPECT_THAT(*page.body, Not(HasSubstr("onclick")));
  ASSERT_FALSE(page.headers.empty());
  EXPECT_EQ(page.headers[0].first, "Content-Security-Policy");
  EXPECT_THAT(page.headers[0].second, StartsWith("default-src 'none'; "));
  EXPECT_THAT(page.headers[0].second, Not(HasSubstr("unsafe")));
}

TEST_F(DashboardTest, AJobIsWhatTheStatusPrints) {
  const std::string body = *Ask("/api/job?id=a-1")->body;
  EXPECT_THAT(body, StartsWith("{\"job\":" + StatusJsonLine(jobs_.jobs[0]) +
                               ",\"history\":{\"at_seconds\":["));
  EXPECT_EQ(Ask("/api/job?id=nothing")->status, 404);
  EXPECT_EQ(Ask("/api/job")->status, 404);
}

TEST_F(DashboardTest, AnIdIsDecoded) {
  jobs_.jobs[0].run_id = "<a> & 1%";
  EXPECT_EQ(Ask("/api/job?id=%3Ca%3E%20%26%201%25")->status, 200);
  EXPECT_EQ(Ask("/api/job?id=%3")->status, 404);
}

TEST_F(DashboardTest, TheListHasNoNodes) {
  const std::string body = *Ask("/api/jobs")->body;
  EXPECT_THAT(body, HasSubstr("\"run_id\":\"a-1\""));
  EXPECT_THAT(body, HasSubstr("\"run_id\":\"b-1\""));
  EXPECT_THAT(body, Not(HasSubstr("host-a")));
}

TEST_F(DashboardTest, AProcessThatDoesNotCoordinateSaysWhoDoes) {
  jobs_ = {.jobs = {}, .elsewhere = "see node1:29400"};
  EXPECT_EQ(*Ask("/api/jobs")->body,
            "{\"jobs\":[],\"elsewhere\":\"see node1:29400\"}");
}

TEST_F(DashboardTest, AnotherHostNameAndOtherMethodsAreRefused) {
  EXPECT_EQ(dashboard().Answer({"GET", "/", "evil.example", ""})->status, 421);
  EXPECT_EQ(dashboard().Answer({"GET", "/api/jobs", "", ""})->status, 421);
  EXPECT_EQ(dashboard().Answer({"POST", "/api/jobs", "localhost", ""})->status,
            405);
  EXPECT_EQ(dashboard().Answer({"HEAD", "/api/jobs", "localhost", ""})->status,
            200);
}

TEST_F(DashboardTest, StatesNeedATokenAndThePageDoesNot) {
  access_.tokens = {kSecret};
  EXPECT_EQ(Ask("/")->status, 200);
  for (const char* path : {"/api/jobs", "/api/job?id=a-1", "/api/events"}) {
    EXPECT_EQ(Ask(path)->status, 401) << path;
    EXPECT_EQ(Ask(path, "wrong")->status, 401) << path;
    EXPECT_EQ(Ask(path, kSecret)->status, 200) << path;
  }
  const std::string join =
      DeriveToken(kSecret, {.name = "ada", .roles = {Role::kJoin}}).value();
  EXPECT_EQ(Ask("/api/jobs", join)->status, 403);
}

TEST_F(DashboardTest, ATokenShowsItsOwnJobsOnly) {
  access_.tokens = {kSecret};
  const std::string view =
      DeriveToken(kSecret,
                  {.name = "ada", .roles = {Role::kView}, .jobs = {"a-*"}})
          .value();
  EXPECT_THAT(*Ask("/api/jobs", kSecret)->body, HasSubstr("b-1"));
  EXPECT_THAT(*Ask("/api/jobs", view)->body, HasSubstr("a-1"));
  EXPECT_THAT(*Ask("/api/jobs", view)->body, Not(HasSubstr("b-1")));
  EXPECT_EQ(Ask("/api/job?id=a-1", view)->status, 200);
  EXPECT_EQ(Ask("/api/job?id=b-1", view)->status, 404);
  EXPECT_EQ(Ask("/api/events?id=b-1", view)->status, 404);
}

TEST_F(DashboardTest, AStreamHasEachStateOnce) {
  const ProbeAnswer answer = *Ask("/api/events?id=a-1");
  EXPECT_EQ(answer.content_type, "text/event-stream");
  ASSERT_NE(answer.more, nullptr);
  EXPECT_THAT(**answer.more(), StartsWith("event: job\ndata: {\"run_id\""));
  EXPECT_EQ(*answer.more(), nullptr);
  TickLater();
  EXPECT_THAT(**answer.more(), HasSubstr("\n\nevent: history\ndata: {"));
  EXPECT_EQ(*answer.more(), nullptr);
}

TEST_F(DashboardTest, AllStreamsShareOneText) {
  const ProbeAnswer one = *Ask("/api/events?id=a-1");
  const ProbeAnswer two = *Ask("/api/events?id=a-1");
  EXPECT_EQ(*one.more(), *two.more());
}

TEST_F(DashboardTest, TheHistoryIsSentOnlyIfItChanged) {
  const ProbeAnswer answer = *Ask("/api/events?id=a-1");
  EXPECT_THAT(**answer.more(), HasSubstr("event: history"));
  jobs_.jobs[0].phase = JobPhase::kFinished;
  TickLater();
  EXPECT_THAT(**answer.more(), HasSubstr("event: history"));
  TickLater();
  EXPECT_THAT(**answer.more(), Not(HasSubstr("event: history")));
}

TEST_F(DashboardTest, AForgottenJobEndsItsStream) {
  const ProbeAnswer answer = *Ask("/api/events?id=a-1");
  EXPECT_NE(*answer.more(), nullptr);
  jobs_.jobs.erase(jobs_.jobs.begin());
  TickLater();
  EXPECT_THAT(**answer.more(), StartsWith("event: gone\n"));
  EXPECT_FALSE(answer.more().has_value());
}

TEST_F(DashboardTest, AStreamEndsAfterItsTime) {
  const ProbeAnswer answer = *Ask("/api/events");
  EXPECT_THAT(**answer.more(), StartsWith("event: jobs\n"));
  now_ += Dashboard::kStreamTime;
  EXPECT_FALSE(answer.more().has_value());
}

TEST_F(DashboardTest, StreamsAreLimited) {
  std::vector<ProbeAnswer> open;
  for (int i = 0; i < Dashboard::kMaxStreams; ++i) {
    open.push_back(*Ask("/api/events"));
    ASSERT_EQ(open.back().status, 200);
  }
  EXPECT_EQ(Ask("/api/events")->status, 503);
  open.pop_back();
  EXPECT_EQ(Ask("/api/events")->status, 200);
}

TEST_F(DashboardTest, RequestsDoNotReadTheState) {
  for (int i = 0; i < 10; ++i) Ask("/api/jobs");
  EXPECT_EQ(reads_, 1);
  dashboard().Tick();
  EXPECT_EQ(reads_, 1);
  TickLater();
  EXPECT_EQ(reads_, 2);
}

TEST_F(DashboardTest, AStateThatIsSlowToReadIsReadLessOften) {
  reading_takes_ = std::chrono::milliseconds(100);
  Ask("/api/jobs");
  TickLater();
  EXPECT_EQ(reads_, 1);
  TickLater();
  EXPECT_EQ(reads_, 2);
}

TEST_F(DashboardTest, HostileNamesStayText) {
  jobs_.jobs[0].run_id = "</script><script>alert(1)</script>\n\nevent: x";
  jobs_.jobs[0].reason = "\xff\n\ndata: {}";
  const ProbeAnswer answer = *Ask("/api/events");
  const std::string text = **answer.more();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

}  // namespace
}  // namespace muster::rendezvous
