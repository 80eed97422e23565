#include "agent/guardian/wire_fields.h"

namespace muster::agent {

void FieldWriter::U32(uint32_t value) {
  for (int i = 0; i < 4; ++i) U8(static_cast<uint8_t>(value >> (8 * i)));
}

void FieldWriter::U64(uint64_t value) {
  for (int i = 0; i < 8; ++i) U8(static_cast<uint8_t>(value >> (8 * i)));
}

void FieldWriter::String(std::string_view value) {
  U32(static_cast<uint32_t>(value.size()));
  bytes_.append(value);
}

void FieldWriter::Strings(const std::vector<std::string>& values) {
  U32(static_cast<uint32_t>(values.size()));
  for (const std::string& value : values) String(value);
}

std::string_view FieldReader::Take(size_t size) {
  if (failed_ || rest_.size() < size) {
    failed_ = true;
    return {};
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

uint8_t FieldReader::U8() {
  const std::string_view bytes = Take(1);
  return bytes.empty() ? 0 : static_cast<uint8_t>(bytes[0]);
}

uint32_t FieldReader::U32() {
  uint32_t value = 0;
  const std::string_view bytes = Take(4);
  for (size_t i = 0; i < bytes.size(); ++i) {
    value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return value;
}

uint64_t FieldReader::U64() {
  const uint64_t low = U32();
  return low | static_cast<uint64_t>(U32()) << 32;
}

std::string FieldReader::String() { return std::string(Take(U32())); }

uint32_t FieldReader::Count(size_t least_bytes) {
  const uint32_t count = U32();
  if (count > rest_.size() / least_bytes) {
    failed_ = true;
    return 0;
  }
  return count;
}

std::vector<std::string> FieldReader::Strings() {
  std::vector<std::string> values(Count(4));
  for (std::string& value : values) value = String();
  return values;
}

}  // namespace muster::agent
