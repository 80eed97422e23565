#include "trainer_sdk/ddp/broadcast_parameters.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/fnv_hash.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {

namespace {

int64_t DigestOf(const Tensor& parameter, TensorData Tensor::*part) {
  FnvHash digest;
  digest.AddNumber(static_cast<uint64_t>(parameter.count()));
  digest.AddNumber(static_cast<uint64_t>(parameter.rows()));
  digest.AddNumber(static_cast<uint64_t>((parameter.*part).dtype));
  digest.AddBytes(parameter.name);
  return static_cast<int64_t>(digest.value());
}

// Gathers one value from every rank, in rank order.
absl::StatusOr<std::vector<int64_t>> Gathered(Device& device,
                                              ProcessGroup& group,
                                              int64_t mine) {
  std::vector<int64_t> all(static_cast<size_t>(group.size()));
  absl::Status status = RunFromHost(
      device, group, AllGather(&mine, all.data(), 1, DType::kInt64));
  if (!status.ok()) return status;
  return all;
}

// The ranks whose value differs from the value of rank 0, as text: "rank 2,
// rank 7".
std::string Others(const std::vector<int64_t>& values) {
  std::string text;
  for (size_t rank = 1; rank < values.size(); ++rank) {
    if (values[rank] == values[0]) continue;
    absl::StrAppend(&text, text.empty() ? "rank " : ", rank ", rank);
  }
  return text;
}

}  // namespace

absl::Status CheckSameParameters(Device& device, ProcessGroup& group,
                                 const std::vector<Tensor>& parameters,
                                 TensorData Tensor::*part) {
  if (group.size() == 1) return absl::OkStatus();
  absl::StatusOr<std::vector<int64_t>> counts =
      Gathered(device, group, static_cast<int64_t>(parameters.size()));
  if (!counts.ok()) return counts.status();
  for (size_t rank = 1; rank < counts->size(); ++rank) {
    if ((*counts)[rank] == (*counts)[0]) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "the ranks have different models: rank 0 has ", (*counts)[0],
        " parameters, rank ", rank, " ", (*counts)[rank]));
  }
  std::vector<int64_t> least;
  for (const Tensor& parameter : parameters) {
    least.push_back(DigestOf(parameter, part));
  }
  std::vector<int64_t> most = least;
  for (const auto& [values, op] :
       {std::pair(&least, ReduceOp::kMin), std::pair(&most, ReduceOp::kMax)}) {
    absl::Status status = RunFromHost(
        device, group,
        AllReduce(values->data(), values->data(),
                  static_cast<int64_t>(values->size()), DType::kInt64, op));
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (least[i] == most[i]) continue;
    const Tensor& mine = parameters[i];
    // The digests of parameter `i` differ between ranks: the smallest one
    // (`least`) is not the largest one (`most`). Gather all ranks' digests of
    // this parameter, to name the ranks that differ. Every rank comes here,
    // because `least` and `most` are equal on all ranks.
    const absl::StatusOr<std::vector<int64_t>> digests =
        Gathered(device, group, DigestOf(mine, part));
    if (!digests.ok()) return digests.status();
    return absl::FailedPreconditionError(
        absl::StrCat("the ranks have different models: parameter ", i,
                     ", here (rank ", group.rank(), ") '", mine.name, "' of ",
                     mine.count(), " ", Name((mine.*part).dtype),
                     ", is another than rank 0's on ", Others(*digests)));
  }
  return absl::OkStatus();
}

namespace {

// The maximum size in bytes of a packed message, in which several values are
// sent together. Each value in host memory that is smaller than this is packed,
// because a message of a few bytes takes as long as one of some thousand bytes.
constexpr int64_t kPacked = 1 << 20;

int64_t BytesOf(const TensorData& value) {
  return value.count * SizeOf(value.dtype);
}

absl::Status CheckSame(Device& device, ProcessGroup& group,
                       const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    absl::Status wrong = CheckData(tensor, tensor.value, "value");
    if (!wrong.ok()) return wrong;
  }
  return CheckSameParameters(device, group, tensors, &Tensor::value);
}

// Broadcasts `bytes` bytes from rank 0. Values of every type are sent as int8,
// because a broadcast computes nothing.
absl::Status Send(Device& device, ProcessGroup& group, void* data,
                  int64_t bytes, const std::string& what) {
  Operation operation = Broadcast(data, data, bytes, DType::kInt8, 0);
  operation.stream = device.handle(Device::Stream::kCommunication);
  absl::Status status = group.Run(operation);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("sending rank 0's ", what,
                                                  ": ", status.message()));
}

// Broadcasts the values of tensors[first] to tensors[last - 1], which are in
// host memory, as one message.
absl::Status SendPacked(ProcessGroup& group, const std::vector<Tensor>& tensors,
                        size_t first, size_t last) {
  std::vector<char> packed;
  for (size_t i = first; i < last; ++i) {
    const char* const data = static_cast<const char*>(tensors[i].value.data);
    packed.insert(packed.end(), data, data + BytesOf(tensors[i].value));
  }
  absl::Status status = Send(
      HostDevice(), group, packed.data(), static_cast<int64_t>(packed.size()),
      absl::StrCat("parameters '", tensors[first].name, "' to '",
                   tensors[last - 1].name, "'"));
  if (!status.ok()) return status;
  const char* from = packed.data();
  for (size_t i = first; i < last; ++i) {
    const auto bytes = static_cast<size_t>(BytesOf(tensors[i].value));
    if (bytes > 0) std::memcpy(tensors[i].value.data, from, bytes);
    from += bytes;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BroadcastParameters(ProcessGroup& group,
                                 const std::vector<Tensor>& tensors,
                                 Device& device) {
  absl::Status status = CheckSame(device, group, tensors);
  device.WaitForOther(Device::Stream::kCommunication);
  for (size_t i = 0; i < tensors.size() && status.ok();) {
    const int64_t bytes = BytesOf(tensors[i].value);
    if (bytes >= kPacked || !device.is_host()) {
      status = Send(device, group, tensors[i].value.data, bytes,
                    absl::StrCat("parameter '", tensors[i].name, "'"));
      ++i;
      continue;
    }
    const size_t first = i;
    int64_t packed = 0;
    for (; i < tensors.size() && packed + BytesOf(tensors[i].value) <= kPacked;
         ++i) {
      packed += BytesOf(tensors[i].value);
    }
    status = SendPacked(group, tensors, first, i);
  }
  device.WaitForOther(Device::Stream::kCompute);
  if (status.ok()) status = ConfirmIntact(device, group);
  return status;
}

}  // namespace muster
