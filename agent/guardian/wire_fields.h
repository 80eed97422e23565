#ifndef MUSTER_AGENT_GUARDIAN_WIRE_FIELDS_H_
#define MUSTER_AGENT_GUARDIAN_WIRE_FIELDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

// Appends fields to a message. Integers are little-endian; a string or list is
// its u32 length followed by its elements.
class FieldWriter {
 public:
  explicit FieldWriter(uint8_t kind) { U8(kind); }

  void U8(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void U32(uint32_t value);
  void U64(uint64_t value);
  void I32(int32_t value) { U32(static_cast<uint32_t>(value)); }
  void String(std::string_view value);
  void Strings(const std::vector<std::string>& values);

  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads the fields of a message. After a missing field every read returns zero
// or an empty value, and complete() is false. Check complete() once, at the
// end.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  uint8_t U8();
  uint32_t U32();
  uint64_t U64();
  int32_t I32() { return static_cast<int32_t>(U32()); }
  std::string String();
  std::vector<std::string> Strings();
  // Reads the length of a list whose elements take at least `least_bytes` bytes
  // each. The bound keeps a forged length from allocating more memory than the
  // message has.
  uint32_t Count(size_t least_bytes);

  // Whether no field was missing and no byte is left unread.
  bool complete() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view Take(size_t size);

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_WIRE_FIELDS_H_
