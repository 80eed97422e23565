#include "rendezvous/dashboard/dashboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/events/status_json.h"
#include "rendezvous/protocol/output_tail.h"
#include "rendezvous/tls/token_identity.h"

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kSecret[] = "a secret that no one can guess";
constexpr std::time_t kUnixTime = 1'800'000'000;

JobStatus Job(const std::string& run_id) {
  JobStatus job;
  job.run_id = run_id;
  job.phase = JobPhase::kRunning;
  job.round = 1;
  job.world_size = 4;
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

  using Session = DashboardInquirer::Session;

  ProbeAnswer AskOutput(const std::string& token = "") {
    access_.output = OutputShown::kYes;
    return *Ask("/api/output?id=a-1&rank=3", token);
  }

  // Returns the next piece of a stream of output. The test fails if the stream
  // is over.
  std::string NextOf(const ProbeAnswer& answer) {
    now_ += std::chrono::milliseconds(300);
    const std::optional<Page> next = answer.more();
    EXPECT_TRUE(next.has_value());
    return next.has_value() && *next != nullptr ? **next : "";
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
          DashboardInquirer{
              .inquire =
                  [this](const std::string& run_id, const Session& session) {
                    if (!refusal_.ok()) return refusal_;
                    asked_.push_back(run_id);
                    newest_ = session;
                    return absl::OkStatus();
                  },
              .end =
                  [this](const std::string&, const Session& session) {
                    session->Close();
                    ++ended_;
                  }},
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
  absl::Status refusal_;
  std::vector<std::string> asked_;  // the jobs whose output was asked for
  Session newest_;                  // session of the newest inquiry for output
  int ended_ = 0;                   // how many inquiries for output have ended

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

TEST_F(DashboardTest, OutputIsAnInquiryThatFollowsOneRank) {
  const ProbeAnswer answer = AskOutput();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.content_type, "text/event-stream");
  EXPECT_THAT(asked_, ElementsAre("a-1"));
  EXPECT_EQ(
      newest_->question(),
      (Inquiry{.ranks = {3}, .lines = 50, .follow = Inquiry::Follow::kYes}));
}

TEST_F(DashboardTest, OutputIsSentAsItComes) {
  const ProbeAnswer answer = AskOutput();
  EXPECT_EQ(NextOf(answer), "");
  newest_->Ask(7, "a", "host-a");
  EXPECT_EQ(NextOf(answer),
            "event: waiting\ndata: {\"text\":\"waiting for host-a\"}\n\n");
  newest_->Begin(7, [] {});
  newest_->Take(7, {.lines = {{.rank = 3,
                               .round = 2,
                               .stream = OutputLine::Stream::kErr,
                               .text = "x"}}});
  EXPECT_EQ(NextOf(answer),
            "event: output\ndata: {\"lines\":[{\"round\":2,\"stream\":"
            "\"stderr\",\"text\":\"x\"}],\"dropped\":0,\"note\":\"\"}\n\n"
            "event: waiting\ndata: {\"text\":\"\"}\n\n");
  EXPECT_EQ(NextOf(answer), "");
}

TEST_F(DashboardTest, ANodeThatDoesNotAnswerIsNamed) {
  const ProbeAnswer answer = AskOutput();
  newest_->Ask(7, "a", "host-a");
  NextOf(answer);
  now_ += std::chrono::seconds(10);
  EXPECT_THAT(NextOf(answer), HasSubstr("no answer from host-a within 10 s"));
}

TEST_F(DashboardTest, OutputIsReadFourTimesASecondAtMost) {
  const ProbeAnswer answer = AskOutput();
  EXPECT_EQ(NextOf(answer), "");
  newest_->Miss("a", "host-a", "it is lost");
  EXPECT_EQ(*answer.more(), nullptr);
  EXPECT_THAT(NextOf(answer), HasSubstr("\"note\":\"host-a: it is lost\""));
}

TEST_F(DashboardTest, HostileOutputIsOneLineOfAscii) {
  const ProbeAnswer answer = AskOutput();
  newest_->Ask(7, "a", "host-a");
  newest_->Begin(7, [] {});
  newest_->Take(7,
                {.lines = {{.text = "\n\nevent: gone\ndata: {}\n\n\xff\x1b["},
                           {.text = std::string(60'000, '\x80')}}});
  const std::string text = NextOf(answer);
  EXPECT_THAT(text, StartsWith("event: output\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("\\u001b"));
  EXPECT_LT(text.size(), 8 * OutputTail::kMaxBytes);
}

TEST_F(DashboardTest, AQuietStreamOfOutputSendsASignOfLife) {
  const ProbeAnswer answer = AskOutput();
  NextOf(answer);
  now_ += std::chrono::seconds(5);
  EXPECT_EQ(NextOf(answer), ":\n\n");
  EXPECT_EQ(NextOf(answer), "");
}

TEST_F(DashboardTest, OutputEndsWithTheInquiry) {
  const ProbeAnswer answer = AskOutput();
  newest_->AskNoMore();
  EXPECT_THAT(NextOf(answer), HasSubstr("event: over\n"));
  EXPECT_FALSE(answer.more().has_value());
}

TEST_F(DashboardTest, OutputEndsWithTheJobAndAfterItsTime) {
  const ProbeAnswer first = AskOutput();
  const ProbeAnswer second = AskOutput();
  now_ += Dashboard::kStreamTime;
  EXPECT_FALSE(first.more().has_value());
  const ProbeAnswer third = AskOutput();
  jobs_.jobs.clear();
  TickLater();
  EXPECT_THAT(NextOf(third), HasSubstr("event: over\n"));
}

TEST_F(DashboardTest, AReaderThatLeavesEndsTheInquiry) {
  { const ProbeAnswer answer = AskOutput(); }
  EXPECT_EQ(ended_, 1);
  EXPECT_TRUE(newest_->IsOver());
  refusal_ = absl::ResourceExhaustedError("full");
  const ProbeAnswer answer = AskOutput();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(*answer.body, "full\n");
  EXPECT_EQ(ended_, 2) << "a refused inquiry is ended, too";
}

TEST_F(DashboardTest, StreamsOfOutputAreLimited) {
  std::vector<ProbeAnswer> open;
  for (int i = 0; i < Dashboard::kMaxOutputStreams; ++i) {
    open.push_back(AskOutput());
    ASSERT_EQ(open.back().status, 200);
  }
  EXPECT_EQ(AskOutput().status, 503);
  EXPECT_EQ(Ask("/api/events")->status, 200);
  open.pop_back();
  EXPECT_EQ(AskOutput().status, 200);
}

TEST_F(DashboardTest, OutputNeedsAJobAndARank) {
  access_.output = OutputShown::kYes;
  EXPECT_EQ(Ask("/api/output?id=nothing&rank=3")->status, 404);
  EXPECT_EQ(Ask("/api/output?id=a-1")->status, 400);
  EXPECT_EQ(Ask("/api/output?id=a-1&rank=-1")->status, 400);
  EXPECT_EQ(Ask("/api/output?id=a-1&rank=x")->status, 400);
  const ProbeAnswer absent = *Ask("/api/output?id=a-1&rank=4");
  EXPECT_EQ(absent.status, 404);
  EXPECT_EQ(*absent.body, "the job has no rank 4; its ranks are 0 to 3\n");
  EXPECT_EQ(Ask("/api/output?rank=0&id=a-1")->status, 200);
  EXPECT_THAT(asked_, ElementsAre("a-1"));
  jobs_.jobs.front().world_size = 0;
  TickLater();
  EXPECT_EQ(AskOutput().status, 200) << "a round may begin";
  refusal_ = absl::FailedPreconditionError("the job is over");
  EXPECT_EQ(AskOutput().status, 409);
  refusal_ = absl::NotFoundError("the jobs are: secret-job");
  EXPECT_EQ(*AskOutput().body, "no such job\n");
}

TEST_F(DashboardTest, OutputNeedsTheRoleView) {
  access_.tokens = {kSecret};
  const auto token = [](Role role, const std::vector<std::string>& jobs) {
    return DeriveToken(kSecret, {.name = "ada", .roles = {role}, .jobs = jobs})
        .value();
  };
  EXPECT_EQ(AskOutput().status, 401);
  EXPECT_EQ(AskOutput(token(Role::kJoin, {})).status, 403);
  EXPECT_EQ(AskOutput(token(Role::kView, {"b-*"})).status, 404);
  EXPECT_EQ(AskOutput(token(Role::kView, {"a-*"})).status, 200);
  EXPECT_THAT(asked_, ElementsAre("a-1"));
}

TEST_F(DashboardTest, APageThatOtherHostsReachShowsNoOutput) {
  const ProbeAnswer answer = *Ask("/api/output?id=a-1&rank=3");
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(*answer.body, HasSubstr("does not show the output"));
  EXPECT_THAT(asked_, IsEmpty());
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
