#include "trainer_sdk/hierarchical/tiered_collectives.h"

#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trainer_sdk/hierarchical/rank_wording.h"
#include "trainer_sdk/network/primitives.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster {
namespace {

// The size of an all_reduce in bytes from which every rank of a host sends a
// part of the data over the network. Smaller data is sent by the host's first
// rank only.
constexpr int64_t kStripedBytes = 64 << 10;

char* At(void* base, int64_t bytes) { return static_cast<char*>(base) + bytes; }

// Performs one rank's part of one operation as a sequence of steps. Each step
// is an operation in one of three groups: the ranks of this host, one rank per
// host, or all ranks.
class TieredOperation {
 public:
  TieredOperation(const Operation& operation,
                  const OperationSignature& signature, Instant deadline,
                  Tiers& tiers)
      : operation_(operation),
        signature_(signature),
        deadline_(deadline),
        tiers_(tiers),
        layout_(tiers.layout),
        element_(SizeOf(operation.dtype)) {}

  absl::Status Run() {
    if (IsPointToPoint(operation_.kind)) return Flat();
    absl::Status s = CompareOnHost();
    if (!s.ok()) return s;
    switch (operation_.kind) {
      case OperationKind::kAllReduce:
        return AllReduceBytes() >= kStripedBytes && layout_.even()
                   ? StripedAllReduce()
                   : LedAllReduce();
      case OperationKind::kReduce:
        return LedReduce();
      case OperationKind::kBroadcast:
        return LedBroadcast();
      case OperationKind::kBarrier:
      case OperationKind::kSplit:
        return LedBarrier();
      case OperationKind::kAllGather:
        return layout_.contiguous() ? LedAllGather() : ComparedFlat();
      case OperationKind::kReduceScatter:
        return layout_.contiguous() ? LedReduceScatter() : ComparedFlat();
      default:
        return ComparedFlat();
    }
  }

 private:
  int64_t AllReduceBytes() const { return operation_.count * element_; }

  // The reduction of each partial collective, which runs within one host or
  // between hosts. For an average, each partial collective computes a sum, and
  // FinishAverage divides the final sum.
  ReduceOp StepOp() const {
    return operation_.reduce_op == ReduceOp::kAvg ? ReduceOp::kSum
                                                  : operation_.reduce_op;
  }
  void FinishAverage(void* data, int64_t count) const {
    if (operation_.reduce_op == ReduceOp::kAvg) {
      Divide(operation_.dtype, data, count, layout_.ranks());
    }
  }

  absl::Status Flat() {
    return tiers_.flat->ExecuteAs(operation_, signature_, deadline_);
  }

  // Performs the operation over the network among all ranks. Before that, the
  // hosts compare their operations: the first ranks of all hosts perform a
  // barrier with this operation's signature, which fails if another host has
  // called a different collective.
  absl::Status ComparedFlat() {
    if (tiers_.leads()) {
      absl::Status s = Across(Barrier());
      if (!s.ok()) return s;
    }
    return Flat();
  }

  absl::Status Across(const Operation& step) {
    const absl::Status s = tiers_.lane->ExecuteAs(step, signature_, deadline_);
    if (s.ok()) return s;
    return absl::Status(s.code(),
                        WithFinderGroupRank(std::string(s.message()),
                                            layout_.Across(tiers_.place())));
  }

  absl::Status OnHost(const Operation& step) {
    if (tiers_.local == nullptr) return absl::OkStatus();
    const bool message = IsPointToPoint(step.kind);
    OperationContext context;
    context.sequence =
        message ? tiers_.local_sequence : ++tiers_.local_sequence;
    context.deadline = deadline_;
    const absl::Status s = tiers_.local->Execute(step, context);
    if (s.ok()) return s;
    tiers_.failed_on_host = true;
    tiers_.compared = compared_;
    const std::string told(s.message());
    // `told` may be a message that another rank of this host made. Such a
    // message already describes the caller's operation, with rank numbers of
    // the whole group, so it is returned unchanged.
    if (absl::StrContains(told, absl::StrCat(Describe(signature_), ": "))) {
      return s;
    }
    return absl::Status(
        s.code(),
        ToldByHost(tiers_,
                   compared_ ? "does not get on with it" : "has not called it",
                   told));
  }

  absl::Status CompareOnHost() {
    static_assert(std::is_trivially_copyable_v<OperationSignature>);
    if (tiers_.local == nullptr) return absl::OkStatus();
    std::vector<OperationSignature> asked(tiers_.locals());
    absl::Status s = OnHost(AllGather(
        &signature_, asked.data(), sizeof(OperationSignature), DType::kInt8));
    if (!s.ok()) return s;
    compared_ = true;
    for (int place = 0; place < tiers_.locals(); ++place) {
      if (SameCollective(asked[place], signature_)) continue;
      const int member = layout_.members(tiers_.host())[place];
      return absl::FailedPreconditionError(absl::StrCat(
          "the ranks called different things: ", Describe(tiers_.names[member]),
          " called ", Describe(asked[place]), " where ",
          Describe(tiers_.names[tiers_.rank]), " called ",
          Describe(signature_)));
    }
    return absl::OkStatus();
  }

  // Performs an all_reduce of large data. The data has one part for each rank
  // of a host. A rank reduces its part together with the ranks that have the
  // same index on the other hosts.
  absl::Status StripedAllReduce() {
    const RankParts parts = RankParts::Even(operation_.count, tiers_.locals());
    std::vector<int64_t> counts;
    for (int place = 0; place < tiers_.locals(); ++place) {
      counts.push_back(parts.count(place));
    }
    const int64_t count = parts.count(tiers_.place());
    char* const own =
        At(operation_.output, parts.begin(tiers_.place()) * element_);
    if (tiers_.local == nullptr) {
      CopyUnlessSame(own, operation_.input, count * element_);
    }
    absl::Status s = OnHost(ReduceScatter(operation_.input, own, counts,
                                          operation_.dtype, StepOp()));
    if (s.ok())
      s = Across(AllReduce(own, own, count, operation_.dtype, StepOp()));
    if (!s.ok()) return s;
    FinishAverage(own, count);
    return OnHost(AllGather(own, operation_.output, counts, operation_.dtype));
  }

  // Performs an all_reduce of small data. Only the first rank of each host uses
  // the network, on behalf of all ranks of its host.
  absl::Status LedAllReduce() {
    const int64_t count = operation_.count;
    if (tiers_.local == nullptr) {
      CopyUnlessSame(operation_.output, operation_.input, count * element_);
    }
    absl::Status s = OnHost(Reduce(operation_.input, operation_.output, count,
                                   operation_.dtype, 0, StepOp()));
    if (!s.ok()) return s;
    if (tiers_.leads()) {
      s = Across(AllReduce(operation_.output, operation_.output, count,
                           operation_.dtype, StepOp()));
      if (!s.ok()) return s;
      FinishAverage(operation_.output, count);
    }
    return OnHost(Broadcast(operation_.output, operation_.output, count,
                            operation_.dtype, 0));
  }

  absl::Status LedReduce() {
    const int64_t count = operation_.count;
    const int root_host = layout_.host_of(operation_.root);
    const int root_place = layout_.place_of(operation_.root);
    // The buffer for the sum over this host's ranks; only the host's first rank
    // uses it. If that rank is the root, the buffer is its output buffer,
    // otherwise scratch memory.
    char* const whole = tiers_.leads() && tiers_.rank != operation_.root
                            ? tiers_.scratch.Get(count * element_)
                            : static_cast<char*>(operation_.output);
    if (tiers_.local == nullptr) {
      CopyUnlessSame(whole, operation_.input, count * element_);
    }
    absl::Status s = OnHost(
        Reduce(operation_.input, whole, count, operation_.dtype, 0, StepOp()));
    if (!s.ok()) return s;
    if (tiers_.leads()) {
      s = Across(
          Reduce(whole, whole, count, operation_.dtype, root_host, StepOp()));
      if (!s.ok()) return s;
    }
    if (tiers_.host() == root_host && root_place != 0) {
      if (tiers_.leads()) {
        s = OnHost(Send(whole, count, operation_.dtype, root_place));
      } else if (tiers_.place() == root_place) {
        s = OnHost(Receive(operation_.output, count, operation_.dtype, 0));
      }
      if (!s.ok()) return s;
    }
    if (tiers_.rank == operation_.root) {
      FinishAverage(operation_.output, count);
    }
    // Before this barrier, the first ranks of the hosts have compared their
    // operations. If the operations differ, the first rank of a host has failed
    // and does not reach this barrier. The barrier then fails on the other
    // ranks of that host, so that they get the error.
    return OnHost(Barrier());
  }

  absl::Status LedBroadcast() {
    const int64_t count = operation_.count;
    const int root_host = layout_.host_of(operation_.root);
    const int root_place = layout_.place_of(operation_.root);
    if (tiers_.local == nullptr && tiers_.rank == operation_.root) {
      CopyUnlessSame(operation_.output, operation_.input, count * element_);
    }
    const auto on_host = [&](const void* input, int root) {
      return OnHost(
          Broadcast(input, operation_.output, count, operation_.dtype, root));
    };
    absl::Status s;
    if (tiers_.host() == root_host) s = on_host(operation_.input, root_place);
    if (!s.ok()) return s;
    if (tiers_.leads()) {
      s = Across(Broadcast(operation_.output, operation_.output, count,
                           operation_.dtype, root_host));
      if (!s.ok()) return s;
    }
    if (tiers_.host() == root_host) return OnHost(Barrier());
    return on_host(operation_.output, 0);
  }

  absl::Status LedBarrier() {
    // CompareOnHost has shown that all ranks of this host have called the
    // barrier. Only the first ranks of the hosts still have to wait for each
    // other.
    if (tiers_.leads()) {
      if (absl::Status s = Across(Barrier()); !s.ok()) return s;
    }
    return OnHost(Barrier());
  }

  absl::Status LedAllGather() {
    const std::vector<int64_t> sums =
        layout_.SumByHost(operation_.counts, operation_.count);
    const RankParts hosts(sums, 0, layout_.hosts());
    const std::vector<int64_t> own =
        layout_.CountsOf(tiers_.host(), operation_.counts, operation_.count);
    char* const block =
        At(operation_.output, hosts.begin(tiers_.host()) * element_);
    if (tiers_.local == nullptr) {
      CopyUnlessSame(block, operation_.input, own.front() * element_);
    }
    absl::Status s =
        OnHost(AllGather(operation_.input, block, own, operation_.dtype));
    if (!s.ok()) return s;
    if (tiers_.leads()) {
      s = Across(AllGather(block, operation_.output, sums, operation_.dtype));
      if (!s.ok()) return s;
    }
    return OnHost(Broadcast(operation_.output, operation_.output, hosts.total(),
                            operation_.dtype, 0));
  }

  absl::Status LedReduceScatter() {
    const std::vector<int64_t> sums =
        layout_.SumByHost(operation_.counts, operation_.count);
    const RankParts hosts(sums, 0, layout_.hosts());
    const std::vector<int64_t> own =
        layout_.CountsOf(tiers_.host(), operation_.counts, operation_.count);
    // The buffer for the sums over this host's ranks: scratch memory on the
    // host's first rank. Null on other ranks, and on a host with only one rank.
    char* whole = nullptr;
    char* block = static_cast<char*>(operation_.output);
    if (tiers_.leads() && tiers_.local != nullptr) {
      whole = tiers_.scratch.Get(hosts.total() * element_);
      block = At(whole, hosts.begin(tiers_.host()) * element_);
    }
    absl::Status s = OnHost(Reduce(operation_.input, whole, hosts.total(),
                                   operation_.dtype, 0, StepOp()));
    if (!s.ok()) return s;
    if (tiers_.leads()) {
      s = Across(ReduceScatter(whole == nullptr ? operation_.input : whole,
                               block, sums, operation_.dtype, StepOp()));
      if (!s.ok()) return s;
      FinishAverage(block, sums[tiers_.host()]);
    }
    return OnHost(Scatter(whole == nullptr ? nullptr : block, operation_.output,
                          own, operation_.dtype, 0));
  }

  const Operation& operation_;
  const OperationSignature& signature_;
  const Instant deadline_;
  Tiers& tiers_;
  const HostLayout& layout_;
  const int64_t element_;
  // Whether all ranks of this host have called an operation, and have compared
  // their operations.
  bool compared_ = false;
};

}  // namespace

std::string ToldByHost(const Tiers& tiers, const std::string& late,
                       const std::string& message) {
  return WithGroupRanks(WithoutSteps(WithoutCalls(message), late),
                        tiers.layout.members(tiers.host()));
}

absl::Status RunOverTiers(const Operation& operation,
                          const OperationSignature& signature, Instant deadline,
                          Tiers& tiers) {
  return TieredOperation(operation, signature, deadline, tiers).Run();
}

}  // namespace muster
