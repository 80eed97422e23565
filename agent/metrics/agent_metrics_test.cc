#include "agent/metrics/agent_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace muster::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(AgentMetricsTest, TellsTheNodeAndItsWorkers) {
  AgentState state{
      .phase = rendezvous::NodePhase::kRunning, .round = 3, .connected = true};
  state.time[rendezvous::Activity::kProductive] =
      std::chrono::milliseconds(2500);
  state.progress = {{.local_rank = 0,
                     .step = 7,
                     .loss = 1.5,
                     .silent_for = std::chrono::milliseconds(250)},
                    {.local_rank = 1}};
  state.output = {.written = 100, .console_missing = 20, .follower_skipped = 3};
  rendezvous::Exposition page;
  AddNodeMetrics({.run_id = "run", .node_id = "n1", .host = "h1"}, state,
                 {.lost = 5, .dropped = 6}, WorkerSeries::kEach, page);
  for (const char* line :
       {"muster_node_info{job=\"run\",node=\"n1\",host=\"h1\"} 1\n",
        "muster_node_phase{phase=\"running\"} 1\n",
        "muster_node_phase{phase=\"idle\"} 0\n", "muster_node_round 3\n",
        "muster_node_connected 1\n", "muster_node_healthy 1\n",
        "muster_node_time_seconds_total{activity=\"productive\"} 2.5\n",
        "muster_worker_step{local_rank=\"0\"} 7\n",
        "muster_worker_loss{local_rank=\"0\"} 1.5\n",
        "muster_worker_silence_seconds{local_rank=\"0\"} 0.25\n",
        "muster_worker_silence_seconds{local_rank=\"1\"} 0\n",
        "muster_node_output_bytes_total 100\n",
        "muster_node_console_bytes_missing_total 20\n",
        "muster_node_follower_bytes_skipped_total 3\n",
        "muster_node_log_bytes_lost_total 5\n",
        "muster_node_log_bytes_rotated_out_total 6\n"}) {
    EXPECT_THAT(page.text(), HasSubstr(line));
  }
  EXPECT_THAT(page.text(),
              Not(HasSubstr("muster_worker_step{local_rank=\"1\"")));
}

TEST(AgentMetricsTest, WorkersAreShownTogetherUnlessEachIsAskedFor) {
  AgentState state;
  state.progress = {{.local_rank = 0,
                     .step = 7,
                     .loss = 1,
                     .tokens_per_s = 100,
                     .silent_for = std::chrono::seconds(2)},
                    {.local_rank = 1,
                     .step = 9,
                     .loss = 4,
                     .tokens_per_s = 60,
                     .silent_for = std::chrono::seconds(30)},
                    {.local_rank = 2, .silent_for = std::chrono::seconds(5)}};
  for (const WorkerSeries series :
       {WorkerSeries::kTogether, WorkerSeries::kEach}) {
    rendezvous::Exposition page;
    AddNodeMetrics({}, state, {}, series, page);
    for (const char* line : {"muster_node_step 7\n", "muster_node_loss 2.5\n",
                             "muster_node_tokens_per_second 160\n",
                             "muster_node_worker_silence_seconds 30\n"}) {
      EXPECT_THAT(page.text(), HasSubstr(line));
    }
    EXPECT_EQ(page.text().find("muster_worker_") != std::string::npos,
              series == WorkerSeries::kEach);
    EXPECT_EQ(page.text().find("local_rank") != std::string::npos,
              series == WorkerSeries::kEach);
  }
}

TEST(AgentMetricsTest, WorkersThatReportNothingHaveNoSample) {
  rendezvous::Exposition page;
  AddNodeMetrics({}, {}, {}, WorkerSeries::kTogether, page);
  EXPECT_THAT(page.text(), Not(HasSubstr("\nmuster_node_step ")));
  EXPECT_THAT(page.text(), Not(HasSubstr("\nmuster_node_worker_silence")));
}

TEST(AgentMetricsTest, OnlyTheNodeThatServesTheStoreTellsItsLoad) {
  AgentState state;
  rendezvous::Exposition without;
  AddNodeMetrics({}, state, {}, WorkerSeries::kTogether, without);
  EXPECT_THAT(without.text(), Not(HasSubstr("muster_store_")));
  state.store = store::StoreLoad{
      .requests = 9, .keys = 4, .bytes = 500, .waiting = 2, .connections = 3};
  rendezvous::Exposition page;
  AddNodeMetrics({}, state, {}, WorkerSeries::kTogether, page);
  for (const char* line :
       {"# TYPE muster_store_requests_total counter\n",
        "muster_store_requests_total 9\n", "muster_store_keys 4\n",
        "muster_store_memory_bytes 500\n", "muster_store_waiting_clients 2\n",
        "muster_store_connections 3\n"}) {
    EXPECT_THAT(page.text(), HasSubstr(line));
  }
}

TEST(AgentMetricsTest, AnUnhealthyNodeThatIsNotConnectedSaysSo) {
  rendezvous::Exposition page;
  AddNodeMetrics({}, {.health = rendezvous::Health::kUnhealthy}, {},
                 WorkerSeries::kTogether, page);
  EXPECT_THAT(page.text(), HasSubstr("muster_node_connected 0\n"));
  EXPECT_THAT(page.text(), HasSubstr("muster_node_healthy 0\n"));
}

}  // namespace
}  // namespace muster::agent
