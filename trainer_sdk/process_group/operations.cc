#include "trainer_sdk/process_group/operations.h"

#include <utility>

namespace muster {
namespace {

Operation Of(OperationKind kind, InputBuffer input, OutputBuffer output,
             int64_t count, DType dtype) {
  Operation operation;
  operation.kind = kind;
  operation.dtype = dtype;
  operation.count = count;
  operation.input = input.data;
  operation.output = output.data;
  operation.pointee =
      input.pointee && *input.pointee != dtype ? input.pointee : output.pointee;
  return operation;
}

Operation Of(OperationKind kind, InputBuffer input, OutputBuffer output,
             const std::vector<int64_t>& counts, DType dtype) {
  Operation operation = Of(kind, input, output, 0, dtype);
  operation.counts = counts;
  return operation;
}

Operation WithOp(Operation operation, ReduceOp op) {
  operation.reduce_op = op;
  return operation;
}

Operation WithRoot(Operation operation, int root) {
  operation.root = root;
  return operation;
}

PointToPoint Message(OperationKind kind, void* data, int64_t count, DType dtype,
                     int peer, int tag) {
  PointToPoint message;
  message.kind = kind;
  message.peer = peer;
  message.tag = tag;
  message.data = data;
  message.count = count;
  message.dtype = dtype;
  return message;
}

}  // namespace

Operation AllReduce(InputBuffer input, OutputBuffer output, int64_t count,
                    DType dtype, ReduceOp op) {
  return WithOp(Of(OperationKind::kAllReduce, input, output, count, dtype), op);
}

Operation ReduceScatter(InputBuffer input, OutputBuffer output, int64_t count,
                        DType dtype, ReduceOp op) {
  return WithOp(Of(OperationKind::kReduceScatter, input, output, count, dtype),
                op);
}

Operation ReduceScatter(InputBuffer input, OutputBuffer output,
                        const std::vector<int64_t>& counts, DType dtype,
                        ReduceOp op) {
  return WithOp(Of(OperationKind::kReduceScatter, input, output, counts, dtype),
                op);
}

Operation AllGather(InputBuffer input, OutputBuffer output, int64_t count,
                    DType dtype) {
  return Of(OperationKind::kAllGather, input, output, count, dtype);
}

Operation AllGather(InputBuffer input, OutputBuffer output,
                    const std::vector<int64_t>& counts, DType dtype) {
  return Of(OperationKind::kAllGather, input, output, counts, dtype);
}

Operation Broadcast(InputBuffer input, OutputBuffer output, int64_t count,
                    DType dtype, int root) {
  return WithRoot(Of(OperationKind::kBroadcast, input, output, count, dtype),
                  root);
}

Operation Reduce(InputBuffer input, OutputBuffer output, int64_t count,
                 DType dtype, int root, ReduceOp op) {
  return WithOp(
      WithRoot(Of(OperationKind::kReduce, input, output, count, dtype), root),
      op);
}

Operation AllToAll(InputBuffer input, OutputBuffer output, int64_t count,
                   DType dtype) {
  return Of(OperationKind::kAllToAll, input, output, count, dtype);
}

Operation AllToAll(InputBuffer input, OutputBuffer output,
                   const std::vector<int64_t>& send_counts,
                   const std::vector<int64_t>& receive_counts, DType dtype) {
  Operation operation =
      Of(OperationKind::kAllToAll, input, output, send_counts, dtype);
  operation.receive_counts = receive_counts;
  return operation;
}

Operation Gather(InputBuffer input, OutputBuffer output, int64_t count,
                 DType dtype, int root) {
  return WithRoot(Of(OperationKind::kGather, input, output, count, dtype),
                  root);
}

Operation Gather(InputBuffer input, OutputBuffer output,
                 const std::vector<int64_t>& counts, DType dtype, int root) {
  return WithRoot(Of(OperationKind::kGather, input, output, counts, dtype),
                  root);
}

Operation Scatter(InputBuffer input, OutputBuffer output, int64_t count,
                  DType dtype, int root) {
  return WithRoot(Of(OperationKind::kScatter, input, output, count, dtype),
                  root);
}

Operation Scatter(InputBuffer input, OutputBuffer output,
                  const std::vector<int64_t>& counts, DType dtype, int root) {
  return WithRoot(Of(OperationKind::kScatter, input, output, counts, dtype),
                  root);
}

Operation Barrier() { return Operation{}; }

Operation Send(InputBuffer data, int64_t count, DType dtype, int peer,
               int tag) {
  Operation operation =
      WithRoot(Of(OperationKind::kSend, data, nullptr, count, dtype), peer);
  operation.tag = tag;
  return operation;
}

Operation Receive(OutputBuffer data, int64_t count, DType dtype, int peer,
                  int tag) {
  Operation operation =
      WithRoot(Of(OperationKind::kReceive, nullptr, data, count, dtype), peer);
  operation.tag = tag;
  return operation;
}

Operation Batch(std::vector<PointToPoint> messages) {
  Operation operation;
  operation.kind = OperationKind::kBatch;
  operation.messages = std::move(messages);
  return operation;
}

PointToPoint BatchSend(const void* data, int64_t count, DType dtype, int peer,
                       int tag) {
  // PointToPoint::data is the buffer of a send or of a receive, so it is not
  // const. A send only reads its buffer, so const may be cast away.
  return Message(OperationKind::kSend, const_cast<void*>(data), count, dtype,
                 peer, tag);
}

PointToPoint BatchReceive(void* data, int64_t count, DType dtype, int peer,
                          int tag) {
  return Message(OperationKind::kReceive, data, count, dtype, peer, tag);
}

}  // namespace muster
