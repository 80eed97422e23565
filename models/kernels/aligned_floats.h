#ifndef MUSTER_MODELS_KERNELS_ALIGNED_FLOATS_H_
#define MUSTER_MODELS_KERNELS_ALIGNED_FLOATS_H_

#include <cstddef>
#include <new>
#include <vector>

namespace muster {

// Memory that begins with a cache line. A large std::vector's begins 16 bytes
// after one, so that every register of 64 bytes would span two lines.
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

// What kernels read and write.
using AlignedFloats = std::vector<float, LineAllocator<float>>;

}  // namespace muster

#endif  // MUSTER_MODELS_KERNELS_ALIGNED_FLOATS_H_
