#include "trainer_sdk/shared_memory/agreement.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trainer_sdk/shared_memory/layout.h"

namespace muster {
namespace {

// True once every rank has posted its call of this number.
class Arrival final : public Wish {
 public:
  Arrival(const Peers& peers, uint64_t number)
      : peers_(peers), number_(number) {}

  bool Granted() const override {
    // A rank that has posted stays so, so the search continues at the first one
    // that has not.
    while (next_ < peers_.size() && HasCome(next_)) ++next_;
    return next_ == peers_.size();
  }

  std::vector<int> Absent() const override {
    std::vector<int> absent;
    for (int rank = 0; rank < peers_.size(); ++rank) {
      if (!HasCome(rank)) absent.push_back(rank);
    }
    return absent;
  }

  std::string Tell(int rank) const override {
    const Call& last = peers_.page(rank).calls[(number_ - 1) % 2];
    if (last.stamp.load() == 0) return "has called no collective yet";
    return absl::StrCat(
        "has not called it: its last collective was ",
        last.allocation != 0 ? "an allocation" : Describe(last.signature));
  }

 private:
  bool HasCome(int rank) const {
    return peers_.page(rank).calls[number_ % 2].stamp.load(
               std::memory_order_seq_cst) >= number_;
  }

  const Peers& peers_;
  const uint64_t number_;
  mutable int next_ = 0;
};

// True once every rank has reached this phase.
class Phase final : public Wish {
 public:
  Phase(const Peers& peers, uint64_t phase) : peers_(peers), phase_(phase) {}

  bool Granted() const override {
    while (next_ < peers_.size() && HasCome(next_)) ++next_;
    return next_ == peers_.size();
  }

  std::vector<int> Absent() const override {
    std::vector<int> absent;
    for (int rank = 0; rank < peers_.size(); ++rank) {
      if (!HasCome(rank)) absent.push_back(rank);
    }
    return absent;
  }

  std::string Tell(int /*rank*/) const override {
    return "has called it, but does not get on with it";
  }

 private:
  bool HasCome(int rank) const {
    return peers_.page(rank).phase.load(std::memory_order_seq_cst) >= phase_;
  }

  const Peers& peers_;
  const uint64_t phase_;
  mutable int next_ = 0;
};

// Only the last rank to arrive wakes the others, so that no rank is woken too
// early, which would be costly if ranks share cores.
void RingIfLast(GroupPage& group, const Wish& wish) {
  if (group.bell.sleepers.load(std::memory_order_seq_cst) != 0 &&
      wish.Granted()) {
    Ring(group.bell);
  }
}

}  // namespace

absl::Status Agreement::Meet(const Operation& operation, const Terms& terms,
                             const Waiting& waiting) {
  ++number_;
  Call& own = peers_->own_page().calls[number_ % 2];
  own.signature = waiting.signature;
  own.offer = terms.offer;
  own.allocation = terms.allocation;
  if (terms.offer == Offer::kDirect) {
    own.input = terms.input;
    own.output = terms.output;
  }
  if (!operation.counts.empty()) PostCounts(operation);
  own.stamp.store(number_, std::memory_order_seq_cst);
  const Arrival arrival(*peers_, number_);
  RingIfLast(peers_->group(), arrival);
  absl::Status met = peers_->Await(arrival, peers_->group().bell, waiting);
  if (!met.ok()) return met;
  return Compare(operation, waiting.signature);
}

absl::Status Agreement::Step(const Waiting& waiting) {
  ++phase_;
  peers_->own_page().phase.store(phase_, std::memory_order_seq_cst);
  const Phase phase(*peers_, phase_);
  RingIfLast(peers_->group(), phase);
  return peers_->Await(phase, peers_->group().bell, waiting);
}

void Agreement::PostCounts(const Operation& operation) const {
  int64_t* const counts =
      peers_->counts(peers_->rank(), static_cast<int>(number_ % 2));
  std::copy(operation.counts.begin(), operation.counts.end(), counts);
  std::copy(operation.receive_counts.begin(), operation.receive_counts.end(),
            counts + peers_->size());
}

std::vector<int64_t> Agreement::CountsOf(int rank, int first) const {
  const int64_t* const counts =
      peers_->counts(rank, static_cast<int>(number_ % 2)) + first;
  return std::vector<int64_t>(counts, counts + peers_->size());
}

std::string Agreement::DescribeCall(int rank) const {
  const Call& call = CallOf(rank);
  if (call.allocation != 0) {
    return absl::StrCat("allocation of ", call.allocation - 1, " bytes after #",
                        call.signature.sequence);
  }
  std::string text = Describe(call.signature);
  if (call.signature.counts_hash != 0) {
    absl::StrAppend(&text, " [", absl::StrJoin(CountsOf(rank, 0), ", "), "]");
    if (call.signature.kind == OperationKind::kAllToAll) {
      absl::StrAppend(&text, " for [",
                      absl::StrJoin(CountsOf(rank, peers_->size()), ", "), "]");
    }
  }
  return text;
}

absl::Status Agreement::Compare(const Operation& operation,
                                const OperationSignature& own) const {
  const int size = peers_->size();
  bool same = true;
  for (int rank = 0; rank < size; ++rank) {
    const OperationSignature& other = CallOf(rank).signature;
    same = same && (other == own || SameCollective(other, own)) &&
           CallOf(rank).allocation == CallOf(peers_->rank()).allocation;
  }
  const bool in_lanes =
      operation.kind == OperationKind::kAllToAll && !operation.counts.empty();
  if (same && in_lanes) {
    for (int from = 0; from < size; ++from) {
      for (int to = 0; to < size; ++to) {
        same = same && SendCount(from, to) == ReceiveCount(from, to);
      }
    }
  }
  if (same) return absl::OkStatus();

  std::vector<std::string> calls;  // ordered by their first rank
  std::map<std::string, std::string> callers;
  for (int rank = 0; rank < size; ++rank) {
    const std::string call = DescribeCall(rank);
    std::string& who = callers[call];
    if (who.empty()) calls.push_back(call);
    absl::StrAppend(&who, who.empty() ? "" : ", ", peers_->Who(rank));
  }
  std::string text =
      absl::StrCat(Describe(own), ": ranks called different things:");
  for (const std::string& call : calls) {
    absl::StrAppend(&text, " ", callers[call], " called ", call, ";");
  }
  text.pop_back();
  return peers_->Break(absl::FailedPreconditionError(text));
}

}  // namespace muster
