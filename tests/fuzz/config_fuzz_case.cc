// Fuzzes the reader of configuration files. The first byte of `input` selects a
// valid file in one of three formats. The other bytes are edits (EditedBytes)
// of this file. An error message must be one line that names the file. An
// accepted file must not yield more settings than its text contains, and no
// name that is harmful in an environment.

#include <iterator>
#include <string>

#include "base/check.h"
#include "launcher/config/config_file.h"
#include "launcher/options/flag_table.h"
#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

constexpr std::string_view kSound[] = {
    "nnodes: 2:4\nnproc_per_node: gpu\nquiet: yes\nframework_env: [mpi, jax]\n"
    "program: [train.py, --lr, 0.1]\nenv:\n  NCCL_DEBUG: INFO\n  B: 'x'\n",
    "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\n"
    "num_machines: 2\nnum_processes: 5\nmachine_rank: 1\n"
    "main_process_ip: fd00::1\nmain_process_port: 1\nmixed_precision: bf16\n"
    "fsdp_config:\n  fsdp_min_num_params: 1.50\n  fsdp_ignored_modules: [a]\n"
    "dynamo_config: {dynamo_backend: inductor}\n",
    "distributed_type: DEEPSPEED\nnum_machines: 2\ndeepspeed_config:\n"
    "  zero_stage: 3\n  deepspeed_hostfile: h\n  gradient_clipping: 1.0\n"
    "parallelism_config: {parallelism_config_cp_size: 2}\n",
    "version: 1.0.0\ntrain:\n  nproc_per_node: 4\n  additional_args:\n"
    "    nnodes: 2\n    rdzv_endpoint: 10.0.0.1:12222\n",
    "",
};

}  // namespace

void RunFuzzCase(std::string_view input) {
  if (input.empty()) return;
  static const auto& flags = *new std::vector<launcher::Flag>(
      launcher::FlagsOf(launcher::FlagUser::kLaunchOnly));
  const std::string_view sound =
      kSound[static_cast<unsigned char>(input[0]) % std::size(kSound)];
  input.remove_prefix(1);
  const std::string text = EditedBytes(sound, input);
  const absl::StatusOr<launcher::ConfigMeaning> meaning = launcher::ReadConfig(
      text, flags,
      {.file_name = "f", .working_directory = "/", .python_path = ""});
  if (!meaning.ok()) {
    const std::string why(meaning.status().message());
    MUSTER_CHECK(why.rfind("f:", 0) == 0) << why;
    return;
  }
  for (const auto& [name, said] : meaning->defaults.flags) {
    MUSTER_CHECK(launcher::FindFlag(flags, name) != nullptr) << name;
    MUSTER_CHECK(said.origin.rfind("f:", 0) == 0) << said.origin;
    MUSTER_CHECK(said.text.size() <= text.size() + 16) << name;
  }
  for (const auto& [name, value] : meaning->defaults.worker_environment) {
    MUSTER_CHECK(!name.empty() && name.find('=') == std::string::npos);
    MUSTER_CHECK(name.find('\0') == std::string::npos);
    MUSTER_CHECK(value.find('\0') == std::string::npos) << name;
  }
  for (const std::string& word : meaning->defaults.program) {
    MUSTER_CHECK(word.find('\0') == std::string::npos);
  }
}

}  // namespace muster
