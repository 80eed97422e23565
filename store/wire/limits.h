#ifndef MUSTER_STORE_WIRE_LIMITS_H_
#define MUSTER_STORE_WIRE_LIMITS_H_

#include <cstddef>

namespace muster {

// What one request or reply may hold. The first three are PyTorch's own.
inline constexpr size_t kMaxStoreKeys = size_t{128} << 10;
inline constexpr size_t kMaxStoreKeyBytes = size_t{8} << 10;
inline constexpr size_t kMaxStoreValueBytes = size_t{8} << 20;

// All of one request's bytes. PyTorch has no such bound, and so lets one
// MULTI_SET ask for a terabyte of buffer.
inline constexpr size_t kMaxStoreRequestBytes = size_t{64} << 20;

// All of one reply's bytes: a MULTI_GET may name one large key many times.
inline constexpr size_t kMaxStoreReplyBytes = size_t{256} << 20;

}  // namespace muster

#endif  // MUSTER_STORE_WIRE_LIMITS_H_
