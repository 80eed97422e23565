#include "trainer_sdk/nccl/nccl_operation.h"

#include <vector>

namespace muster {
namespace {

int NcclType(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return nccl::kNcclFloat32;
    case DType::kFloat64:
      return nccl::kNcclFloat64;
    case DType::kBFloat16:
      return nccl::kNcclBFloat16;
    case DType::kFloat16:
      return nccl::kNcclFloat16;
    case DType::kInt8:
      return nccl::kNcclInt8;
    case DType::kInt32:
      return nccl::kNcclInt32;
    case DType::kInt64:
      return nccl::kNcclInt64;
  }
  return nccl::kNcclInt8;
}

int NcclOp(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return nccl::kNcclSum;
    case ReduceOp::kAvg:
      return nccl::kNcclAvg;
    case ReduceOp::kMin:
      return nccl::kNcclMin;
    case ReduceOp::kMax:
      return nccl::kNcclMax;
    case ReduceOp::kProd:
      return nccl::kNcclProd;
  }
  return nccl::kNcclSum;
}

// Returns the number of elements in each rank's part, indexed by rank. `count`
// is the number for every rank if `counts` is empty.
std::vector<int64_t> Parts(const std::vector<int64_t>& counts, int64_t count,
                           int size) {
  return counts.empty() ? std::vector<int64_t>(size, count) : counts;
}

// Makes the NCCL calls of one operation. If there may be several calls, they
// form one NCCL group. After an error, no further calls are made, but the NCCL
// group is still ended.
class NcclCalls {
 public:
  NcclCalls(const NcclCallSite& site, const Operation& operation)
      : site_(site),
        operation_(operation),
        element_(SizeOf(operation.dtype)),
        type_(NcclType(operation.dtype)),
        op_(NcclOp(operation.reduce_op)),
        in_(static_cast<const char*>(operation.input)),
        out_(static_cast<char*>(operation.output)) {}

  nccl::NcclResult Run();

 private:
  nccl::NcclResult Single();
  void UnevenReduceScatter();
  void UnevenAllGather();
  void AllToAll();
  void Gather();
  void Scatter();
  void Batch();

  void Note(nccl::NcclResult result) {
    // Keep the first error. kNcclInProgress is not an error: within an NCCL
    // group, calls are only registered, and ncclGroupEnd returns their result.
    if (result_ == nccl::kNcclSuccess && result != nccl::kNcclInProgress)
      result_ = result;
  }
  void Send(const void* data, int64_t count, int type, int peer) {
    if (count == 0 || result_ != nccl::kNcclSuccess) return;
    Note(site_.nccl->Send(data, count, type, peer, site_.comm, site_.stream));
  }
  void Receive(void* data, int64_t count, int type, int peer) {
    if (count == 0 || result_ != nccl::kNcclSuccess) return;
    Note(site_.nccl->Recv(data, count, type, peer, site_.comm, site_.stream));
  }

  const NcclCallSite& site_;
  const Operation& operation_;
  const int64_t element_;
  const int type_;
  const int op_;
  const char* const in_;
  char* const out_;
  nccl::NcclResult result_ = nccl::kNcclSuccess;
};

nccl::NcclResult NcclCalls::Run() {
  using Body = void (NcclCalls::*)();
  Body grouped = nullptr;
  const bool uneven = !operation_.counts.empty();
  switch (operation_.kind) {
    case OperationKind::kReduceScatter:
      if (uneven) grouped = &NcclCalls::UnevenReduceScatter;
      break;
    case OperationKind::kAllGather:
      if (uneven) grouped = &NcclCalls::UnevenAllGather;
      break;
    case OperationKind::kAllToAll:
      grouped = &NcclCalls::AllToAll;
      break;
    case OperationKind::kGather:
      grouped = &NcclCalls::Gather;
      break;
    case OperationKind::kScatter:
      grouped = &NcclCalls::Scatter;
      break;
    case OperationKind::kBatch:
      grouped = &NcclCalls::Batch;
      break;
    default:
      break;
  }
  if (grouped == nullptr) return Single();
  const nccl::NcclResult started = site_.nccl->GroupStart();
  if (started != nccl::kNcclSuccess) return started;
  (this->*grouped)();
  const nccl::NcclResult ended = site_.nccl->GroupEnd();
  return result_ != nccl::kNcclSuccess ? result_ : ended;
}

nccl::NcclResult NcclCalls::Single() {
  const nccl::NcclLibrary& nccl = *site_.nccl;
  const size_t count = static_cast<size_t>(operation_.count);
  const int root = operation_.root;
  switch (operation_.kind) {
    case OperationKind::kAllReduce:
      return nccl.AllReduce(in_, out_, count, type_, op_, site_.comm,
                            site_.stream);
    case OperationKind::kReduceScatter:
      return nccl.ReduceScatter(in_, out_, count, type_, op_, site_.comm,
                                site_.stream);
    case OperationKind::kAllGather:
      return nccl.AllGather(in_, out_, count, type_, site_.comm, site_.stream);
    case OperationKind::kBroadcast:
      // NCCL reads only the root's input, so other ranks may pass null.
      return nccl.Broadcast(site_.rank == root ? in_ : out_, out_, count, type_,
                            root, site_.comm, site_.stream);
    case OperationKind::kReduce:
      // NCCL writes only the root's output, so other ranks may pass null.
      return nccl.Reduce(in_, out_, count, type_, op_, root, site_.comm,
                         site_.stream);
    case OperationKind::kSend:
      return nccl.Send(in_, count, type_, root, site_.comm, site_.stream);
    case OperationKind::kReceive:
      return nccl.Recv(out_, count, type_, root, site_.comm, site_.stream);
    case OperationKind::kBarrier:
      return nccl.AllReduce(site_.barrier_cell, site_.barrier_cell, 1,
                            nccl::kNcclInt32, nccl::kNcclSum, site_.comm,
                            site_.stream);
    default:
      return nccl::kNcclInvalidUsage;
  }
}

void NcclCalls::UnevenReduceScatter() {
  const char* part = in_;
  for (int r = 0; r < site_.size; ++r) {
    const int64_t count = operation_.counts[r];
    if (count > 0 && result_ == nccl::kNcclSuccess) {
      Note(site_.nccl->Reduce(part, r == site_.rank ? out_ : nullptr, count,
                              type_, op_, r, site_.comm, site_.stream));
    }
    part += count * element_;
  }
}

void NcclCalls::UnevenAllGather() {
  char* part = out_;
  for (int r = 0; r < site_.size; ++r) {
    const int64_t count = operation_.counts[r];
    if (count > 0 && result_ == nccl::kNcclSuccess) {
      Note(site_.nccl->Broadcast(r == site_.rank ? in_ : part, part, count,
                                 type_, r, site_.comm, site_.stream));
    }
    part += count * element_;
  }
}

void NcclCalls::AllToAll() {
  const auto sent = Parts(operation_.counts, operation_.count, site_.size);
  const auto received =
      Parts(operation_.receive_counts, operation_.count, site_.size);
  const char* from = in_;
  char* to = out_;
  for (int r = 0; r < site_.size; ++r) {
    Send(from, sent[r], type_, r);
    Receive(to, received[r], type_, r);
    from += sent[r] * element_;
    to += received[r] * element_;
  }
}

void NcclCalls::Gather() {
  const auto parts = Parts(operation_.counts, operation_.count, site_.size);
  const int root = operation_.root;
  char* part = out_;
  for (int r = 0; site_.rank == root && r < site_.size; ++r) {
    if (r != root || part != in_) Receive(part, parts[r], type_, r);
    if (r == root && part != in_) Send(in_, parts[r], type_, root);
    part += parts[r] * element_;
  }
  if (site_.rank != root) Send(in_, parts[site_.rank], type_, root);
}

void NcclCalls::Scatter() {
  const auto parts = Parts(operation_.counts, operation_.count, site_.size);
  const int root = operation_.root;
  const char* part = in_;
  for (int r = 0; site_.rank == root && r < site_.size; ++r) {
    if (r != root || part != out_) Send(part, parts[r], type_, r);
    if (r == root && part != out_) Receive(out_, parts[r], type_, root);
    part += parts[r] * element_;
  }
  if (site_.rank != root) Receive(out_, parts[site_.rank], type_, root);
}

void NcclCalls::Batch() {
  for (const PointToPoint& message : operation_.messages) {
    const int type = NcclType(message.dtype);
    if (message.kind == OperationKind::kSend) {
      Send(message.data, message.count, type, message.peer);
    } else {
      Receive(message.data, message.count, type, message.peer);
    }
  }
}

}  // namespace

bool MovesAnything(const Operation& operation, int rank, int size) {
  if (operation.kind == OperationKind::kBarrier) return true;
  if (operation.kind == OperationKind::kAllToAll && !operation.counts.empty()) {
    // Ranks may have parts of different lengths. This rank must call NCCL if it
    // sends or receives at least one non-empty part.
    for (int r = 0; r < size; ++r) {
      if (operation.counts[r] > 0 || operation.receive_counts[r] > 0) {
        return true;
      }
    }
    return false;
  }
  if (!operation.counts.empty() &&
      (operation.kind == OperationKind::kGather ||
       operation.kind == OperationKind::kScatter) &&
      rank != operation.root) {
    return operation.counts[rank] > 0;
  }
  return Elements(operation, size) > 0;
}

nccl::NcclResult CallNccl(const NcclCallSite& site,
                          const Operation& operation) {
  return NcclCalls(site, operation).Run();
}

}  // namespace muster
