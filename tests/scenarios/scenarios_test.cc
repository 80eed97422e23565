// Tests of whole conversations between agents and coordinator: their
// transcripts must equal the files in golden/, which are reviewed as diffs.
// After an intended change, MUSTER_WRITE_GOLDEN=<folder> writes new files.

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include "tests/scenarios/conversation.h"

namespace muster {
namespace {

using std::chrono::seconds;

rendezvous::JobSpec Nodes(int min_nodes, int max_nodes) {
  rendezvous::JobSpec spec;
  spec.min_nodes = min_nodes;
  spec.max_nodes = max_nodes;
  spec.max_restarts = 1;
  return spec;
}

rendezvous::JobSpec Hurried(rendezvous::JobSpec spec) {
  spec.join_timeout = seconds(90);
  return spec;
}

struct Scenario {
  const char* name;
  rendezvous::JobSpec spec;
  std::function<void(Conversation&)> play;
};

void Begin(Conversation& talk, std::initializer_list<const char*> nodes) {
  talk.Say("They start one after the other.");
  for (const char* node : nodes) talk.Start(node);
}

std::vector<Scenario> Scenarios() {
  return {
      {"success", Nodes(2, 2),
       [](Conversation& talk) {
         Begin(talk, {"node10", "node2"});
         talk.Say("All workers succeed.");
         talk.WorkersSucceed("node2");
         talk.WorkersSucceed("node10");
       }},
      {"worker_killed", Nodes(2, 2),
       [](Conversation& talk) {
         Begin(talk, {"a", "b"});
         talk.Say("A worker of b fails.");
         talk.WorkerExits("b", 1, 3);
         talk.Say("It fails again, and no restart is left.");
         talk.WorkerExits("b", 1, 3);
       }},
      {"node_lost_with_spare", Nodes(2, 2),
       [](Conversation& talk) {
         Begin(talk, {"a", "b", "c"});
         talk.Say("a's machine goes; c waits as a spare.");
         talk.Kill("a");
         talk.Wait(seconds(1));
         talk.Say("Everybody succeeds.");
         talk.WorkersSucceed("b");
         talk.WorkersSucceed("c");
       }},
      {"victims_are_not_blamed", Nodes(1, 2),
       [](Conversation& talk) {
         Begin(talk, {"a", "b"});
         talk.Say("b's machine goes, and a's workers fail of it at once.");
         talk.Kill("b");
         talk.WorkerExits("a", 0, 1);
         talk.Wait(seconds(1));
       }},
      {"scale_up", Nodes(1, 3),
       [](Conversation& talk) {
         Begin(talk, {"a"});
         talk.Say("Nobody else comes during the last call.");
         talk.Wait(seconds(31));
         talk.Say("b comes, and is let in after the cool-down.");
         talk.Start("b");
         talk.Wait(seconds(10));
         talk.Say("So is c.");
         talk.Start("c");
         talk.Wait(seconds(10));
       }},
      {"drained", Nodes(1, 2),
       [](Conversation& talk) {
         Begin(talk, {"a", "b"});
         talk.Say("An operator takes a out.");
         talk.Drain("a");
         talk.Say("And then b, which is too many.");
         talk.Drain("b");
       }},
      {"cancelled", Nodes(2, 2),
       [](Conversation& talk) {
         Begin(talk, {"a", "b"});
         talk.Say("Ctrl-C at b.");
         talk.Signal("b", SIGINT);
       }},
      {"preempted", Nodes(2, 2),
       [](Conversation& talk) {
         Begin(talk, {"a", "b"});
         talk.Say(
             "The cluster announces at b that it takes the nodes away;"
             " workers die of the signal.");
         talk.Signal("b", SIGUSR1);
       }},
      {"preempted_while_gathering", Nodes(2, 2),
       [](Conversation& talk) {
         Begin(talk, {"a"});
         talk.Say("The cluster takes the node away before b has come.");
         talk.Signal("a", SIGUSR1);
       }},
      {"unhealthy_kept_out", Hurried(Nodes(2, 2)),
       [](Conversation& talk) {
         talk.Unhealthy("b", "a GPU has fallen off the bus");
         Begin(talk, {"a", "b"});
         talk.Say("Somebody resets the GPU.");
         talk.Unhealthy("b", "");
         talk.Wait(seconds(31));
         talk.Say("A worker of a fails, and b's GPU with it.");
         talk.Unhealthy("b", "a GPU has fallen off the bus");
         talk.WorkerExits("a", 0, 3);
         talk.Say("Nobody helps.");
         talk.Wait(seconds(91));
       }},
      {"too_few", Nodes(2, 2),
       [](Conversation& talk) {
         Begin(talk, {"a"});
         talk.Say("Nobody comes.");
         talk.Wait(seconds(601));
       }},
  };
}

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class ScenariosTest : public ::testing::TestWithParam<Scenario> {};

TEST_P(ScenariosTest, TranscriptsEqualTheGoldenFiles) {
  const Scenario scenario = GetParam();
  Conversation talk(scenario.spec);
  scenario.play(talk);
  const std::string file = std::string(scenario.name) + ".txt";
  if (const char* folder = std::getenv("MUSTER_WRITE_GOLDEN")) {
    std::ofstream(std::string(folder) + "/" + file) << talk.transcript();
  }
  EXPECT_EQ(talk.transcript(), Read("tests/scenarios/golden/" + file));
}

INSTANTIATE_TEST_SUITE_P(
    All, ScenariosTest, ::testing::ValuesIn(Scenarios()),
    [](const ::testing::TestParamInfo<Scenario>& scenario) {
      return std::string(scenario.param.name);
    });

}  // namespace
}  // namespace muster
