#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_OPERATIONS_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_OPERATIONS_H_

#include <cstdint>
#include <vector>

#include "trainer_sdk/process_group/operation.h"

namespace muster {

// Operations by name. Counts are elements; what each buffer holds is the table
// in operation.h. A `const std::vector<int64_t>& counts` in place of a count
// gives every rank its own. Pure.

Operation AllReduce(const void* input, void* output, int64_t count, DType dtype,
                    ReduceOp op = ReduceOp::kSum);

Operation ReduceScatter(const void* input, void* output, int64_t count,
                        DType dtype, ReduceOp op = ReduceOp::kSum);
Operation ReduceScatter(const void* input, void* output,
                        const std::vector<int64_t>& counts, DType dtype,
                        ReduceOp op = ReduceOp::kSum);

Operation AllGather(const void* input, void* output, int64_t count,
                    DType dtype);
Operation AllGather(const void* input, void* output,
                    const std::vector<int64_t>& counts, DType dtype);

// `input` is the root's; others may give null.
Operation Broadcast(const void* input, void* output, int64_t count, DType dtype,
                    int root);

// `output` is the root's; others may give null. The same for Gather.
Operation Reduce(const void* input, void* output, int64_t count, DType dtype,
                 int root, ReduceOp op = ReduceOp::kSum);

// `count` elements to each and from each.
Operation AllToAll(const void* input, void* output, int64_t count, DType dtype);
Operation AllToAll(const void* input, void* output,
                   const std::vector<int64_t>& send_counts,
                   const std::vector<int64_t>& receive_counts, DType dtype);

Operation Gather(const void* input, void* output, int64_t count, DType dtype,
                 int root);
Operation Gather(const void* input, void* output,
                 const std::vector<int64_t>& counts, DType dtype, int root);

// `input` is the root's; others may give null.
Operation Scatter(const void* input, void* output, int64_t count, DType dtype,
                  int root);
Operation Scatter(const void* input, void* output,
                  const std::vector<int64_t>& counts, DType dtype, int root);

Operation Barrier();

// Messages between two ranks arrive in the order of their sending per tag.
Operation Send(const void* data, int64_t count, DType dtype, int peer,
               int tag = 0);
Operation Receive(void* data, int64_t count, DType dtype, int peer,
                  int tag = 0);

// Several sends and receives at once, in whatever order they can be done: what
// keeps neighbours that both send first from waiting for each other.
Operation Batch(std::vector<PointToPoint> messages);
PointToPoint BatchSend(const void* data, int64_t count, DType dtype, int peer,
                       int tag = 0);
PointToPoint BatchReceive(void* data, int64_t count, DType dtype, int peer,
                          int tag = 0);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_OPERATIONS_H_
