// Tests of attacks on a coordinator that several jobs share. If a stranger
// begins thousands of jobs, the coordinator must still accept another job. If a
// stranger joins a job again and again, the event log must keep the lines about
// other events.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>

#include "rendezvous/events/event_log.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/directive_sink.h"
#include "rendezvous/testing/scripted_node.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;

// Keeps the newest directive that the coordinator has sent on a stream.
// OnReport sends the answer before it returns, so the answer can be read with
// Get after OnReport.
class NewestDirective : public DirectiveSink {
 public:
  void Deliver(const Directive& directive) override {
    std::lock_guard<std::mutex> lock(mutex_);
    newest_ = directive;
  }
  Directive Get() {
    std::lock_guard<std::mutex> lock(mutex_);
    return newest_;
  }

 private:
  std::mutex mutex_;
  Directive newest_;
};

// Sends one report on a new stream, and closes the stream. Returns the
// coordinator's answer.
Directive ReportOnce(Coordinator* coordinator, Report report) {
  NewestDirective sink;
  const StreamId stream = coordinator->Attach(&sink, "10.0.0.9");
  report.sequence = 1;
  EXPECT_TRUE(coordinator->OnReport(stream, std::move(report)).ok());
  coordinator->Detach(stream);
  return sink.Get();
}

TEST(CrowdedCoordinator, JobsOfOneReportDoNotKeepOthersOut) {
  Coordinator coordinator(Coordinator::Options{});
  for (int i = 0; i < 10'001; ++i) {
    Report report = FirstReport("stranger-" + std::to_string(i), "x", 2);
    report.spec.join_timeout = std::chrono::hours(24 * 365);
    ReportOnce(&coordinator, std::move(report));
  }
  EXPECT_EQ(ReportOnce(&coordinator, FirstReport("job", "a", 1)).kind,
            DirectiveKind::kRun);
}

TEST(CrowdedCoordinator, JoinsWithoutEndDoNotFlushTheEventLog) {
  const std::string path =
      ::testing::TempDir() + "/crowded_" + std::to_string(getpid()) + ".jsonl";
  {
    EventLog log(path, EventLog::Rotation::kOwn, [](const std::string&) {});
    log.Append("job", {"finish", 1, "", "the honest line"});
    const std::string reason(400, 'x');
    for (int i = 0; i < 400'000; ++i) {
      log.Append("job", {"join", 1, "stranger", reason});
    }
    log.Append("job", {"break", 1, "", "another honest line"});
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".1"));
  std::string first;
  std::string line;
  std::string all_of_the_end;
  std::ifstream file(path);
  std::getline(file, first);
  while (std::getline(file, line)) {
    if (line.find("stranger") == std::string::npos) all_of_the_end += line;
  }
  EXPECT_THAT(first, HasSubstr("the honest line"));
  EXPECT_THAT(all_of_the_end, HasSubstr("another honest line"));
  EXPECT_THAT(all_of_the_end, HasSubstr("omitted"));
  unlink(path.c_str());
}

}  // namespace
}  // namespace muster::rendezvous
