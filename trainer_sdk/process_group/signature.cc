#include "trainer_sdk/process_group/signature.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/fnv_hash.h"

namespace muster {
namespace {

// A hash of the counts and their order. Never 0, because 0 stands for an
// operation without counts.
uint64_t HashOf(const std::vector<int64_t>& counts) {
  FnvHash hash;
  for (const int64_t count : counts) hash.AddWord(static_cast<uint64_t>(count));
  return hash.value() == 0 ? 1 : hash.value();
}

int64_t Sum(const std::vector<int64_t>& counts) {
  int64_t sum = 0;
  for (const int64_t count : counts) sum += count;
  return sum;
}

// The total size of the elements in bytes. Capped at the largest int64_t,
// because a signature from another rank or a damaged file may have any count.
int64_t BytesOf(const OperationSignature& signature) {
  int64_t bytes = 0;
  const bool overflows =
      __builtin_mul_overflow(signature.count, SizeOf(signature.dtype), &bytes);
  return overflows ? std::numeric_limits<int64_t>::max() : bytes;
}

}  // namespace

bool IsReduction(OperationKind kind) {
  return kind == OperationKind::kAllReduce || kind == OperationKind::kReduce ||
         kind == OperationKind::kReduceScatter;
}

bool HasRoot(OperationKind kind) {
  return kind == OperationKind::kBroadcast || kind == OperationKind::kReduce ||
         kind == OperationKind::kGather || kind == OperationKind::kScatter;
}

bool IsPointToPoint(OperationKind kind) {
  return kind == OperationKind::kSend || kind == OperationKind::kReceive ||
         kind == OperationKind::kBatch;
}

OperationSignature SignatureOf(const Operation& operation, uint64_t sequence) {
  OperationSignature signature;
  signature.sequence = sequence;
  signature.kind = operation.kind;
  signature.dtype = operation.dtype;
  signature.reduce_op = operation.reduce_op;
  signature.root = operation.root;
  signature.count = operation.count;
  if (operation.kind == OperationKind::kBatch) {
    signature.root = static_cast<int32_t>(operation.messages.size());
    signature.count = Elements(operation, 1);
    for (const PointToPoint& message : operation.messages) {
      const PointToPoint& first = operation.messages.front();
      signature.dtype = first.dtype;
      if (message.dtype == first.dtype) continue;
      signature.mixed = true;
      signature.dtype = DType::kInt8;
      signature.count = Bytes(operation, 1);
      break;
    }
  } else if (!operation.counts.empty()) {
    signature.count = Sum(operation.counts);
    signature.counts_hash = HashOf(operation.counts);
  }
  return signature;
}

BatchPeers BatchPeersOf(const Operation& operation) {
  BatchPeers peers;
  if (operation.kind != OperationKind::kBatch) return peers;
  for (const PointToPoint& message : operation.messages) {
    const auto end = peers.ranks.begin() + peers.count;
    if (std::find(peers.ranks.begin(), end, message.peer) != end) continue;
    if (end == peers.ranks.end()) return BatchPeers();
    peers.ranks[peers.count++] = message.peer;
  }
  return peers;
}

bool SameCollective(const OperationSignature& a, const OperationSignature& b) {
  if (a.sequence != b.sequence || a.kind != b.kind) return false;
  if (IsPointToPoint(a.kind)) return true;
  if (a.kind == OperationKind::kBarrier || a.kind == OperationKind::kSplit) {
    return true;
  }
  if (a.dtype != b.dtype) return false;
  if (IsReduction(a.kind) && a.reduce_op != b.reduce_op) return false;
  if (HasRoot(a.kind) && a.root != b.root) return false;
  if (a.kind == OperationKind::kAllToAll && a.counts_hash != 0 &&
      b.counts_hash != 0) {
    return true;
  }
  return a.count == b.count && a.counts_hash == b.counts_hash;
}

std::string Describe(const OperationSignature& signature) {
  std::string text = Name(signature.kind);
  absl::StrAppend(&text, IsPointToPoint(signature.kind) ? " after #" : " #",
                  signature.sequence);
  if (signature.kind == OperationKind::kBarrier ||
      signature.kind == OperationKind::kSplit) {
    return text;
  }
  absl::StrAppend(&text, " of ");
  if (signature.kind == OperationKind::kBatch) {
    absl::StrAppend(&text, signature.root,
                    signature.root == 1 ? " message" : " messages",
                    signature.mixed ? "" : ", ");
  }
  if (!signature.mixed) {
    absl::StrAppend(&text, signature.count, " ", Name(signature.dtype));
  }
  absl::StrAppend(&text, " (", BytesOf(signature), " bytes");
  if (signature.counts_hash != 0) {
    // `count` is the sum of the counts of all ranks. Different counts can have
    // the same sum, so the text also shows a hash of the counts. The text shows
    // no hash for an all_to_all, whose counts may legitimately differ from rank
    // to rank.
    absl::StrAppend(&text, " in parts");
    if (signature.kind != OperationKind::kAllToAll) {
      absl::StrAppend(
          &text, ", counts ",
          absl::Hex(signature.counts_hash & 0xffff, absl::kZeroPad4));
    }
  }
  absl::StrAppend(&text, ")");
  if (signature.is_partial && !IsPointToPoint(signature.kind)) return text;
  if (IsReduction(signature.kind)) {
    absl::StrAppend(&text, ", ", Name(signature.reduce_op));
  }
  switch (signature.kind) {
    case OperationKind::kBroadcast:
    case OperationKind::kScatter:
    case OperationKind::kReceive:
      absl::StrAppend(&text, " from rank ", signature.root);
      break;
    case OperationKind::kReduce:
    case OperationKind::kGather:
    case OperationKind::kSend:
      absl::StrAppend(&text, " to rank ", signature.root);
      break;
    default:
      break;
  }
  return text;
}

std::string Encoded(const OperationSignature& signature) {
  return absl::StrCat(signature.sequence, " ", static_cast<int>(signature.kind),
                      " ", static_cast<int>(signature.dtype), " ",
                      static_cast<int>(signature.reduce_op), " ",
                      signature.root, " ", signature.count, " ",
                      signature.counts_hash, " ", signature.mixed ? 1 : 0);
}

absl::StatusOr<OperationSignature> DecodeSignature(const std::string& text) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  OperationSignature signature;
  int32_t kind = -1, dtype = -1, op = -1, mixed = -1;
  if (words.size() != 8 || !absl::SimpleAtoi(words[0], &signature.sequence) ||
      !absl::SimpleAtoi(words[1], &kind) || kind < 0 ||
      kind >= kSignatureKinds || !absl::SimpleAtoi(words[2], &dtype) ||
      dtype < 0 || dtype >= kDTypes || !absl::SimpleAtoi(words[3], &op) ||
      op < 0 || op >= kReduceOps ||
      !absl::SimpleAtoi(words[4], &signature.root) ||
      !absl::SimpleAtoi(words[5], &signature.count) ||
      !absl::SimpleAtoi(words[6], &signature.counts_hash) ||
      !absl::SimpleAtoi(words[7], &mixed) || mixed < 0 || mixed > 1) {
    return absl::InvalidArgumentError("not the signature of an operation");
  }
  signature.kind = static_cast<OperationKind>(kind);
  signature.dtype = static_cast<DType>(dtype);
  signature.reduce_op = static_cast<ReduceOp>(op);
  signature.mixed = mixed == 1;
  return signature;
}

}  // namespace muster
