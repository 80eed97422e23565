#include "trainer_sdk/session/session_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace muster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Environment = std::map<std::string, std::string>;

Environment With(Environment base, const Environment& changes) {
  for (const auto& [name, value] : changes) base[name] = value;
  return base;
}

Environment Without(Environment base, const std::string& name) {
  base.erase(name);
  return base;
}

std::string Refusal(const Environment& environment) {
  absl::Status refused = PlanSession(environment).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_EQ(refused.message().find('\n'), absl::string_view::npos);
  return std::string(refused.message());
}

const Environment kTorchrun = {
    {"RANK", "5"},
    {"LOCAL_RANK", "1"},
    {"WORLD_SIZE", "8"},
    {"LOCAL_WORLD_SIZE", "4"},
    {"GROUP_RANK", "1"},
    {"GROUP_WORLD_SIZE", "2"},
    {"MASTER_ADDR", "node0"},
    {"MASTER_PORT", "29400"},
    {"TORCHELASTIC_RESTART_COUNT", "3"},
    {"TORCHELASTIC_RUN_ID", "abc"},
    {"TORCHELASTIC_USE_AGENT_STORE", "True"},
};

const Environment kOpenMpi = {
    {"OMPI_COMM_WORLD_RANK", "2"},       {"OMPI_COMM_WORLD_SIZE", "4"},
    {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
    {"PMIX_NAMESPACE", "1973616641"},    {"PMIX_RANK", "2"},
};

const Environment kSlurm = {
    {"SLURM_JOB_ID", "4711"},
    {"SLURM_STEP_ID", "2"},
    {"SLURM_PROCID", "5"},
    {"SLURM_LOCALID", "1"},
    {"SLURM_NODEID", "2"},
    {"SLURM_NTASKS", "6"},
    {"SLURM_STEP_NUM_TASKS", "6"},
    {"SLURM_NNODES", "3"},
    {"SLURM_STEP_NUM_NODES", "3"},
    {"SLURM_STEP_TASKS_PER_NODE", "2(x3)"},
    {"SLURM_JOB_NODELIST", "gpu[001-064]"},
    {"SLURM_STEP_NODELIST", "gpu[007-008,020]"},
    {"SLURM_RESTART_COUNT", "1"},
};

TEST(PlanSession, WithoutALauncherItIsAlone) {
  const SessionPlan plan = PlanSession({{"PATH", "/bin"}}).value();
  EXPECT_EQ(plan.launcher, Launcher::kAlone);
  EXPECT_EQ(plan.rank, 0);
  EXPECT_EQ(plan.world_size, 1);
  EXPECT_EQ(plan.local_world_size, 1);
  EXPECT_EQ(plan.group_rank, 0);
  EXPECT_EQ(plan.group_world_size, 1);
  EXPECT_EQ(plan.store_place, StorePlace::kInProcess);
}

TEST(PlanSession, TorchrunSetsEverything) {
  const SessionPlan plan = PlanSession(kTorchrun).value();
  EXPECT_EQ(plan.launcher, Launcher::kTorchrun);
  EXPECT_EQ(plan.rank, 5);
  EXPECT_EQ(plan.world_size, 8);
  EXPECT_EQ(plan.local_rank, 1);
  EXPECT_EQ(plan.local_world_size, 4);
  EXPECT_EQ(plan.group_rank, 1);
  EXPECT_EQ(plan.group_world_size, 2);
  EXPECT_EQ(plan.restart_count, 3);
  EXPECT_EQ(plan.run_id, "abc");
  EXPECT_EQ(plan.store_place, StorePlace::kAgent);
  EXPECT_EQ(plan.master_address, "node0");
  EXPECT_EQ(plan.master_port, 29400);
  EXPECT_EQ(plan.progress_socket, "");
}

TEST(PlanSession, LaunchSetsRoundAndSocket) {
  const SessionPlan plan =
      PlanSession(With(kTorchrun, {{"MUSTER_RUN_ID", "mine"},
                                   {"MUSTER_ROUND", "7"},
                                   {"MUSTER_PROGRESS_SOCKET", "/run/p"}}))
          .value();
  EXPECT_EQ(plan.launcher, Launcher::kMuster);
  EXPECT_EQ(plan.run_id, "mine");
  EXPECT_EQ(plan.round, 7);
  EXPECT_EQ(plan.progress_socket, "/run/p");
}

TEST(PlanSession, WithoutAnAgentStoreRankZeroServes) {
  for (const Environment& environment :
       {With(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}}),
        Without(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE")}) {
    EXPECT_EQ(PlanSession(environment)->store_place, StorePlace::kRankZero);
  }
}

TEST(PlanSession, AnAgentServesEvenAWorldOfOne) {
  const Environment one = {{"RANK", "0"},
                           {"WORLD_SIZE", "1"},
                           {"MASTER_ADDR", "h"},
                           {"MASTER_PORT", "1"}};
  EXPECT_EQ(PlanSession(one)->store_place, StorePlace::kInProcess);
  EXPECT_EQ(PlanSession(With(one, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}}))
                ->store_place,
            StorePlace::kAgent);
}

TEST(PlanSession, TheFourOfEnvMeanOneProcessANode) {
  const SessionPlan plan = PlanSession({{"RANK", "2"},
                                        {"WORLD_SIZE", "3"},
                                        {"MASTER_ADDR", "h"},
                                        {"MASTER_PORT", "29500"}})
                               .value();
  EXPECT_EQ(plan.launcher, Launcher::kEnvironment);
  EXPECT_EQ(plan.local_rank, 0);
  EXPECT_EQ(plan.local_world_size, 1);
  EXPECT_EQ(plan.group_rank, 2);
  EXPECT_EQ(plan.group_world_size, 3);
}

TEST(PlanSession, UnsetVariablesStayUnknown) {
  const SessionPlan plan = PlanSession({{"RANK", "2"},
                                        {"WORLD_SIZE", "3"},
                                        {"LOCAL_RANK", "0"},
                                        {"MASTER_ADDR", "h"},
                                        {"MASTER_PORT", "29500"}})
                               .value();
  EXPECT_EQ(plan.local_world_size, std::nullopt);
  EXPECT_EQ(plan.group_rank, std::nullopt);
  EXPECT_EQ(plan.group_world_size, std::nullopt);
}

TEST(PlanSession, MpirunOnOneHostAgreesOnAPort) {
  const SessionPlan plan = PlanSession(kOpenMpi).value();
  EXPECT_EQ(plan.launcher, Launcher::kOpenMpi);
  EXPECT_EQ(plan.rank, 2);
  EXPECT_EQ(plan.world_size, 4);
  EXPECT_EQ(plan.local_rank, 2);
  EXPECT_EQ(plan.local_world_size, 4);
  EXPECT_EQ(plan.group_rank, 0);
  EXPECT_EQ(plan.group_world_size, 1);
  EXPECT_EQ(plan.run_id, "mpi-1973616641");
  EXPECT_EQ(plan.store_place, StorePlace::kRankZero);
  EXPECT_EQ(plan.master_address, "127.0.0.1");
  EXPECT_EQ(plan.master_port, DerivedPort("mpi-1973616641"));
}

TEST(PlanSession, MpirunOnSeveralHostsNeedsTheMastersAddress) {
  const Environment two = With(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                          {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}});
  EXPECT_THAT(Refusal(two),
              AllOf(HasSubstr("MASTER_ADDR is not set"), HasSubstr("-x")));
  const SessionPlan plan =
      PlanSession(With(two, {{"MASTER_ADDR", "h"}})).value();
  EXPECT_EQ(plan.master_address, "h");
  EXPECT_EQ(plan.master_port, DerivedPort("mpi-1973616641"));
  EXPECT_EQ(plan.group_rank, std::nullopt);
}

TEST(PlanSession, GivenAddressAndPortGoBeforeDerivedOnes) {
  for (const Environment& base : {kOpenMpi, kSlurm}) {
    const SessionPlan plan =
        PlanSession(With(base, {{"MASTER_ADDR", "h"}, {"MASTER_PORT", "77"}}))
            .value();
    EXPECT_EQ(plan.master_address, "h");
    EXPECT_EQ(plan.master_port, 77);
  }
}

TEST(PlanSession, MpiexecWithoutAJobsNameNeedsThePort) {
  const Environment pmi = {{"PMI_RANK", "1"},
                           {"PMI_SIZE", "2"},
                           {"MPI_LOCALRANKID", "1"},
                           {"MPI_LOCALNRANKS", "2"}};
  EXPECT_THAT(Refusal(pmi), HasSubstr("MASTER_PORT is not set"));
  const SessionPlan plan =
      PlanSession(With(pmi, {{"MASTER_PORT", "77"}})).value();
  EXPECT_EQ(plan.launcher, Launcher::kPmi);
  EXPECT_EQ(plan.rank, 1);
  EXPECT_EQ(plan.master_address, "127.0.0.1");
  EXPECT_EQ(plan.group_world_size, 1);
}

TEST(PlanSession, SlurmStepSetsEverything) {
  const SessionPlan plan = PlanSession(kSlurm).value();
  EXPECT_EQ(plan.launcher, Launcher::kSlurm);
  EXPECT_EQ(plan.rank, 5);
  EXPECT_EQ(plan.world_size, 6);
  EXPECT_EQ(plan.local_rank, 1);
  EXPECT_EQ(plan.local_world_size, 2);
  EXPECT_EQ(plan.group_rank, 2);
  EXPECT_EQ(plan.group_world_size, 3);
  EXPECT_EQ(plan.restart_count, 1);
  EXPECT_EQ(plan.run_id, "slurm-4711.2");
  EXPECT_EQ(plan.store_place, StorePlace::kRankZero);
  EXPECT_EQ(plan.master_address, "gpu007");
  EXPECT_EQ(plan.master_port, DerivedPort("slurm-4711.2"));
}

TEST(PlanSession, ABatchScriptIsNoSlurmTask) {
  for (const Environment& script :
       {Without(kSlurm, "SLURM_STEP_ID"),
        With(kSlurm, {{"SLURM_STEP_ID", "4294967291"}}),
        Without(kSlurm, "SLURM_PROCID")}) {
    EXPECT_EQ(PlanSession(script)->launcher, Launcher::kAlone);
  }
}

TEST(PlanSession, PmiOfSrunIsSlurms) {
  const Environment pmi2 = With(kSlurm, {{"PMI_RANK", "5"}, {"PMI_SIZE", "6"}});
  EXPECT_EQ(PlanSession(pmi2)->launcher, Launcher::kSlurm);
  // mpiexec uses srun to start a helper process on each node, and the helper
  // starts the ranks. The ranks inherit the Slurm variables of the helper,
  // which are wrong for the ranks. So PMI's variables must take precedence.
  const Environment hydra = With(kSlurm, {{"PMI_RANK", "5"},
                                          {"PMI_SIZE", "24"},
                                          {"MPI_LOCALRANKID", "5"},
                                          {"MASTER_ADDR", "h"},
                                          {"MASTER_PORT", "77"}});
  EXPECT_EQ(PlanSession(hydra)->launcher, Launcher::kPmi);
  EXPECT_EQ(PlanSession(hydra)->world_size, 24);
}

TEST(PlanSession, TheNearestLauncherIsHeard) {
  // If srun starts torchrun, or mpirun runs inside a Slurm allocation, the
  // variables of the inner launcher must take precedence.
  EXPECT_EQ(PlanSession(With(kSlurm, kTorchrun))->launcher,
            Launcher::kTorchrun);
  EXPECT_EQ(PlanSession(With(kSlurm, kOpenMpi))->launcher, Launcher::kOpenMpi);
}

TEST(PlanSession, NumbersThatAreNoneAreNamed) {
  EXPECT_EQ(Refusal(With(kTorchrun, {{"RANK", "five"}})),
            "RANK=five is not a number between 0 and 1048575");
  for (const char* wrong :
       {"-1", "1.5", " 1", "0x1", "99999999999999999999", "1\n2"}) {
    for (const char* name :
         {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK",
          "GROUP_WORLD_SIZE", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"}) {
      EXPECT_THAT(Refusal(With(kTorchrun, {{name, wrong}})),
                  HasSubstr(std::string(name) + "="));
    }
  }
  EXPECT_THAT(Refusal(With(kTorchrun, {{"MASTER_PORT", "65536"}})),
              HasSubstr("between 1 and 65535"));
}

TEST(PlanSession, MissingVariableIsNamed) {
  EXPECT_EQ(Refusal(Without(kTorchrun, "WORLD_SIZE")),
            "WORLD_SIZE is not set, but RANK=" + kTorchrun.at("RANK") +
                "; set both or neither");
  EXPECT_THAT(Refusal(Without(kTorchrun, "MASTER_ADDR")),
              HasSubstr("MASTER_ADDR is not set; set it"));
  EXPECT_EQ(Refusal(With(kTorchrun, {{"MASTER_PORT", ""}})),
            "MASTER_PORT is not set, but RANK=" + kTorchrun.at("RANK") +
                "; set both or neither");
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                           "OMPI_COMM_WORLD_LOCAL_SIZE"}) {
    EXPECT_THAT(Refusal(Without(kOpenMpi, name)),
                AllOf(HasSubstr(std::string(name) + " is not set"),
                      HasSubstr("but OMPI_COMM_WORLD_RANK=")));
  }
  for (const char* name : {"SLURM_LOCALID", "SLURM_NODEID"}) {
    EXPECT_THAT(Refusal(Without(kSlurm, name)),
                AllOf(HasSubstr(std::string(name) + " is not set"),
                      HasSubstr("but SLURM_PROCID=")));
  }
}

TEST(PlanSession, ContradictionsAreNamed) {
  EXPECT_THAT(Refusal(With(kTorchrun, {{"RANK", "8"}})),
              HasSubstr("rank 8 does not exist in a world of size 8"));
  EXPECT_THAT(Refusal(With(kTorchrun, {{"LOCAL_RANK", "4"}})),
              HasSubstr("local rank 4 does not exist"));
  EXPECT_THAT(Refusal(With(kTorchrun, {{"GROUP_RANK", "2"}})),
              HasSubstr("group rank 2 does not exist"));
  EXPECT_THAT(Refusal(With(kTorchrun, {{"LOCAL_WORLD_SIZE", "9"}})),
              HasSubstr("local world size 9 is above the world size 8"));
  EXPECT_THAT(Refusal(With(kTorchrun, {{"GROUP_WORLD_SIZE", "9"}})),
              HasSubstr("group world size 9 is above the world size 8"));
  EXPECT_THAT(
      Refusal(With(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "maybe"}})),
      HasSubstr("neither True nor False"));
  EXPECT_THAT(Refusal(With(kSlurm, {{"SLURM_STEP_NODELIST", "gpu[;rm]"}})),
              HasSubstr("SLURM_STEP_NODELIST=gpu[;rm]"));
}

TEST(PlanSession, AWorldSizeForOthersIsNotTakenForOurs) {
  EXPECT_THAT(Refusal({{"WORLD_SIZE", "8"}}),
              HasSubstr("WORLD_SIZE=8, but RANK is not set"));
  EXPECT_THAT(Refusal(With(kSlurm, {{"WORLD_SIZE", "8"}})),
              HasSubstr("WORLD_SIZE=8, but the world has 6 ranks (as srun"));
  EXPECT_TRUE(PlanSession(With(kSlurm, {{"WORLD_SIZE", "6"}})).ok());
}

TEST(PlanSession, MpirunInsideAWorkerIsNotTheWorkersWorld) {
  const Environment worker = {{"RANK", "0"}, {"WORLD_SIZE", "1"}};
  EXPECT_THAT(Refusal(With(kOpenMpi, worker)),
              HasSubstr("WORLD_SIZE=1 and OMPI_COMM_WORLD_SIZE=4"));
  // mpirun may start one torchrun per node. Then mpirun's world (one process
  // per node) is smaller than torchrun's world, and this must not be rejected
  // as a contradiction.
  EXPECT_TRUE(
      PlanSession(With(kTorchrun, {{"OMPI_COMM_WORLD_SIZE", "2"}})).ok());
}

TEST(PlanSession, ALongValueIsCutInTheMessage) {
  const std::string refusal =
      Refusal(With(kTorchrun, {{"RANK", std::string(10000, '7')}}));
  EXPECT_LT(refusal.size(), 200u);
  EXPECT_THAT(refusal, Not(HasSubstr(std::string(100, '7'))));
}

TEST(DerivedPort, IsWhereFewOthersAreAndSpreads) {
  std::set<int> ports;
  for (int job = 1; job <= 100; ++job) {
    const int port = DerivedPort("slurm-" + std::to_string(job) + ".0");
    EXPECT_GE(port, 15000);
    EXPECT_LT(port, 30000);
    ports.insert(port);
  }
  EXPECT_GT(ports.size(), 97u);
  // The derived port must be the same on every host and in every version of
  // Muster.
  EXPECT_EQ(DerivedPort(""), 21945);
}

}  // namespace
}  // namespace muster
