#ifndef MUSTER_STORE_SERVER_BYTE_QUEUE_H_
#define MUSTER_STORE_SERVER_BYTE_QUEUE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::store {

// A buffer of bytes: appended at the end, consumed from the front, with
// amortised O(1) moves per byte. An empty buffer whose contents were small
// holds no heap memory.
class ByteQueue {
 public:
  // The bytes that are not consumed. Valid until the next change.
  std::string_view view() const {
    return std::string_view(bytes_).substr(consumed_);
  }
  size_t size() const { return bytes_.size() - consumed_; }
  bool empty() const { return size() == 0; }

  void Append(std::string_view bytes) { bytes_.append(bytes); }
  // The string to append to.
  std::string* back() { return &bytes_; }

  void Consume(size_t count) {
    consumed_ += count;
    if (consumed_ == bytes_.size()) {
      bytes_.clear();
      consumed_ = 0;
      if (bytes_.capacity() > kKept) bytes_.shrink_to_fit();
    } else if (consumed_ > bytes_.size() / 2) {
      bytes_.erase(0, consumed_);
      consumed_ = 0;
    }
  }

  // Heap memory in bytes.
  size_t capacity() const {
    return bytes_.capacity() > kInline ? bytes_.capacity() : 0;
  }

 private:
  // Capacity of a std::string without heap memory.
  static constexpr size_t kInline = 15;
  static constexpr size_t kKept = 256;

  std::string bytes_;
  size_t consumed_ = 0;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_BYTE_QUEUE_H_
