#include "agent/binding/binding_text.h"

#include "absl/strings/str_cat.h"
#include "agent/binding/cpu_list.h"

namespace muster::agent {
namespace {

constexpr size_t kMaxRemarkBytes = 400;
constexpr char kCut[] = " | ...";

// Replaces the characters of a device name that would break the line's format.
std::string Shown(std::string name) {
  for (char& c : name) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) c = '?';
  }
  return name.empty() ? "-" : name;
}

// "@mlx5_0", or for workers with different cards "@mlx5_0,mlx5_1,-"; empty if
// no worker has a near card.
std::string NearNics(const std::vector<WorkerBinding>& workers, size_t begin,
                     size_t end) {
  std::string all;
  size_t none = 0;
  size_t like_first = 0;
  for (size_t i = begin; i < end; ++i) {
    const std::string& nic = workers[i].near_nic;
    absl::StrAppend(&all, i > begin ? "," : "@", Shown(nic));
    if (nic.empty()) ++none;
    if (nic == workers[begin].near_nic) ++like_first;
  }
  if (none == end - begin) return "";
  return like_first == end - begin
             ? absl::StrCat("@", Shown(workers[begin].near_nic))
             : all;
}

}  // namespace

std::string BindingText(Binding mode, const BindingPlan& plan, size_t most) {
  std::string text = absl::StrCat(BindingName(mode), ": ");
  const auto& workers = plan.workers;
  for (size_t i = 0; i < workers.size();) {
    size_t end = i + 1;
    while (end < workers.size() && workers[end].cpus == workers[i].cpus) ++end;
    std::string part = CpuList(workers[i].cpus);
    if (end - i > 1) absl::StrAppend(&part, " x", end - i);
    absl::StrAppend(&part, NearNics(workers, i, end));
    const size_t rest = end < workers.size() ? sizeof(kCut) - 1 : 0;
    if (text.size() + 3 + part.size() + rest > most) {
      return absl::StrCat(text, i > 0 ? kCut : "...");
    }
    absl::StrAppend(&text, i > 0 ? " | " : "", part);
    i = end;
  }
  return text;
}

std::string BindingRemark(Binding mode, const BindingPlan& plan) {
  const auto& workers = plan.workers;
  const bool has_nics = !NearNics(workers, 0, workers.size()).empty();
  return absl::StrCat(
      "workers are bound to CPUs: ", BindingText(mode, plan, kMaxRemarkBytes),
      " (", plan.how, has_nics ? "; @: the network card near the GPU" : "",
      ")");
}

}  // namespace muster::agent
