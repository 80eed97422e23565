#include "rendezvous/events/state_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace muster::rendezvous {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class StateRecorderTest : public testing::Test {
 protected:
  void Begin(JobPhase phase) {
    recorder_.Begin(
        [phase](const std::string& run_id) -> absl::StatusOr<JobStatus> {
          if (run_id == "unknown") return absl::NotFoundError("no such job");
          JobStatus job;
          job.run_id = run_id;
          job.phase = phase;
          return job;
        },
        [this](const JobStatus& job, StateDetail detail) {
          written_.push_back(job.run_id +
                             (detail == StateDetail::kNodes ? " nodes" : ""));
          first_.set_value();
        });
  }
  std::vector<std::string> written_;
  std::promise<void> first_;
  StateRecorder recorder_;
};

TEST_F(StateRecorderTest, WritesTheStateAtADecision) {
  Begin(JobPhase::kFinished);
  recorder_.OnDecision("a", {.kind = "finish"});
  first_.get_future().wait();
  recorder_.Finish();
  EXPECT_THAT(written_, ElementsAre("a nodes"));
}

TEST_F(StateRecorderTest, FinishWritesWhatIsDue) {
  recorder_.OnDecision("a", {.kind = "finish"});
  Begin(JobPhase::kFinished);
  recorder_.Finish();
  EXPECT_THAT(written_, ElementsAre("a nodes"));
}

TEST_F(StateRecorderTest, JobThatIsGoneIsForgotten) {
  recorder_.OnDecision("unknown", {.kind = "assign"});
  Begin(JobPhase::kRunning);
  recorder_.Finish();
  EXPECT_THAT(written_, IsEmpty());
}

TEST_F(StateRecorderTest, WithoutBeginNothingRuns) {
  recorder_.OnDecision("a", {.kind = "assign"});
  recorder_.Finish();
  EXPECT_THAT(written_, IsEmpty());
}

}  // namespace
}  // namespace muster::rendezvous
