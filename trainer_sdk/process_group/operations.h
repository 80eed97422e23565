#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_OPERATIONS_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_OPERATIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <type_traits>
#include <vector>

#include "trainer_sdk/process_group/element.h"
#include "trainer_sdk/process_group/operation.h"

namespace muster {

// A pointer to a buffer. `pointee`: the DType of the C++ type to which it
// points; nullopt if this type has no DType. An operation whose `dtype` differs
// from `pointee` is rejected with InvalidArgument. Messages of int8 are an
// exception: they may carry bytes of any type.
template <typename Pointer>
struct TypedBuffer {
  // clang-tidy 14 does not know explicit(false), so its check for implicit
  // constructors is switched off here.
  // NOLINTBEGIN(google-explicit-constructor)
  explicit(false) TypedBuffer(Pointer pointer) : data(pointer) {}
  explicit(false) TypedBuffer(std::nullptr_t) {}
  template <typename T>
  requires(!std::is_void_v<T> &&
           std::is_convertible_v<T*, Pointer>) explicit(false)
      TypedBuffer(T* pointer)
      : data(pointer), pointee(DTypeOf<std::remove_cv_t<T>>()) {}
  // NOLINTEND(google-explicit-constructor)

  Pointer data = nullptr;
  std::optional<DType> pointee = std::nullopt;
};
using InputBuffer = TypedBuffer<const void*>;
using OutputBuffer = TypedBuffer<void*>;

// Functions that make an Operation. Counts are elements; the table in
// operation.h says how many each buffer holds. The overloads with `const
// std::vector<int64_t>& counts` take one count per rank. Pure.

Operation AllReduce(InputBuffer input, OutputBuffer output, int64_t count,
                    DType dtype, ReduceOp op = ReduceOp::kSum);

Operation ReduceScatter(InputBuffer input, OutputBuffer output, int64_t count,
                        DType dtype, ReduceOp op = ReduceOp::kSum);
Operation ReduceScatter(InputBuffer input, OutputBuffer output,
                        const std::vector<int64_t>& counts, DType dtype,
                        ReduceOp op = ReduceOp::kSum);

Operation AllGather(InputBuffer input, OutputBuffer output, int64_t count,
                    DType dtype);
Operation AllGather(InputBuffer input, OutputBuffer output,
                    const std::vector<int64_t>& counts, DType dtype);

// Broadcast reads `input` on the root only; other ranks may pass null.
Operation Broadcast(InputBuffer input, OutputBuffer output, int64_t count,
                    DType dtype, int root);

// Reduce and Gather write `output` on the root only; other ranks may pass null.
Operation Reduce(InputBuffer input, OutputBuffer output, int64_t count,
                 DType dtype, int root, ReduceOp op = ReduceOp::kSum);

// AllToAll with `count` sends `count` elements to each rank and receives
// `count` elements from each rank.
Operation AllToAll(InputBuffer input, OutputBuffer output, int64_t count,
                   DType dtype);
Operation AllToAll(InputBuffer input, OutputBuffer output,
                   const std::vector<int64_t>& send_counts,
                   const std::vector<int64_t>& receive_counts, DType dtype);

Operation Gather(InputBuffer input, OutputBuffer output, int64_t count,
                 DType dtype, int root);
Operation Gather(InputBuffer input, OutputBuffer output,
                 const std::vector<int64_t>& counts, DType dtype, int root);

// Scatter reads `input` on the root only; other ranks may pass null.
Operation Scatter(InputBuffer input, OutputBuffer output, int64_t count,
                  DType dtype, int root);
Operation Scatter(InputBuffer input, OutputBuffer output,
                  const std::vector<int64_t>& counts, DType dtype, int root);

Operation Barrier();

// A Send on one rank and a Receive on another transfer one message. Messages
// from one rank to another that have the same tag arrive in the order in which
// they were sent.
Operation Send(InputBuffer data, int64_t count, DType dtype, int peer,
               int tag = 0);
Operation Receive(OutputBuffer data, int64_t count, DType dtype, int peer,
                  int tag = 0);

// Several sends and receives as one operation, performed in any order. So two
// neighbours may both list their sends first without a deadlock.
Operation Batch(std::vector<PointToPoint> messages);
PointToPoint BatchSend(const void* data, int64_t count, DType dtype, int peer,
                       int tag = 0);
PointToPoint BatchReceive(void* data, int64_t count, DType dtype, int peer,
                          int tag = 0);

// Makes an all_reduce in place. `values` is an ElementRange, such as a
// std::vector<float>, which has the type and the number of elements.
template <ElementRange Range>
Operation AllReduce(Range&& values, ReduceOp op = ReduceOp::kSum) {
  return AllReduce(std::ranges::data(values), std::ranges::data(values),
                   std::ranges::ssize(values), ElementTypeOf<Range>(), op);
}

// Creates the operation of a broadcast in place: the root's values replace
// those of the other ranks.
template <ElementRange Range>
Operation Broadcast(Range&& values, int root) {
  return Broadcast(std::ranges::data(values), std::ranges::data(values),
                   std::ranges::ssize(values), ElementTypeOf<Range>(), root);
}

template <ElementRange Range>
Operation Send(Range&& values, int peer, int tag = 0) {
  return Send(std::ranges::data(values), std::ranges::ssize(values),
              ElementTypeOf<Range>(), peer, tag);
}

template <ElementRange Range>
Operation Receive(Range&& values, int peer, int tag = 0) {
  return Receive(std::ranges::data(values), std::ranges::ssize(values),
                 ElementTypeOf<Range>(), peer, tag);
}

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_OPERATIONS_H_
