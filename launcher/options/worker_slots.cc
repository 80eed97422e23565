#include "launcher/options/worker_slots.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/environment_value.h"
#include "base/message_text.h"
#include "launcher/options/option_values.h"
#include "rendezvous/protocol/report.h"

namespace muster::launcher {
namespace {

// Returns the GPUs that --gpus names. A number is an index into the visible
// GPUs, as in CUDA; an id is used unchanged.
absl::StatusOr<std::vector<std::string>> ChosenGpus(const RunOptions& options,
                                                    const MachineFacts& facts) {
  std::vector<std::string> chosen;
  for (const std::string& gpu : options.gpus) {
    const absl::StatusOr<int64_t> number = ReadNumber(gpu, 0, 4095);
    std::string id = gpu;
    if (number.ok()) {
      if (static_cast<size_t>(*number) >= facts.gpus.size()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "--gpus: there is no GPU ", gpu, ", this node has ",
            Counted(facts.gpus.size(), "GPU"), " to use",
            facts.gpus.empty() ? "; is the NVIDIA driver loaded?"
                               : absl::StrCat("; write numbers from 0 to ",
                                              facts.gpus.size() - 1)));
      }
      id = facts.gpus[static_cast<size_t>(*number)];
    } else if (gpu.rfind("GPU-", 0) != 0 && gpu.rfind("MIG-", 0) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--gpus: ", gpu,
                       " is neither a number nor a GPU- or MIG- id; write "
                       "for example 0,1"));
    }
    if (std::find(chosen.begin(), chosen.end(), id) != chosen.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--gpus: ", gpu, " is named twice; name each GPU once"));
    }
    chosen.push_back(id);
  }
  return chosen;
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts = absl::StrSplit(text, ',');
  for (std::string& part : parts) {
    part = std::string(absl::StripAsciiWhitespace(part));
  }
  return parts;
}

// Plans --virtual-local-rank for a machine on which NVIDIA's driver does not
// count the GPUs: there is no driver, or HIP_VISIBLE_DEVICES is set. As in
// torchrun, worker n gets the n-th entry of HIP_VISIBLE_DEVICES. If this
// variable is not set, worker n gets the n-th entry of CUDA_VISIBLE_DEVICES. If
// neither is set, worker n gets GPU n.
absl::Status GiveVirtualGpus(const MachineFacts& facts, WorkerSlots& slots) {
  const char* variable = "HIP_VISIBLE_DEVICES";
  std::optional<std::string> visible =
      NonEmptyEnvironmentValue(facts.environment, variable);
  slots.sets_hip = visible.has_value();
  if (!visible) {
    variable = "CUDA_VISIBLE_DEVICES";
    visible = EnvironmentValue(facts.environment, variable);
  }
  const auto count = static_cast<size_t>(slots.count);
  if (!visible) {
    for (size_t i = 0; i < count; ++i) {
      slots.gpu_of_local_rank.push_back(absl::StrCat(i));
    }
    return absl::OkStatus();
  }
  std::vector<std::string> gpus = Split(*visible);
  if (count > gpus.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--virtual-local-rank: ", Counted(count, "worker"),
        " with a GPU each, but ", variable, "=", *visible, " has ",
        gpus.size() == 1 ? "one entry" : absl::StrCat(gpus.size(), " entries"),
        "; ask for fewer workers"));
  }
  gpus.resize(count);
  slots.gpu_of_local_rank = std::move(gpus);
  return absl::OkStatus();
}

std::string AddressOf(const std::string& gpu, const MachineFacts& facts) {
  const auto found = std::find(facts.gpus.begin(), facts.gpus.end(), gpu);
  if (found == facts.gpus.end()) return "";
  return facts.gpu_addresses[static_cast<size_t>(found - facts.gpus.begin())];
}

}  // namespace

bool NeedsGpus(const RunOptions& options) {
  return options.workers_per_node == "gpu" ||
         options.workers_per_node == "auto" || !options.gpus.empty() ||
         options.local_ranks == LocalRanks::kVirtual ||
         options.binding != agent::Binding::kNone;
}

absl::StatusOr<WorkerSlots> PlanWorkerSlots(const RunOptions& options,
                                            const MachineFacts& facts) {
  absl::StatusOr<std::vector<std::string>> chosen = ChosenGpus(options, facts);
  if (!chosen.ok()) return chosen.status();
  const std::vector<std::string>& gpus =
      options.gpus.empty() ? facts.gpus : *chosen;
  WorkerSlots slots;
  const std::string& asked = options.workers_per_node;
  if (asked == "cpu" || (asked == "auto" && gpus.empty())) {
    slots.count = facts.cores;
  } else if (asked == "gpu" || asked == "auto") {
    if (gpus.empty()) {
      return absl::InvalidArgumentError(
          "--nproc-per-node=gpu: this node has no GPU to use; write cpu, auto "
          "or a number, or look whether the NVIDIA driver is loaded");
    }
    slots.count = static_cast<int>(gpus.size());
    slots.gpus_needed = slots.count;
  } else {
    const absl::StatusOr<int64_t> number = ReadNumber(asked, 1, 4096);
    if (!number.ok()) return number.status();
    slots.count = static_cast<int>(*number);
  }
  if (options.gpus.empty()) {
    if (options.local_ranks != LocalRanks::kVirtual) return slots;
    const bool by_rocm =
        NonEmptyEnvironmentValue(facts.environment, "HIP_VISIBLE_DEVICES")
            .has_value();
    if (gpus.empty() || by_rocm) {
      const absl::Status given = GiveVirtualGpus(facts, slots);
      if (!given.ok()) return given;
      return slots;
    }
  }
  if (static_cast<size_t>(slots.count) > gpus.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--nproc-per-node=", asked, ": ",
        Counted(static_cast<size_t>(slots.count), "worker"),
        " with a GPU each, but this node has ", Counted(gpus.size(), "GPU"),
        " to use; ask for fewer workers"));
  }
  slots.gpus_needed = slots.count;
  slots.gpu_of_local_rank.assign(gpus.begin(), gpus.begin() + slots.count);
  return slots;
}

std::vector<std::string> GpuNames(const WorkerSlots& slots,
                                  const MachineFacts& facts) {
  const auto count = static_cast<size_t>(slots.count);
  std::vector<std::string> gpus = slots.gpu_of_local_rank;
  const auto visible =
      EnvironmentValue(facts.environment, "CUDA_VISIBLE_DEVICES");
  if (gpus.empty() && facts.gpus.size() >= count) gpus = facts.gpus;
  if (gpus.empty() && visible.has_value()) gpus = Split(*visible);
  if (gpus.empty() && slots.count <= facts.gpu_devices) {
    for (size_t i = 0; i < count; ++i) gpus.push_back(absl::StrCat(i));
  }
  if (gpus.size() < count) return {};
  gpus.resize(std::min(count, static_cast<size_t>(rendezvous::kMaxGpuNames)));
  for (std::string& gpu : gpus) {
    // The coordinator refuses longer names and control characters.
    gpu.resize(std::min(gpu.size(), rendezvous::kMaxGpuNameBytes));
    std::ranges::replace_if(gpu, absl::ascii_iscntrl, '?');
  }
  return gpus;
}

absl::StatusOr<agent::BindingPlan> PlanNodeBinding(const RunOptions& options,
                                                   const MachineFacts& facts,
                                                   const WorkerSlots& slots) {
  agent::BindingRequest request;
  request.mode = options.binding;
  request.workers = slots.count;
  request.allowed = facts.allowed_cpus;
  if (options.gpus.empty()) {
    request.gpus = facts.gpu_addresses;
  } else {
    for (const std::string& gpu : slots.gpu_of_local_rank) {
      request.gpus.push_back(AddressOf(gpu, facts));
    }
  }
  return agent::PlanBinding(request, facts.layout);
}

}  // namespace muster::launcher
