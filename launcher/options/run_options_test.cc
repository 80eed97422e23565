#include "launcher/options/run_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <functional>

#include "launcher/options/flag_table.h"

namespace muster::launcher {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Environment = std::map<std::string, std::string>;

absl::StatusOr<ParsedOptions> Parse(std::vector<std::string> args,
                                    const Environment& environment = {}) {
  return ParseRunOptions(FlagsOf(FlagUser::kLaunchOnly), args, environment);
}

RunOptions Options(std::vector<std::string> args,
                   const Environment& environment = {}) {
  args.push_back("train.py");
  absl::StatusOr<ParsedOptions> parsed = Parse(std::move(args), environment);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? parsed->options : RunOptions();
}

std::string Error(std::vector<std::string> args,
                  const Environment& environment = {}) {
  absl::StatusOr<ParsedOptions> parsed = Parse(std::move(args), environment);
  return parsed.ok() ? "" : std::string(parsed.status().message());
}

// A test case for one flag of torchrun: a valid value, its effect on the
// options, and an invalid value.
struct FlagCase {
  const char* name;
  const char* good;
  std::function<bool(const RunOptions&)> took;
  const char* bad;         // an invalid value; nullptr: every text is valid
  const char* underscore;  // the flag's name written with underscores
};

std::vector<FlagCase> TorchrunFlags() {
  using O = const RunOptions&;
  return {
      {"nnodes", "2:4",
       [](O o) { return o.spec.min_nodes == 2 && o.spec.max_nodes == 4; },
       "4:2", "nnodes"},
      {"nproc-per-node", "8", [](O o) { return o.workers_per_node == "8"; },
       "0", "nproc_per_node"},
      {"rdzv-backend", "c10d",
       [](O o) { return o.backend == RendezvousBackend::kDynamic; }, "etcd",
       "rdzv_backend"},
      {"rdzv-endpoint", "node1:1234",
       [](O o) {
         return rendezvous::EndpointsText(o.endpoints) == "node1:1234";
       },
       "node1:port", "rdzv_endpoint"},
      {"rdzv-id", "job-7", [](O o) { return o.run_id == "job-7"; }, "a/b",
       "rdzv_id"},
      {"rdzv-conf", "join_timeout=9,is_host=1",
       [](O o) {
         return o.spec.join_timeout == std::chrono::seconds(9) &&
                o.hosting == Hosting::kAlways;
       },
       "jion_timeout=9", "rdzv_conf"},
      {"standalone", "1", [](O o) { return o.standalone == Standalone::kYes; },
       "2", "standalone"},
      {"max-restarts", "3", [](O o) { return o.spec.max_restarts == 3; }, "-1",
       "max_restarts"},
      {"monitor-interval", "0.5", [](O) { return true; }, "soon",
       "monitor_interval"},
      {"start-method", "fork", [](O o) { return o.remarks.size() == 1; },
       "thread", "start_method"},
      {"event-log-handler", "console",
       [](O o) { return o.remarks.size() == 1; }, "nosuch",
       "event_log_handler"},
      {"role", "trainer", [](O o) { return o.role == "trainer"; }, "a b",
       "role"},
      {"module", "1", [](O o) { return o.interpreter == Interpreter::kModule; },
       "maybe", "module"},
      {"no-python", "1",
       [](O o) { return o.interpreter == Interpreter::kNoPython; }, "maybe",
       "no_python"},
      {"run-path", "1",
       [](O o) { return o.interpreter == Interpreter::kRunPath; }, "maybe",
       "run_path"},
      {"log-dir", "/logs", [](O o) { return o.log_dir == "/logs"; }, nullptr,
       "log_dir"},
      {"redirects", "3",
       [](O o) { return o.logs.redirects.For(5) == agent::StreamSet::kBoth; },
       "4", "redirects"},
      {"tee", "0:1,1:2",
       [](O o) {
         return o.logs.tee.For(0) == agent::StreamSet::kOut &&
                o.logs.tee.For(1) == agent::StreamSet::kErr;
       },
       "x:1", "tee"},
      {"local-ranks-filter", "0,2",
       [](O o) {
         return o.logs.console_local_ranks == std::set<int>{0, 2};
       },
       "0,x", "local_ranks_filter"},
      {"duplicate-stdout-filters", "apple,pear",
       [](O o) {
         return o.logs.stdout_filters ==
                std::vector<std::string>{"apple", "pear"};
       },
       nullptr, "duplicate_stdout_filters"},
      {"duplicate-stderr-filters", "plum",
       [](O o) {
         return o.logs.stderr_filters == std::vector<std::string>{"plum"};
       },
       nullptr, "duplicate_stderr_filters"},
      {"node-rank", "1", [](O o) { return o.node_rank == 1; }, "-1",
       "node_rank"},
      {"master-addr", "10.0.0.1",
       [](O o) { return o.master.host == "10.0.0.1"; }, "node 1",
       "master_addr"},
      {"master-port", "2000",
       [](O o) { return o.master_port == 2000 && o.master.port == 2000; },
       "65536", "master_port"},
      {"local-addr", "10.0.0.2", [](O o) { return o.local_addr == "10.0.0.2"; },
       "10.0.0.2:80", "local_addr"},
      {"logs-specs", "default", [](O o) { return o.remarks.empty(); }, "mine",
       "logs_specs"},
      {"numa-binding", "socket",
       [](O o) { return o.binding == agent::Binding::kSocket; }, "pod",
       "numa_binding"},
      {"signals-to-handle", "SIGTERM,SIGUSR1",
       [](O o) {
         return o.signals_to_handle == std::vector<int>{SIGTERM, SIGUSR1} &&
                o.signals_to_handle_text == "SIGTERM,SIGUSR1";
       },
       "SIGKILL", "signals_to_handle"},
      {"shutdown-timeout", "5",
       [](O o) { return o.spec.shutdown_timeout == std::chrono::seconds(5); },
       "-5", "shutdown_timeout"},
      {"virtual-local-rank", "1",
       [](O o) { return o.local_ranks == LocalRanks::kVirtual; }, "x",
       "virtual_local_rank"},
  };
}

bool IsSwitch(const std::string& name) {
  const std::vector<Flag> flags = FlagsOf(FlagUser::kLaunchOnly);
  return FindFlag(flags, name)->IsSwitch();
}

std::string PetNameOf(const std::string& name) {
  const std::vector<Flag> flags = FlagsOf(FlagUser::kLaunchOnly);
  return PetName(*FindFlag(flags, name));
}

// Whether a valid value of `flag` changes RunOptions. False for two flags of
// torchrun that have no effect in Muster.
bool Shows(const FlagCase& flag) {
  return std::string(flag.name) != "monitor-interval" &&
         std::string(flag.name) != "logs-specs";
}
bool CanBeWrong(const FlagCase& flag) { return flag.bad != nullptr; }
// Whether an invalid value in the flag's environment variable (PET_...) is an
// error. False for two flags that have no such variable.
bool PetCanBeWrong(const FlagCase& flag) {
  return CanBeWrong(flag) && std::string(flag.name) != "numa-binding" &&
         std::string(flag.name) != "logs-specs";
}

std::vector<FlagCase> TorchrunFlagsThat(bool (*hold)(const FlagCase&)) {
  std::vector<FlagCase> flags = TorchrunFlags();
  flags.erase(std::remove_if(flags.begin(), flags.end(), std::not_fn(hold)),
              flags.end());
  return flags;
}

std::string NameOf(const ::testing::TestParamInfo<FlagCase>& flag) {
  std::string name = flag.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class EveryFlag : public ::testing::TestWithParam<FlagCase> {};
class EveryFlagThatShows : public EveryFlag {};
class EveryFlagThatCanBeWrong : public EveryFlag {};
class EveryPetVariableThatCanBeWrong : public EveryFlag {};

INSTANTIATE_TEST_SUITE_P(Torchrun, EveryFlag,
                         ::testing::ValuesIn(TorchrunFlags()), NameOf);
INSTANTIATE_TEST_SUITE_P(Torchrun, EveryFlagThatShows,
                         ::testing::ValuesIn(TorchrunFlagsThat(Shows)), NameOf);
INSTANTIATE_TEST_SUITE_P(Torchrun, EveryFlagThatCanBeWrong,
                         ::testing::ValuesIn(TorchrunFlagsThat(CanBeWrong)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Torchrun, EveryPetVariableThatCanBeWrong,
                         ::testing::ValuesIn(TorchrunFlagsThat(PetCanBeWrong)),
                         NameOf);

TEST_P(EveryFlagThatShows, DoesNotShowUnlessGiven) {
  EXPECT_FALSE(GetParam().took(Options({})));
}

TEST_P(EveryFlag, IsTakenWithDashes) {
  const std::string flag = std::string("--") + GetParam().name;
  EXPECT_TRUE(GetParam().took(Options({flag + "=" + GetParam().good})));
  if (IsSwitch(GetParam().name)) {
    EXPECT_TRUE(GetParam().took(Options({flag})));
  } else {
    EXPECT_TRUE(GetParam().took(Options({flag, GetParam().good})));
  }
}

TEST_P(EveryFlag, IsTakenWithUnderscores) {
  const std::string flag = std::string("--") + GetParam().underscore;
  EXPECT_TRUE(GetParam().took(Options({flag + "=" + GetParam().good})));
  if (!IsSwitch(GetParam().name)) {
    EXPECT_TRUE(GetParam().took(Options({flag, GetParam().good})));
  }
}

TEST_P(EveryFlagThatShows, IsTakenFromItsPetVariable) {
  const std::string name = GetParam().name;
  const Environment environment = {{PetNameOf(name), GetParam().good}};
  const bool excepted = name == "logs-specs" || name == "numa-binding";
  EXPECT_EQ(GetParam().took(Options({}, environment)), !excepted);
}

TEST_P(EveryFlagThatCanBeWrong, OnTheCommandLineWinsOverItsPetVariable) {
  const std::string name = GetParam().name;
  const Environment environment = {{PetNameOf(name), GetParam().bad}};
  EXPECT_TRUE(GetParam().took(
      Options({"--" + name + "=" + GetParam().good}, environment)));
}

TEST_P(EveryFlagThatCanBeWrong, IsNamedInOneLineWithItsWrongValue) {
  const std::string name = GetParam().name;
  const std::string bad = GetParam().bad;
  const std::string error = Error({"--" + name + "=" + bad, "train.py"});
  EXPECT_THAT(error, StartsWith("--" + name + "=" + bad + ": "));
  EXPECT_THAT(error, HasSubstr(";")) << "what to do";
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

TEST_P(EveryPetVariableThatCanBeWrong, IsNamed) {
  const std::string name = GetParam().name;
  const Environment environment = {{PetNameOf(name), GetParam().bad}};
  EXPECT_THAT(Error({"train.py"}, environment),
              StartsWith(PetNameOf(name) + "=" + GetParam().bad + ": "));
}

TEST(RunOptions, DefaultsAreTorchruns) {
  const RunOptions options = Options({});
  EXPECT_EQ(options.spec.min_nodes, 1);
  EXPECT_EQ(options.spec.max_nodes, 1);
  EXPECT_EQ(options.workers_per_node, "1");
  EXPECT_EQ(options.backend, RendezvousBackend::kStatic);
  EXPECT_TRUE(options.endpoints.empty());
  EXPECT_EQ(options.run_id, "none");
  EXPECT_EQ(options.spec.max_restarts, 0);
  EXPECT_EQ(options.role, "default");
  EXPECT_FALSE(options.node_rank.has_value());
  EXPECT_EQ(options.master.ToString(), "127.0.0.1:29500");
  EXPECT_FALSE(options.master_port.has_value());
  EXPECT_EQ(options.signals_to_handle_text, "SIGTERM,SIGINT,SIGHUP,SIGQUIT");
  EXPECT_THAT(options.signals_to_handle,
              ElementsAre(SIGTERM, SIGINT, SIGHUP, SIGQUIT));
  EXPECT_EQ(options.spec.shutdown_timeout, std::chrono::seconds(30));
  EXPECT_EQ(options.spec.join_timeout, std::chrono::seconds(600));
  EXPECT_EQ(options.spec.last_call, std::chrono::seconds(30));
  EXPECT_EQ(options.close_timeout, std::chrono::seconds(30));
  EXPECT_TRUE(options.remarks.empty());
}

TEST(RunOptions, MixedDashesAndUnderscores) {
  EXPECT_EQ(Options({"--nproc-per_node=3"}).workers_per_node, "3");
  EXPECT_EQ(Options({"--nproc_per-node", "gpu"}).workers_per_node, "gpu");
}

TEST(RunOptions, ShortForms) {
  EXPECT_EQ(Options({"-r", "3"}).logs.redirects.all, agent::StreamSet::kBoth);
  EXPECT_EQ(Options({"-r3"}).logs.redirects.all, agent::StreamSet::kBoth);
  EXPECT_EQ(Options({"-r=3"}).logs.redirects.all, agent::StreamSet::kBoth);
  EXPECT_EQ(Options({"-t", "1"}).logs.tee.all, agent::StreamSet::kOut);
  EXPECT_EQ(Options({"-m"}).interpreter, Interpreter::kModule);
}

TEST(RunOptions, TheLastOfARepeatedFlagHolds) {
  EXPECT_EQ(Options({"--rdzv-id=a", "--rdzv-id=b"}).run_id, "b");
}

TEST(RunOptions, ArgumentsAfterTheScriptAreTheScripts) {
  const absl::StatusOr<ParsedOptions> parsed =
      Parse({"--nnodes=1", "train.py", "--nnodes=9", "--lr_max", "--", "-r",
             "--bogus=", "--help", "[1,2]"});
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_THAT(parsed->options.program,
              ElementsAre("train.py", "--nnodes=9", "--lr_max", "--", "-r",
                          "--bogus=", "--help", "[1,2]"));
  EXPECT_EQ(parsed->request, Request::kRun);
}

TEST(RunOptions, ADoubleDashEndsOurFlags) {
  const absl::StatusOr<ParsedOptions> parsed =
      Parse({"--nnodes=1", "--", "--odd", "--", "x"});
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_THAT(parsed->options.program, ElementsAre("--odd", "--", "x"));
}

TEST(RunOptions, AnEmptyValueDoesNotSwallowTheScript) {
  const absl::StatusOr<ParsedOptions> parsed =
      Parse({"--rdzv-endpoint=", "train.py"});
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_TRUE(parsed->options.endpoints.empty());
  EXPECT_THAT(parsed->options.program, ElementsAre("train.py"));
}

TEST(RunOptions, SeveralEndpointsAreReadInTheirOrder) {
  EXPECT_EQ(rendezvous::EndpointsText(
                Options({"--rdzv-endpoint=a:1,[::1],c"}).endpoints),
            "a:1,[::1]:29400,c:29400");
  EXPECT_THAT(Error({"--rdzv-endpoint=a,,b", "x"}),
              StartsWith("--rdzv-endpoint=a,,b: endpoint 2 of 3 is empty"));
  EXPECT_THAT(Error({"--rdzv-endpoint=a,a:29400", "x"}),
              HasSubstr("a:29400 is given twice"));
}

TEST(RunOptions, ANodeDoesNotHostWhereDaemonsDo) {
  const auto error = [](const char* endpoints, const char* conf) {
    return Error({endpoints, conf, "x"});
  };
  EXPECT_THAT(error("--rdzv-endpoint=a,b", "--rdzv-conf=is_host=1"),
              StartsWith("--rdzv-conf=is_host=1: is_host=1 does not go with "
                         "the 2 endpoints"));
  EXPECT_EQ(error("--rdzv-endpoint=a,b", "--rdzv-conf=is_host=0"), "");
  EXPECT_EQ(error("--rdzv-endpoint=a", "--rdzv-conf=is_host=1"), "");
}

TEST(RunOptions, AnEmptyPetVariableCountsAsUnset) {
  EXPECT_EQ(Options({}, {{"PET_MAX_RESTARTS", ""}}).spec.max_restarts, 0);
}

TEST(RunOptions, TorchsVariableOfTheShutdownTimeout) {
  const std::map<std::string, std::string> said = {
      {"TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "5"}};
  const auto grace = [](const RunOptions& options) {
    return ToSeconds(options.spec.shutdown_timeout);
  };
  EXPECT_EQ(grace(Options({}, said)), 5);
  EXPECT_EQ(grace(Options({"--shutdown-timeout=6"}, said)), 6);
  std::map<std::string, std::string> both = said;
  both["PET_SHUTDOWN_TIMEOUT"] = "7";
  EXPECT_EQ(grace(Options({}, both)), 7);
  EXPECT_EQ(Parse({"a"}, {{"TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "x"}})
                .status()
                .message(),
            "TORCH_ELASTIC_SHUTDOWN_TIMEOUT=x: is not a number of seconds "
            "from 0 to one year; write for example 30");
}

TEST(RunOptions, SignalsToForwardAreNoSignalsToHandle) {
  const RunOptions options = Options({"--signals-to-forward=USR1,USR2"});
  EXPECT_THAT(options.policy.signals_to_forward, ElementsAre(SIGUSR1, SIGUSR2));
  EXPECT_EQ(options.signals_to_handle_text, "SIGTERM,SIGINT,SIGHUP,SIGQUIT");
}

TEST(RunOptions, ACompletionNeedsNothingElse) {
  const auto parsed = Parse({"--nnodes=2", "--print_completion", "zsh"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->request, Request::kCompletion);
  EXPECT_EQ(parsed->shell, "zsh");
}

TEST(RunOptions, PetSwitchesTakeZero) {
  EXPECT_EQ(Options({}, {{"PET_STANDALONE", "0"}}).standalone, Standalone::kNo);
}

TEST(RunOptions, BracketsOfIpv6AreKept) {
  const RunOptions options =
      Options({"--rdzv-endpoint", "[::1]", "--master-addr", "[::2]"});
  EXPECT_EQ(options.endpoints.front().ToString(), "[::1]:29400");
  EXPECT_EQ(options.master.host, "::2");
}

TEST(RunOptions, EveryKeyOfRdzvConf) {
  const RunOptions options = Options(
      {"--rdzv-conf",
       "join_timeout=1,rejoin_timeout=6,last_call_timeout=2,close_timeout=3,"
       "keep_alive_interval=0.5,keep_alive_max_attempt=7,read_timeout=9,"
       "is_host=false,mixed_nodes=1"});
  EXPECT_TRUE(options.spec.mixed_nodes);
  EXPECT_EQ(options.spec.join_timeout, std::chrono::seconds(1));
  EXPECT_EQ(options.spec.rejoin_timeout, std::chrono::seconds(6));
  EXPECT_EQ(options.spec.last_call, std::chrono::seconds(2));
  EXPECT_EQ(options.close_timeout, std::chrono::seconds(3));
  EXPECT_EQ(options.spec.keep_alive_interval, std::chrono::milliseconds(500));
  EXPECT_EQ(options.spec.keep_alive_misses, 7);
  EXPECT_EQ(options.policy.connect_timeout, std::chrono::seconds(9));
  EXPECT_EQ(options.hosting, Hosting::kNever);
  EXPECT_EQ(Options({"--rdzv-conf=timeout=4"}).spec.join_timeout,
            std::chrono::seconds(4));
  EXPECT_EQ(Options({"--rdzv-conf=join_timeout=5,timeout=4"}).spec.join_timeout,
            std::chrono::seconds(5));
  EXPECT_EQ(Options({"--rdzv-conf=join_timeout=5"}).spec.rejoin_timeout,
            std::chrono::seconds(5));
}

TEST(RunOptions, KeysOfTorchrunsOwnRendezvousAreTaken) {
  const std::string keys =
      "heartbeat_timeout=5,cas_backoff_max_seconds=0.5,rank=1";
  EXPECT_THAT(Options({"--rdzv-conf=store_type=tcp," + keys}).remarks,
              IsEmpty());
  EXPECT_THAT(Options({"--rdzv-conf=store_type=file"}).remarks, IsEmpty())
      << "one node meets nobody";
  EXPECT_THAT(Options({"--nnodes=2", "--rdzv-conf=store_type=file"}).remarks,
              ElementsAre(HasSubstr("store_type=file has no effect")));
  for (const std::string slip :
       {"store_type=etcd", "heartbeat_timeout=x", "rank=first"}) {
    EXPECT_THAT(Error({"--rdzv-conf=" + slip, "a.py"}),
                AllOf(HasSubstr(slip + " "), Not(HasSubstr("unknown key"))));
  }
}

TEST(RunOptions, AnUnknownKeyListsTheKnownOnes) {
  const std::string error = Error({"--rdzv-conf=jion=1", "x"});
  EXPECT_THAT(error, HasSubstr("jion is an unknown key"));
  EXPECT_THAT(error, HasSubstr("keep_alive_max_attempt"));
}

TEST(RunOptions, AnUnknownFlagSuggestsTheNearest) {
  EXPECT_EQ(Error({"--nproc-per-nod=2", "x"}),
            "--nproc-per-nod: unknown flag; did you mean --nproc-per-node?");
  EXPECT_EQ(Error({"--standalon", "x"}),
            "--standalon: unknown flag; did you mean --standalone?");
  EXPECT_THAT(Error({"--zzzzzzzz", "x"}), StartsWith("--zzzzzzzz: unknown"));
  EXPECT_THAT(Error({"-q", "x"}), StartsWith("-q: unknown flag"));
}

TEST(RunOptions, AMissingValueIsNamed) {
  EXPECT_THAT(Error({"--nnodes"}),
              StartsWith("--nnodes: its value is missing; write --nnodes="));
  EXPECT_THAT(Error({"--role", "--tee", "3", "x"}),
              StartsWith("--role: its value is missing (found --tee"));
  EXPECT_THAT(Error({"-r"}), StartsWith("--redirects: its value is missing"));
}

TEST(RunOptions, ContradictingInterpretersAreRefused) {
  EXPECT_THAT(Error({"-m", "--no-python", "x"}), StartsWith("--no-python: "));
  EXPECT_THAT(Error({"-m", "--run-path", "x"}), StartsWith("--run-path: "));
  EXPECT_EQ(Options({"--run-path", "--no-python"}).interpreter,
            Interpreter::kRunPath);
}

TEST(RunOptions, AProgramIsNeeded) {
  EXPECT_THAT(Error({}), StartsWith("no program: "));
  EXPECT_THAT(Error({"--nnodes=2"}), StartsWith("no program: "));
}

TEST(RunOptions, EtcdErrorNamesTheAlternative) {
  EXPECT_THAT(Error({"--rdzv-backend=etcd-v2", "x"}),
              HasSubstr("write c10d and --rdzv-endpoint"));
}

TEST(RunOptions, HelpAndVersionNeedNothingElse) {
  EXPECT_EQ(Parse({"--help"})->request, Request::kHelp);
  EXPECT_EQ(Parse({"-h", "--nnodes=9:1"})->request, Request::kHelp);
  EXPECT_EQ(Parse({"--version"})->request, Request::kVersion);
}

TEST(RunOptions, OurOwnFlags) {
  const RunOptions options = Options(
      {"--token-file=/t", "--node-id=n7", "--gpus=0,GPU-1",
       "--wait-for-replacement=4", "--scale-up=never", "--scale-up-cooldown=6",
       "--signals-to-leave=SIGTERM", "--log-rotate-mb=1", "--connect-timeout=2",
       "--coordinator-timeout=3", "--state-dir=/s", "--on-quarantine=drain it",
       "--quarantine=off", "--quiet"});
  EXPECT_EQ(options.token_file, "/t");
  EXPECT_EQ(options.state_dir, "/s");
  EXPECT_EQ(options.on_quarantine, "drain it");
  EXPECT_EQ(options.quarantine, rendezvous::Quarantine::kOff);
  EXPECT_EQ(options.node_id, "n7");
  EXPECT_THAT(options.gpus, ElementsAre("0", "GPU-1"));
  EXPECT_EQ(options.spec.wait_for_replacement, std::chrono::seconds(4));
  EXPECT_EQ(options.spec.scale_up, rendezvous::ScaleUp::kNever);
  EXPECT_EQ(options.spec.scale_up_cool_down, std::chrono::seconds(6));
  EXPECT_THAT(options.policy.signals_to_leave, ElementsAre(SIGTERM));
  EXPECT_EQ(options.logs.rotate_bytes, 1 << 20);
  EXPECT_EQ(options.policy.connect_timeout, std::chrono::seconds(2));
  EXPECT_EQ(options.policy.coordinator_timeout, std::chrono::seconds(3));
  EXPECT_EQ(options.verbosity, Verbosity::kQuiet);
}

TEST(RunOptions, TheAgentTakesNoFlagOfLaunchAlone) {
  const absl::StatusOr<ParsedOptions> parsed = ParseRunOptions(
      FlagsOf(FlagUser::kLaunchAndAgent), {"--standalone", "x"}, {});
  EXPECT_THAT(std::string(parsed.status().message()),
              StartsWith("--standalone: unknown flag"));
}

TEST(RunOptions, AStateFolderThatNoShellHasExpandedIsRefused) {
  EXPECT_THAT(Error({"--state-dir=~/state", "p"}),
              StartsWith("--state-dir=~/state: "));
}

TEST(RunOptionsTest, RepeatedConfigAndTopologyAreRefused) {
  EXPECT_THAT(Error({"--config=a.yaml", "--config=b.yaml", "p"}),
              StartsWith("--config: given more than once"));
  EXPECT_EQ(Error({"--topology=rack=1,block=2,rack=3", "p"}),
            "--topology=rack=1,block=2,rack=3: has rack twice; a node has one "
            "of each");
  EXPECT_EQ(Options({"--nnodes=2", "--nnodes=3"}).spec.max_nodes, 3);
}

TEST(RunOptionsTest, HangTimeout) {
  const auto of = [](const std::string& text) {
    return ParseRunOptions(FlagsOf(FlagUser::kLaunchOnly),
                           {"--hang-timeout=" + text, "a.py"}, {});
  };
  EXPECT_EQ(of("auto")->options.policy.hangs.detection,
            agent::HangDetection::kLearned);
  EXPECT_EQ(of("off")->options.policy.hangs.detection,
            agent::HangDetection::kOff);
  EXPECT_EQ(of("90.5")->options.policy.hangs.detection,
            agent::HangDetection::kGiven);
  EXPECT_EQ(of("90.5")->options.policy.hangs.timeout,
            std::chrono::milliseconds(90500));
  for (const char* text : {"0", "-1", "soon", ""}) {
    EXPECT_THAT(std::string(of(text).status().message()),
                HasSubstr("neither a number of seconds above 0 nor auto"))
        << text;
  }
}

// Resets the fields that `launch` sets only if their flag is given. The test
// below cannot compare these fields, because their default differs from the
// default in the help text.
RunOptions WithoutShownDefaults(RunOptions options) {
  options.master_port.reset();
  options.logs.rotation = agent::LogPlan::Rotation::kOfShownStreams;
  options.remarks.clear();
  return options;
}

TEST(FlagTable, TheDefaultOfEveryRowIsTheDefaultOfItsField) {
  for (const Flag& flag : FlagsOf(FlagUser::kLaunchOnly)) {
    if (flag.read == nullptr || flag.default_text[0] == '\0') continue;
    RunOptions options;
    EXPECT_TRUE(flag.read(flag.default_text, options).ok()) << flag.name;
    EXPECT_TRUE(WithoutShownDefaults(options) == RunOptions()) << flag.name;
  }
  for (const RdzvConfKey& key : RdzvConfKeys()) {
    if (key.default_text[0] == '\0') continue;
    RunOptions options;
    EXPECT_TRUE(key.read(key.default_text, options).ok()) << key.key;
    EXPECT_TRUE(options == RunOptions()) << key.key;
  }
}

TEST(FlagTable, EverySwitchThatIsOffLeavesTheDefaults) {
  for (const Flag& flag : FlagsOf(FlagUser::kLaunchOnly)) {
    if (flag.read == nullptr || !flag.IsSwitch()) continue;
    RunOptions options;
    EXPECT_TRUE(flag.read("0", options).ok()) << flag.name;
    EXPECT_TRUE(options == RunOptions()) << flag.name;
  }
}

TEST(FlagTable, ANeededFlagExists) {
  const std::vector<Flag> flags = FlagsOf(FlagUser::kLaunchOnly);
  for (const Flag& flag : flags) {
    if (flag.needs != nullptr) {
      EXPECT_NE(FindFlag(flags, flag.needs), nullptr) << flag.name;
    }
  }
}

TEST(StdinOption, ARankReadsIt) {
  EXPECT_EQ(Options({"--stdin=1"}).input.rank, 1);
}

TEST(EncryptOption, IsReadFromTheCommandLineAndTheEnvironment) {
  using rendezvous::Encryption;
  EXPECT_EQ(Options({}).spec.encryption, Encryption::kNone);
  EXPECT_EQ(Options({"--encrypt=workers"}).spec.encryption,
            Encryption::kWorkers);
  EXPECT_EQ(Options({}, {{"MUSTER_ENCRYPT", "workers"}}).spec.encryption,
            Encryption::kWorkers);
  EXPECT_EQ(Options({"--encrypt=none"}, {{"MUSTER_ENCRYPT", "workers"}})
                .spec.encryption,
            Encryption::kNone);
  EXPECT_THAT(Error({"--encrypt=all", "x"}), HasSubstr("write none, workers"));
}

TEST(EncryptOption, StoreIsReachedThroughTheAgent) {
  EXPECT_EQ(Options({}).store_path, agent::StorePath::kDirect);
  EXPECT_EQ(Options({"--encrypt=workers"}).store_path,
            agent::StorePath::kThroughAgent);
  EXPECT_THAT(Error({"--encrypt=workers", "--worker-store", "x"}),
              HasSubstr("the store of a worker (--worker-store)"));
}

TEST(EncryptOption, KeysDoNotCrossANetworkInClearText) {
  const auto check = [](std::vector<std::string> args,
                        const std::string& token = "") {
    args.push_back("--encrypt=workers");
    return std::string(CheckEncryption(Options(args), token).message());
  };
  const std::vector<std::string> two = {"--nnodes=2",
                                        "--rdzv-endpoint=a:29400"};
  EXPECT_THAT(check(two), HasSubstr("MUSTER_TOKEN or --token-file"));
  EXPECT_EQ(check(two, "secret"), "");
  std::vector<std::string> with_tls = {"--tls-cert=c", "--tls-key=k",
                                       "--tls-ca=a"};
  with_tls.insert(with_tls.end(), two.begin(), two.end());
  EXPECT_EQ(check(with_tls), "");
  EXPECT_EQ(check({"--nnodes=1", "--rdzv-endpoint=a:29400"}), "");
  EXPECT_EQ(check({"--nnodes=2", "--rdzv-endpoint=127.0.0.1:29400"}), "")
      << "the key stays on this machine";
  EXPECT_EQ(check({"--nnodes=2", "--rdzv-endpoint=127.0.0.1:1,127.0.0.1:2"}),
            "");
  EXPECT_THAT(check({"--nnodes=2", "--rdzv-endpoint=127.0.0.1:1,a:2"}),
              HasSubstr("MUSTER_TOKEN or --token-file"));
  EXPECT_EQ(CheckEncryption(Options(two), ""), absl::OkStatus());
}

TEST(StdinOption, AnythingElseThanARankIsRefused) {
  EXPECT_THAT(Error({"--stdin=first", "train.py"}),
              StartsWith("--stdin=first: is no rank"));
}

TEST(StdinOption, AgentsThatAreStartedFromHereHaveNone) {
  EXPECT_THAT(Error({"--slurm", "--stdin=0", "train.py"}),
              StartsWith("--stdin=0: the agents that --hostfile and --slurm "
                         "start have no stdin"));
}

TEST(RunOptions, StoreClientsAreAddressesAndNetworks) {
  EXPECT_THAT(Options({}).store_clients, IsEmpty());
  EXPECT_THAT(
      Options({"--store-clients=10.0.0.2,10.1.0.0/16,any"}).store_clients,
      ElementsAre("10.0.0.2", "10.1.0.0/16", "any"));
  EXPECT_THAT(Error({"--store-clients=10.0.0.2,node2", "a.py"}),
              HasSubstr("\"node2\" is neither an IP address nor a network"));
}

}  // namespace
}  // namespace muster::launcher
