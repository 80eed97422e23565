#include "launcher/config/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/options/flag_table.h"

namespace muster::launcher {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

const ConfigSurroundings kHere = {.file_name = "job.yaml",
                                  .working_directory = "/work",
                                  .python_path = "/lib"};

ConfigMeaning Read(const std::string& text) {
  absl::StatusOr<ConfigMeaning> meaning =
      ReadConfig(text, FlagsOf(FlagUser::kLaunchOnly), kHere);
  EXPECT_TRUE(meaning.ok()) << meaning.status();
  return meaning.ok() ? *std::move(meaning) : ConfigMeaning();
}

std::string Refused(const std::string& text) {
  return std::string(ReadConfig(text, FlagsOf(FlagUser::kLaunchOnly), kHere)
                         .status()
                         .message());
}

std::map<std::string, std::string> Flags(const ConfigMeaning& meaning) {
  std::map<std::string, std::string> flags;
  for (const auto& [name, said] : meaning.defaults.flags) {
    flags[name] = said.text;
  }
  return flags;
}

TEST(OwnConfigTest, FlagsProgramAndVariables) {
  const ConfigMeaning meaning = Read(
      "nnodes: 2:4\nnproc_per_node: gpu\nmax-restarts: 3\nquiet: yes\n"
      "module: off\nframework_env: [mpi, jax]\nprogram: [train.py, --lr, 0.1]\n"
      "env:\n  NCCL_DEBUG: INFO\n  EMPTY:\n");
  EXPECT_EQ(meaning.format, ConfigFormat::kOwn);
  EXPECT_THAT(Flags(meaning),
              UnorderedElementsAre(
                  Pair("nnodes", "2:4"), Pair("nproc-per-node", "gpu"),
                  Pair("max-restarts", "3"), Pair("quiet", "1"),
                  Pair("module", "0"), Pair("framework-env", "mpi,jax")));
  EXPECT_EQ(meaning.defaults.flags.at("nproc-per-node").origin,
            "job.yaml:2: nproc_per_node");
  EXPECT_THAT(meaning.defaults.program, ElementsAre("train.py", "--lr", "0.1"));
  EXPECT_THAT(
      meaning.defaults.worker_environment,
      UnorderedElementsAre(Pair("NCCL_DEBUG", "INFO"), Pair("EMPTY", "")));
  EXPECT_THAT(meaning.ignored, IsEmpty());
}

TEST(OwnConfigTest, AProgramsTextIsPartedAsAShellDoes) {
  EXPECT_THAT(Read("program: sh -c \"exit 3\"\n").defaults.program,
              ElementsAre("sh", "-c", "exit 3"));
  EXPECT_EQ(Refused("nnodes: 1\nprogram: sh -c 'exit 3\n"),
            "job.yaml:2: program: has a ' that is not closed; close it");
  EXPECT_THAT(Refused("program: ''\n"), HasSubstr("is empty"));
}

TEST(OwnConfigTest, VariablesThatTheAgentSetsAreRefused) {
  EXPECT_EQ(Refused("env:\n  A: 1\n  RANK: 7\n"),
            "job.yaml:3: env: RANK: is set for each worker by its place in the "
            "job; leave it out");
  EXPECT_THAT(Refused("env: {MASTER_PORT: 1}\n"), HasSubstr("MASTER_PORT"));
  EXPECT_THAT(Refused("env: {MUSTER_RUN_ID: z}\n"), HasSubstr("MUSTER_RUN_ID"));
}

TEST(OwnConfigTest, ErrorsNameTheLine) {
  EXPECT_EQ(Refused("nnodes: 1\nnproc_per_nod: 2\n"),
            "job.yaml:2: nproc_per_nod: unknown key; did you mean "
            "nproc-per-node?");
  EXPECT_EQ(Refused("config: other.yaml\n"),
            "job.yaml:1: config: a file names no other file");
  EXPECT_THAT(Refused("confg: other.yaml\n"), Not(HasSubstr("did you mean")));
  EXPECT_THAT(Refused("help: true\n"), HasSubstr("unknown key"));
  EXPECT_THAT(Refused("nnodes: 1\nnnodes: 2\n"), HasSubstr("twice"));
  EXPECT_THAT(Refused("max-restarts: 1\nmax_restarts: 2\n"),
              HasSubstr("job.yaml:2: max_restarts: given before"));
  EXPECT_THAT(Refused("nnodes: {a: 1}\n"), HasSubstr("wants a text"));
  EXPECT_THAT(Refused("program: []\n"), HasSubstr("is empty"));
  EXPECT_THAT(Refused("program: [[a]]\n"), HasSubstr("no text"));
  EXPECT_THAT(Refused("env: [a]\n"), HasSubstr("is no map"));
  EXPECT_THAT(Refused("env: {A=B: c}\n"), HasSubstr("env: A=B"));
  EXPECT_THAT(Refused(""), HasSubstr("job.yaml:1: no keys"));
  EXPECT_THAT(Refused("- a\n"), HasSubstr("no keys"));
}

TEST(AccelerateConfigTest, SeveralMachines) {
  const ConfigMeaning meaning = Read(
      "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\n"
      "num_machines: 2\nnum_processes: 16\nmachine_rank: 1\n"
      "main_process_ip: 10.0.0.1\nmain_process_port: 29511\n"
      "rdzv_backend: static\nsame_network: true\nmixed_precision: bf16\n"
      "gpu_ids: all\ndowncast_bf16: 'no'\nmain_training_function: main\n");
  EXPECT_EQ(meaning.format, ConfigFormat::kAccelerate);
  EXPECT_THAT(
      Flags(meaning),
      UnorderedElementsAre(
          Pair("nnodes", "2"), Pair("nproc-per-node", "8"),
          Pair("node-rank", "1"), Pair("rdzv-backend", "static"),
          Pair("master-addr", "10.0.0.1"), Pair("master-port", "29511")));
  EXPECT_THAT(meaning.defaults.worker_environment,
              Contains(Pair("ACCELERATE_MIXED_PRECISION", "bf16")));
  EXPECT_THAT(meaning.defaults.worker_environment,
              Not(Contains(Key("CUDA_VISIBLE_DEVICES"))));
  EXPECT_THAT(
      meaning.ignored,
      UnorderedElementsAre(Field(&IgnoredKey::key, "downcast_bf16"),
                           Field(&IgnoredKey::key, "main_training_function")));
}

TEST(AccelerateConfigTest, C10dOrDifferentNetworksMeetAtAnEndpoint) {
  for (const char* const way :
       {"rdzv_backend: c10d\nsame_network: true\n", "same_network: false\n"}) {
    const ConfigMeaning meaning =
        Read(std::string("distributed_type: MULTI_GPU\nnum_machines: 2\n"
                         "num_processes: 4\nmain_process_ip: 10.0.0.1\n") +
             way);
    EXPECT_THAT(Flags(meaning),
                Contains(Pair("rdzv-endpoint", "10.0.0.1:29500")));
    EXPECT_THAT(Flags(meaning), Not(Contains(Key("master-addr"))));
  }
}

TEST(AccelerateConfigTest, FsdpsVariablesWithAcceleratesDefaults) {
  const ConfigMeaning meaning = Read(
      "distributed_type: FSDP\nnum_processes: 2\nfsdp_config:\n"
      "  fsdp_offload_params: true\n  fsdp_auto_wrap_policy: "
      "TRANSFORMER_BASED_WRAP\n  fsdp_min_num_params: 7\n"
      "  state_dict_type: SHARDED_STATE_DICT\n  fsdp_misspelt: 1\n");
  const auto& variables = meaning.defaults.worker_environment;
  EXPECT_THAT(variables, Contains(Pair("ACCELERATE_USE_FSDP", "true")));
  EXPECT_THAT(variables, Contains(Pair("FSDP_VERSION", "1")));
  EXPECT_THAT(variables, Contains(Pair("FSDP_OFFLOAD_PARAMS", "true")));
  EXPECT_THAT(variables, Contains(Pair("FSDP_MIN_NUM_PARAMS", "7")));
  EXPECT_THAT(variables,
              Contains(Pair("FSDP_STATE_DICT_TYPE", "SHARDED_STATE_DICT")));
  EXPECT_THAT(variables,
              Contains(Pair("FSDP_SHARDING_STRATEGY", "FULL_SHARD")));
  EXPECT_THAT(variables, Not(Contains(Key("FSDP_BACKWARD_PREFETCH"))));
  EXPECT_THAT(meaning.ignored, ElementsAre(Field(&IgnoredKey::key,
                                                 "fsdp_config.fsdp_misspelt")));
}

TEST(AccelerateConfigTest, DeepSpeedsVariablesAndHosts) {
  const ConfigMeaning meaning = Read(
      "distributed_type: DEEPSPEED\nnum_machines: 2\nnum_processes: 4\n"
      "mixed_precision: 'no'\ndeepspeed_config:\n  zero_stage: 3\n"
      "  gradient_clipping: 1.50\n  offload_param_device: CPU\n"
      "  zero3_init_flag: true\n  deepspeed_hostfile: hosts\n"
      "  deepspeed_multinode_launcher: pdsh\n");
  EXPECT_THAT(
      meaning.defaults.worker_environment,
      AllOf(Contains(Pair("ACCELERATE_USE_DEEPSPEED", "true")),
            Contains(Pair("ACCELERATE_DEEPSPEED_ZERO_STAGE", "3")),
            Contains(Pair("ACCELERATE_GRADIENT_CLIPPING", "1.5")),
            Contains(Pair("ACCELERATE_DEEPSPEED_OFFLOAD_PARAM_DEVICE", "cpu")),
            Contains(Pair("ACCELERATE_DEEPSPEED_ZERO3_INIT", "true")),
            Contains(Pair("PYTHONPATH", "/lib:/work")),
            Contains(Pair("ACCELERATE_CONFIG_DS_FIELDS",
                          "zero_stage,gradient_clipping,offload_param_device,"
                          "zero3_init_flag,deepspeed_hostfile,"
                          "deepspeed_multinode_launcher,mixed_precision"))));
  EXPECT_THAT(Flags(meaning), Contains(Pair("hostfile", "hosts")));
  EXPECT_THAT(Flags(meaning), Not(Contains(Key("node-rank"))));
}

TEST(AccelerateConfigTest, OnOneMachine) {
  const ConfigMeaning meaning = Read(
      "distributed_type: MULTI_CPU\nnum_processes: 2\nuse_cpu: true\n"
      "debug: true\ngpu_ids: 0,2\n"
      "main_process_port: 0\n");
  EXPECT_THAT(Flags(meaning),
              UnorderedElementsAre(Pair("nproc-per-node", "2")));
  EXPECT_THAT(meaning.defaults.worker_environment,
              AllOf(Contains(Pair("ACCELERATE_USE_CPU", "True")),
                    Contains(Pair("ACCELERATE_DEBUG_MODE", "true")),
                    Contains(Pair("CUDA_VISIBLE_DEVICES", "0,2"))));
  EXPECT_THAT(Flags(Read("distributed_type: 'NO'\nnum_processes: 8\n")),
              Contains(Pair("nproc-per-node", "1")));
}

TEST(AccelerateConfigTest, AMeetingPlaceWithoutEffectIsSaid) {
  const auto ignored = [](const std::string& text) {
    std::map<std::string, int> lines;
    for (const IgnoredKey& key : Read(text).ignored) lines[key.key] = key.line;
    return lines;
  };
  EXPECT_THAT(ignored("distributed_type: MULTI_GPU\nnum_processes: 2\n"
                      "main_process_port: 0\nmain_process_ip: 10.0.0.1\n"),
              UnorderedElementsAre(Pair("main_process_port", 3),
                                   Pair("main_process_ip", 4)));
  EXPECT_THAT(ignored("distributed_type: MULTI_GPU\nnum_machines: 2\n"
                      "num_processes: 2\nmain_process_port: 29511\n"),
              UnorderedElementsAre(Pair("main_process_port", 4)));
  EXPECT_THAT(ignored("distributed_type: MULTI_GPU\nnum_processes: 2\n"
                      "main_process_port: 29511\n"),
              IsEmpty());
}

TEST(AccelerateConfigTest, SeveralWorkersForMultiCpuAreSaid) {
  EXPECT_THAT(
      Read("distributed_type: MULTI_CPU\nnum_processes: 2\n").defaults.remarks,
      ElementsAre(AllOf(HasSubstr("job.yaml:2: num_processes=2: 2 workers are "
                                  "started"),
                        HasSubstr("accelerate launch starts one process"))));
  EXPECT_THAT(
      Read("distributed_type: MULTI_CPU\nnum_processes: 1\n").defaults.remarks,
      IsEmpty());
  EXPECT_THAT(Read("distributed_type: MULTI_CPU\nnum_processes: 2\n"
                   "mpirun_config:\n  mpirun_hostfile: hosts\n")
                  .defaults.remarks,
              IsEmpty());
}

TEST(AccelerateConfigTest, AbsentKeysHaveAcceleratesDefaults) {
  const auto two = Read(
                       "distributed_type: MULTI_GPU\nnum_machines: 2\n"
                       "num_processes: 4\n")
                       .defaults.flags;
  EXPECT_EQ(two.at("nnodes").origin, "job.yaml:2: num_machines");
  EXPECT_EQ(two.at("rdzv-backend").origin,
            "job.yaml: Accelerate's default rdzv_backend");
  // The file must not set --node-rank, because all nodes read the same file.
  EXPECT_THAT(two, Not(Contains(Key("node-rank"))));
}

TEST(AccelerateConfigTest, IgnoredNumProcessesIsReported) {
  EXPECT_THAT(
      Read("distributed_type: 'NO'\nnum_processes: 4\n").defaults.remarks,
      ElementsAre(HasSubstr("job.yaml:2: num_processes=4 has no "
                            "effect")));
  EXPECT_THAT(
      Read("distributed_type: 'NO'\nnum_processes: 1\n").defaults.remarks,
      IsEmpty());
}

TEST(AccelerateConfigTest, VariablesOfASizeOfOneAreOmitted) {
  const std::string head =
      "distributed_type: FSDP\nnum_processes: 2\nparallelism_config:\n"
      "  parallelism_config_cp_size: ";
  const auto one = Read(head + "1\n").defaults.worker_environment;
  EXPECT_THAT(one, Contains(Pair("PARALLELISM_CONFIG_CP_SIZE", "1")));
  EXPECT_THAT(one, Not(Contains(Key("PARALLELISM_CONFIG_CP_COMM_STRATEGY"))));
  EXPECT_THAT(one, Not(Contains(Key("PARALLELISM_CONFIG_SP_SEQ_LENGTH"))));
  const auto two = Read(head + "2\n").defaults.worker_environment;
  EXPECT_THAT(
      two, Contains(Pair("PARALLELISM_CONFIG_CP_COMM_STRATEGY", "allgather")));
}

TEST(AccelerateConfigTest, ProcessesThatDoNotDivideByMachinesGiveARemark) {
  const ConfigMeaning meaning =
      Read("distributed_type: MULTI_GPU\nnum_machines: 2\nnum_processes: 5\n");
  EXPECT_THAT(Flags(meaning), Contains(Pair("nproc-per-node", "2")));
  EXPECT_THAT(meaning.defaults.remarks,
              ElementsAre(HasSubstr("num_processes=5 is no multiple")));
}

TEST(AccelerateConfigTest, UnsupportedConfigurationsAreRefused) {
  EXPECT_THAT(Refused("distributed_type: XLA\n"), HasSubstr("job.yaml:1: "));
  EXPECT_THAT(Refused("distributed_type: MEGATRON_LM\n"),
              HasSubstr("not launched here"));
  EXPECT_THAT(Refused("compute_environment: AMAZON_SAGEMAKER\n"),
              HasSubstr("only LOCAL_MACHINE"));
  EXPECT_THAT(Refused("compute_environment: LOCAL_MACHINE\n"),
              HasSubstr("distributed_type: is missing"));
  EXPECT_EQ(Refused("distributed_type: FSDP\nnum_procesess: 3\n"),
            "job.yaml:2: num_procesess: Accelerate has no such key; did you "
            "mean num_processes?");
  EXPECT_THAT(Refused("distributed_type: FSDP\nnum_processes: many\n"),
              HasSubstr("job.yaml:2: num_processes=many"));
  EXPECT_THAT(Refused("distributed_type: FSDP\nfsdp_config: yes\n"),
              HasSubstr("no section"));
  EXPECT_THAT(Refused("distributed_type: FSDP\nnum_machines: 0\n"),
              HasSubstr("below 1"));
}

TEST(InstructLabConfigTest, KeysForTorchrunBecomeFlags) {
  const ConfigMeaning meaning = Read(
      "version: 1.0.0\ntrain:\n  nproc_per_node: 4\n  model_path: /m\n"
      "  additional_args:\n    nnodes: 2\n    node_rank: 1\n"
      "    rdzv_id: 123\n    rdzv_endpoint: 10.0.0.1:12222\n"
      "    warmup_steps: 25\n");
  EXPECT_EQ(meaning.format, ConfigFormat::kInstructLab);
  EXPECT_THAT(
      Flags(meaning),
      UnorderedElementsAre(Pair("nproc-per-node", "4"), Pair("nnodes", "2"),
                           Pair("node-rank", "1"), Pair("rdzv-id", "123"),
                           Pair("rdzv-endpoint", "10.0.0.1:12222")));
  EXPECT_THAT(
      meaning.ignored,
      UnorderedElementsAre(
          Field(&IgnoredKey::key, "version"),
          Field(&IgnoredKey::key, "train.model_path"),
          Field(&IgnoredKey::key, "train.additional_args.warmup_steps")));
}

TEST(InstructLabConfigTest, ASlipIsNotTakenForATrainingProgramsKey) {
  EXPECT_EQ(Refused("train:\n  nproc_per_nod: 8\n"),
            "job.yaml:2: train.nproc_per_nod: unknown key; did you mean "
            "nproc_per_node?");
  EXPECT_THAT(Refused("train:\n  additional_args:\n    nnode: 2\n"),
              HasSubstr("did you mean nnodes?"));
  EXPECT_THAT(Read("train:\n  lora_rank: 4\n").ignored,
              ElementsAre(Field(&IgnoredKey::key, "train.lora_rank")));
  EXPECT_THAT(Refused("train: 3\n"),
              HasSubstr("job.yaml:1: train: is InstructLab's section"));
}

TEST(InstructLabConfigTest, AMasterAddressIsStatic) {
  EXPECT_THAT(Flags(Read("train:\n  nnodes: 2\n  master_addr: 10.0.0.1\n"
                         "  master_port: 1234\n")),
              AllOf(Contains(Pair("rdzv-backend", "static")),
                    Contains(Pair("master-addr", "10.0.0.1")),
                    Contains(Pair("master-port", "1234"))));
  EXPECT_THAT(Refused("train:\n  master_addr: a\n  rdzv_endpoint: a:1\n"),
              HasSubstr("does not go with master_addr"));
}

TEST(ReadConfigTextTest, UnreadableFilesAreRefused) {
  EXPECT_THAT(
      std::string(ReadConfigText("/nowhere/x.yaml").status().message()),
      AllOf(HasSubstr("--config=/nowhere/x.yaml"), HasSubstr("No such file")));
  EXPECT_THAT(std::string(ReadConfigText("/").status().message()),
              HasSubstr("directory"));
  EXPECT_THAT(std::string(ReadConfigText("/dev/zero").status().message()),
              HasSubstr("larger than"));
}

}  // namespace
}  // namespace muster::launcher
