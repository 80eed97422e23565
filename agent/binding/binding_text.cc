#include "agent/binding/binding_text.h"

#include "absl/strings/str_cat.h"
#include "agent/binding/cpu_list.h"

namespace muster {
namespace {

constexpr size_t kMostRemarkBytes = 400;
constexpr char kCut[] = " | ...";

}  // namespace

std::string BindingText(Binding mode, const BindingPlan& plan, size_t most) {
  std::string text = absl::StrCat(BindingName(mode), ": ");
  const auto& workers = plan.workers;
  for (size_t i = 0; i < workers.size();) {
    size_t end = i + 1;
    while (end < workers.size() && workers[end].cpus == workers[i].cpus) ++end;
    std::string part = CpuList(workers[i].cpus);
    if (end - i > 1) absl::StrAppend(&part, " x", end - i);
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
  return absl::StrCat(
      "workers are bound to CPUs: ", BindingText(mode, plan, kMostRemarkBytes),
      " (", plan.how, ")");
}

}  // namespace muster
