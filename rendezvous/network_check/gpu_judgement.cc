#include "rendezvous/network_check/gpu_judgement.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/median.h"
#include "rendezvous/network_check/measured_values.h"

namespace muster::rendezvous {
namespace {

struct Node {
  std::string kind;
  double best_rate = 0;  // bytes/s, best of the node's pairs; 0: none measured
  double kernel_s = 0;   // shortest time of the compute kernel; 0: unknown
  int good_pairs = 0;
  std::vector<std::string> bad_partners;  // node's partners in bad pairs
  std::string why;                        // measurements of these bad pairs
};

struct Medians {
  // median rate in bytes per second; 0: fewer than kMinNodes nodes have a rate
  double rate = 0;
  double kernel_s = 0;  // median kernel time; 0: fewer than kMinNodes values
};

// The rate between the GPUs of a pair; nullopt: it was not measured.
std::optional<double> RateOf(const GpuPairing& pairing) {
  const PairMeasurement& one = pairing.one.measured;
  const PairMeasurement& other = pairing.other.measured;
  if (one.gpu_kind != other.gpu_kind || !IsPositive(one.gpu_bytes_per_s) ||
      !IsPositive(other.gpu_bytes_per_s)) {
    return std::nullopt;
  }
  return std::min(one.gpu_bytes_per_s, other.gpu_bytes_per_s);
}

// The reason why CUDA or NCCL has failed in a pair, seen from `own`; "":
// neither has failed.
std::string FailureOf(const GpuPairing::End& own,
                      const GpuPairing::End& theirs) {
  if (!own.measured.gpu_failure.empty()) return own.measured.gpu_failure;
  if (theirs.measured.gpu_failure.empty()) return "";
  return absl::StrCat("on ", theirs.host, ": ", theirs.measured.gpu_failure);
}

void Note(const GpuPairing::End& own, const GpuPairing::End& theirs,
          const std::optional<double>& rate, Node& node) {
  node.bad_partners.push_back(theirs.node_id);
  absl::StrAppend(
      &node.why, node.why.empty() ? "" : ", ",
      rate.has_value()
          ? absl::StrCat(RateText(*rate), " between GPUs with ", theirs.host)
          : absl::StrCat("no measurement of GPUs with ", theirs.host, " (",
                         FailureOf(own, theirs), ")"));
}

void Keep(const GpuPairing::End& end, const std::optional<double>& rate,
          Node& node) {
  const PairMeasurement& measured = end.measured;
  if (!measured.gpu_kind.empty()) node.kind = measured.gpu_kind;
  if (rate.has_value()) node.best_rate = std::max(node.best_rate, *rate);
  if (!IsPositive(measured.gpu_compute_s)) return;
  node.kernel_s = node.kernel_s > 0
                      ? std::min(node.kernel_s, measured.gpu_compute_s)
                      : measured.gpu_compute_s;
}

// Returns the median of `values` (Median; `better` compares two values); 0 if
// there are fewer than kMinNodes.
template <typename Better>
double MedianOfEnough(std::vector<double> values, Better better) {
  if (values.size() < size_t{kMinNodes}) return 0;
  return Median(std::move(values), better);
}

std::map<std::string, Medians> MediansByKind(
    const std::map<std::string, Node>& nodes) {
  std::map<std::string, std::vector<double>> rates;
  std::map<std::string, std::vector<double>> kernels;
  for (const auto& [id, node] : nodes) {
    if (node.best_rate > 0) rates[node.kind].push_back(node.best_rate);
    if (node.kernel_s > 0) kernels[node.kind].push_back(node.kernel_s);
  }
  std::map<std::string, Medians> medians;
  for (auto& [kind, values] : rates) {
    medians[kind].rate =
        MedianOfEnough(std::move(values), std::greater<double>());
  }
  for (auto& [kind, values] : kernels) {
    medians[kind].kernel_s =
        MedianOfEnough(std::move(values), std::less<double>());
  }
  return medians;
}

}  // namespace

std::map<std::string, GpuFinding> JudgeGpus(
    const std::vector<GpuPairing>& pairings) {
  std::map<std::string, Node> nodes;
  for (const GpuPairing& pairing : pairings) {
    const std::optional<double> rate = RateOf(pairing);
    Keep(pairing.one, rate, nodes[pairing.one.node_id]);
    Keep(pairing.other, rate, nodes[pairing.other.node_id]);
  }
  const std::map<std::string, Medians> medians = MediansByKind(nodes);
  const auto medians_of = [&](const Node& node) {
    const auto found = medians.find(node.kind);
    return found == medians.end() ? Medians() : found->second;
  };
  for (const GpuPairing& pairing : pairings) {
    const auto& [one, other] = pairing;
    const std::optional<double> rate = RateOf(pairing);
    Node& node = nodes[one.node_id];
    Node& partner = nodes[other.node_id];
    if (rate.has_value() && *rate >= medians_of(node).rate / kSlowRateFactor) {
      ++node.good_pairs;
      ++partner.good_pairs;
    } else if (rate.has_value() || !FailureOf(one, other).empty()) {
      Note(one, other, rate, node);
      Note(other, one, rate, partner);
    }
  }
  std::map<std::string, GpuFinding> findings;
  for (const auto& [id, node] : nodes) {
    const bool is_measured = node.best_rate > 0 || node.kernel_s > 0;
    if (!is_measured && node.bad_partners.empty()) continue;
    GpuFinding& finding = findings[id];
    const Medians median = medians_of(node);
    if (median.kernel_s > 0 &&
        node.kernel_s > kSlowKernelFactor * median.kernel_s) {
      finding.grade = CheckGrade::kSlow;
      finding.why = absl::StrCat(
          "its compute kernel takes ", TimeText(node.kernel_s),
          " on its slowest GPU, the median is ", TimeText(median.kernel_s));
    } else if (node.good_pairs == 0 && !node.bad_partners.empty()) {
      const auto good = std::ranges::count_if(
          node.bad_partners,
          [&](const auto& partner) { return nodes[partner].good_pairs > 0; });
      finding.grade = good < 2      ? CheckGrade::kUndecided
                      : is_measured ? CheckGrade::kSlow
                                    : CheckGrade::kFailed;
      finding.why = node.why;
      if (median.rate > 0) {
        absl::StrAppend(&finding.why, "; the median is ",
                        RateText(median.rate));
      }
    }
  }
  return findings;
}

}  // namespace muster::rendezvous
