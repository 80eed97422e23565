#ifndef MUSTER_MODELS_KERNELS_ALIGNED_FLOATS_H_
#define MUSTER_MODELS_KERNELS_ALIGNED_FLOATS_H_

#include <cstddef>
#include <new>
#include <vector>

namespace muster::models {

// An allocator of memory that is aligned to cache lines. A large std::vector
// with the standard allocator begins 16 bytes after the start of a cache line,
// so every load of a 64-byte register would touch two lines.
template <typename T>
struct LineAllocator {
  using value_type = T;

  LineAllocator() = default;
  template <typename U>
  explicit LineAllocator(const LineAllocator<U>&) {}

  T* allocate(size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kLine));
  }
  void deallocate(T* memory, size_t) { ::operator delete(memory, kLine); }

  friend bool operator==(const LineAllocator&, const LineAllocator&) {
    return true;
  }

 private:
  static constexpr std::align_val_t kLine{64};
};

// The type of the input and output arrays of kernels.
using AlignedFloats = std::vector<float, LineAllocator<float>>;

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_ALIGNED_FLOATS_H_
