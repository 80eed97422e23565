#include "rendezvous/network_check/network_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/median.h"
#include "rendezvous/network_check/measured_values.h"

namespace muster::rendezvous {
namespace {

// Returns why a node's answer contains no usable values; "": its values are
// usable. `came`: whether the answer has arrived.
std::string DefectOf(bool came, const PairMeasurement& answer) {
  if (!came) return "no answer";
  if (!answer.failure.empty()) return answer.failure;
  if (!IsPositive(answer.round_trip_s) || !IsPositive(answer.bytes_per_s)) {
    return "reported values that cannot be measured";
  }
  return "";
}

}  // namespace

std::optional<NetworkCheck::Values> NetworkCheck::ValuesOf(
    const Pairing& pairing) {
  const auto& [server_came, server] = pairing.of_server;
  const auto& [client_came, client] = pairing.of_client;
  if (!DefectOf(server_came, server).empty() ||
      !DefectOf(client_came, client).empty()) {
    return std::nullopt;
  }
  return Values{
      .round_trip_s = std::max(server.round_trip_s, client.round_trip_s),
      .bytes_per_s = std::min(server.bytes_per_s, client.bytes_per_s)};
}

bool NetworkCheck::IsGood(const Pairing& pairing, const Medians& medians) {
  const std::optional<Values> values = ValuesOf(pairing);
  if (!values.has_value()) return false;
  const double longest =
      std::max(kSlowFactor * medians.network.round_trip_s,
               medians.network.round_trip_s + kMinExcessRoundTrip);
  return values->round_trip_s <= longest &&
         values->bytes_per_s >= medians.network.bytes_per_s / kSlowFactor;
}

NetworkCheck::Medians NetworkCheck::ComputeMedians() const {
  std::vector<double> round_trips;
  std::vector<double> rates;
  std::vector<double> computes;
  for (const auto& [id, subject] : subjects_) {
    if (subject.compute_s > 0) computes.push_back(subject.compute_s);
    std::optional<Values> best;
    for (const size_t i : subject.pairings) {
      const std::optional<Values> values = ValuesOf(pairings_[i]);
      if (!values.has_value()) continue;
      if (!best.has_value()) best = values;
      best->round_trip_s = std::min(best->round_trip_s, values->round_trip_s);
      best->bytes_per_s = std::max(best->bytes_per_s, values->bytes_per_s);
    }
    if (!best.has_value()) continue;
    round_trips.push_back(best->round_trip_s);
    rates.push_back(best->bytes_per_s);
  }
  Medians medians;
  medians.nodes = static_cast<int>(rates.size());
  medians.network.round_trip_s =
      Median(std::move(round_trips), std::less<double>());
  medians.network.bytes_per_s =
      Median(std::move(rates), std::greater<double>());
  medians.compute_s = Median(std::move(computes), std::less<double>());
  return medians;
}

bool NetworkCheck::IsSilent(const std::string& node_id,
                            const Subject& subject) const {
  bool partner_answered = false;
  bool any = false;
  for (const size_t i : subject.pairings) {
    const Pairing& pairing = pairings_[i];
    if (!pairing.is_over) continue;
    any = true;
    const bool serves = pairing.server == node_id;
    if ((serves ? pairing.of_server : pairing.of_client).came) return false;
    partner_answered |= (serves ? pairing.of_client : pairing.of_server).came;
  }
  return any && partner_answered;
}

std::map<std::string, NetworkCheck::Standing> NetworkCheck::Standings(
    const Medians& medians) const {
  std::map<std::string, Standing> standings;
  for (const auto& [id, subject] : subjects_) {
    Standing& standing = standings[id];
    for (const size_t i : subject.pairings) {
      const Pairing& pairing = pairings_[i];
      if (!pairing.is_over) continue;
      if (IsGood(pairing, medians)) standing = Standing::kGood;
      if (standing == Standing::kUnmeasured) standing = Standing::kUndecided;
    }
  }
  for (const auto& [id, subject] : subjects_) {
    Standing& standing = standings[id];
    if (standing != Standing::kUndecided) continue;
    int with_good_partner = 0;
    for (const size_t i : subject.pairings) {
      const Pairing& pairing = pairings_[i];
      if (!pairing.is_over) continue;
      const std::string& other =
          pairing.server == id ? pairing.client : pairing.server;
      with_good_partner += standings[other] == Standing::kGood ? 1 : 0;
    }
    // A node is bad if it never answered although a partner did (IsSilent), or
    // if its measurements with at least two good partners were bad. One bad
    // measurement is not enough: a temporary disturbance may have caused it.
    if (IsSilent(id, subject) || with_good_partner > 1) {
      standing = Standing::kBad;
    }
  }
  return standings;
}

std::vector<GpuPairing> NetworkCheck::GpuPairings() const {
  std::vector<GpuPairing> pairs;
  for (const Pairing& pairing : pairings_) {
    if (!pairing.is_over) continue;
    const auto end = [&](const std::string& id, const Answer& answer) {
      return GpuPairing::End{.node_id = id,
                             .host = subjects_.at(id).host,
                             .measured = answer.value};
    };
    pairs.push_back({end(pairing.server, pairing.of_server),
                     end(pairing.client, pairing.of_client)});
  }
  return pairs;
}

bool NetworkCheck::HaveMet(const std::string& a, const std::string& b) const {
  const auto subject = subjects_.find(a);
  if (subject == subjects_.end()) return false;
  return std::ranges::any_of(subject->second.pairings, [&](size_t i) {
    return pairings_[i].server == b || pairings_[i].client == b;
  });
}

NetworkCheck::Pairs NetworkCheck::PlanAllPairs(
    const std::vector<std::string>& ids) const {
  for (size_t i = 0; i < ids.size(); ++i) {
    for (size_t j = i + 1; j < ids.size(); ++j) {
      if (!HaveMet(ids[i], ids[j])) return {{ids[i], ids[j]}};
    }
  }
  return {};
}

NetworkCheck::Pairs NetworkCheck::Plan(
    const std::vector<Participant>& present) const {
  const auto standings = Standings(ComputeMedians());
  const auto gpus = JudgeGpus(GpuPairings());
  // nodes that were not measured yet, or whose bad measurements may be the
  // fault of their partners
  std::vector<std::string> suspects;
  std::vector<std::string> good;
  for (const Participant& one : present) {
    const auto found = standings.find(one.node_id);
    Standing standing =
        found == standings.end() ? Standing::kUnmeasured : found->second;
    if (standing == Standing::kGood) {
      const auto judged = gpus.find(one.node_id);
      const Grade grade =
          judged == gpus.end() ? Grade::kGood : judged->second.grade;
      if (grade == Grade::kUndecided) {
        standing = Standing::kUndecided;
      } else if (grade != Grade::kGood) {
        standing = Standing::kBad;
      }
    }
    if (standing == Standing::kGood) {
      good.push_back(one.node_id);
    } else if (standing != Standing::kBad) {
      suspects.push_back(one.node_id);
    }
  }
  Pairs pairs;
  if (rounds_ == 0) {
    for (size_t i = 0; i + 1 < suspects.size(); i += 2) {
      pairs.emplace_back(suspects[i], suspects[i + 1]);
    }
    return pairs;
  }
  if (subjects_.size() <= 3 && present.size() <= 3) {
    good.insert(good.end(), suspects.begin(), suspects.end());
    return PlanAllPairs(good);
  }
  // Pair each suspect with a good node with which it has not been measured
  // (HaveMet). good[used] is the next free good node. If the suspect has been
  // measured with good[used], take the good node after good[used]. The suspect
  // has been measured with at most one good node, so it has not been measured
  // with this one. A suspect without a free good node goes to `left`.
  std::vector<std::string> left;
  size_t used = 0;  // number of good nodes that `pairs` contains
  for (const std::string& suspect : suspects) {
    if (used + 1 < good.size() && HaveMet(suspect, good[used])) {
      std::swap(good[used], good[used + 1]);
    }
    if (used < good.size() && !HaveMet(suspect, good[used])) {
      pairs.emplace_back(good[used++], suspect);
    } else {
      left.push_back(suspect);
    }
  }
  if (rounds_ == 1) {
    left.insert(left.end(), good.begin() + static_cast<long>(used), good.end());
  } else if (good.empty()) {
    // Without a good node, no further measurement can show which suspect is
    // bad.
    return {};
  }
  // Pair the remaining nodes with each other: node i of the list with node i +
  // half. The first round paired neighbours, so these pairs are new unless only
  // two nodes are left.
  const size_t half = left.size() / 2;
  for (size_t i = 0; i < half; ++i) {
    if (HaveMet(left[i], left[i + half])) continue;
    pairs.emplace_back(left[i], left[i + half]);
  }
  return pairs;
}

bool NetworkCheck::BeginRound(Instant now, uint64_t number,
                              const std::vector<Participant>& present) {
  MUSTER_CHECK(!is_measuring_);
  const int most = 2 + std::bit_width(std::max(present.size(), size_t{1}));
  if (rounds_ >= most) return false;
  const Pairs pairs = Plan(present);
  if (pairs.empty()) return false;
  for (const Participant& one : present) {
    subjects_[one.node_id].host = one.host;
  }
  current_.clear();
  for (const auto& [server, client] : pairs) {
    const size_t index = pairings_.size();
    pairings_.push_back({.server = server, .client = client});
    for (const std::string* id : {&server, &client}) {
      subjects_[*id].pairings.push_back(index);
      current_[*id] = index;
    }
  }
  awaited_ = current_.size();
  ++rounds_;
  number_ = number;
  is_measuring_ = true;
  is_forgiven_ = false;
  // Whether the participant has GPUs, and has a partner in this round.
  const auto has_gpus = [&](const Participant& one) {
    return one.gpus > 0 && current_.contains(one.node_id);
  };
  timeout_ = std::ranges::count_if(present, has_gpus) > 1 ? kGpuRoundTimeout
                                                          : kRoundTimeout;
  deadline_ = now + timeout_;
  return true;
}

void NetworkCheck::Take(const std::string& node_id,
                        const PairMeasurement& answer) {
  const auto found = current_.find(node_id);
  if (!is_measuring_ || answer.number != number_ || found == current_.end()) {
    return;
  }
  Pairing& pairing = pairings_[found->second];
  Answer& own =
      pairing.server == node_id ? pairing.of_server : pairing.of_client;
  if (own.came) return;
  own = {.came = true, .value = answer};
  --awaited_;
  if (!IsPositive(answer.compute_s)) return;
  double& best = subjects_[node_id].compute_s;
  best = best > 0 ? std::min(best, answer.compute_s) : answer.compute_s;
}

void NetworkCheck::Lose(const std::string& node_id) {
  const std::optional<Partner> partner = PartnerOf(node_id);
  Take(node_id, {.number = number_, .failure = "it left the job"});
  // The node has left the job. Its partner then has no node to measure with,
  // and sends no answer. So record a failure for the partner, too.
  if (partner.has_value()) {
    Take(partner->node_id,
         {.number = number_, .failure = "its partner left the job"});
  }
}

void NetworkCheck::EndRoundIfDue(Instant now) {
  if (!is_measuring_) return;
  if (awaited_ > 0 && now < deadline_) return;
  for (const auto& [id, index] : current_) pairings_[index].is_over = true;
  current_.clear();
  is_measuring_ = false;
}

void NetworkCheck::ForgiveStandstill(Instant now) {
  if (!is_measuring_ || is_forgiven_) return;
  is_forgiven_ = true;
  deadline_ = now + timeout_;
}

std::optional<Instant> NetworkCheck::Deadline() const {
  if (!is_measuring_) return std::nullopt;
  return deadline_;
}

std::optional<NetworkCheck::Partner> NetworkCheck::PartnerOf(
    const std::string& node_id) const {
  const auto found = current_.find(node_id);
  if (!is_measuring_ || found == current_.end()) return std::nullopt;
  const Pairing& pairing = pairings_[found->second];
  const bool serves = pairing.server == node_id;
  return Partner{
      .node_id = serves ? pairing.client : pairing.server,
      .role = serves ? PairCheck::Role::kServe : PairCheck::Role::kConnect};
}

std::string NetworkCheck::Describe(const std::string& node_id,
                                   const Subject& subject) const {
  std::string text;
  for (const size_t i : subject.pairings) {
    const Pairing& pairing = pairings_[i];
    if (!pairing.is_over) continue;
    const bool serves = pairing.server == node_id;
    const std::string& other =
        subjects_.at(serves ? pairing.client : pairing.server).host;
    absl::StrAppend(&text, text.empty() ? "" : ", ");
    if (const std::optional<Values> values = ValuesOf(pairing)) {
      absl::StrAppend(&text, RateText(values->bytes_per_s), " and ",
                      TimeText(values->round_trip_s), " with ", other);
      continue;
    }
    const Answer& own = serves ? pairing.of_server : pairing.of_client;
    const Answer& theirs = serves ? pairing.of_client : pairing.of_server;
    const std::string defect = DefectOf(own.came, own.value);
    absl::StrAppend(&text, "no measurement with ", other, " (",
                    defect.empty()
                        ? absl::StrCat("on ", other, ": ",
                                       DefectOf(theirs.came, theirs.value))
                        : defect,
                    ")");
  }
  return text;
}

std::string NetworkCheck::DescribeMedians(const Medians& medians) const {
  if (medians.nodes == 0) return "";
  return absl::StrCat("; the medians of ", medians.nodes, " nodes are ",
                      RateText(medians.network.bytes_per_s), " and ",
                      TimeText(medians.network.round_trip_s));
}

std::vector<NetworkCheck::Finding> NetworkCheck::Judge() const {
  const Medians medians = ComputeMedians();
  const auto standings = Standings(medians);
  const auto gpus = JudgeGpus(GpuPairings());
  std::vector<Finding> findings;
  for (const auto& [id, subject] : subjects_) {
    const Standing standing = standings.at(id);
    if (standing == Standing::kUnmeasured) continue;
    Finding finding{.node_id = id};
    const bool is_measured = std::ranges::any_of(
        subject.pairings,
        [this](size_t i) { return ValuesOf(pairings_[i]).has_value(); });
    if (standing == Standing::kBad) {
      finding.grade = is_measured ? Grade::kSlow : Grade::kFailed;
      finding.why =
          absl::StrCat(Describe(id, subject), DescribeMedians(medians));
    } else if (standing == Standing::kUndecided) {
      finding.grade = Grade::kUndecided;
      finding.why = Describe(id, subject);
    }
    const double longest = std::max(kSlowComputeFactor * medians.compute_s,
                                    medians.compute_s + kMinExcessCompute);
    if (subject.compute_s > longest && standing != Standing::kBad) {
      finding.grade = Grade::kSlow;
      finding.why =
          absl::StrCat("its compute kernel takes ", TimeText(subject.compute_s),
                       ", the median is ", TimeText(medians.compute_s));
    }
    const auto judged = gpus.find(id);
    if (finding.grade == Grade::kGood && judged != gpus.end()) {
      finding.grade = judged->second.grade;
      finding.why = judged->second.why;
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::optional<std::vector<NetworkCheck::Finding>> NetworkCheck::Conclude() {
  if (is_measuring_ || rounds_ == concluded_) return std::nullopt;
  concluded_ = rounds_;
  return Judge();
}

}  // namespace muster::rendezvous
