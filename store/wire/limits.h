#ifndef MUSTER_STORE_WIRE_LIMITS_H_
#define MUSTER_STORE_WIRE_LIMITS_H_

#include <cstddef>

namespace muster::store {

// Limits of one request or reply. The first three are PyTorch's.
inline constexpr size_t kMaxStoreKeys = size_t{128} << 10;
inline constexpr size_t kMaxStoreKeyBytes = size_t{8} << 10;
inline constexpr size_t kMaxStoreValueBytes = size_t{8} << 20;

// Limit of one request's total size. PyTorch has none, so that one MULTI_SET
// can request a terabyte of buffer.
inline constexpr size_t kMaxStoreRequestBytes = size_t{64} << 20;

// Limit of one reply's total size: a MULTI_GET may name one large key many
// times.
inline constexpr size_t kMaxStoreReplyBytes = size_t{256} << 20;

}  // namespace muster::store

#endif  // MUSTER_STORE_WIRE_LIMITS_H_
