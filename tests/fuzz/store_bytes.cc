#include "tests/fuzz/store_bytes.h"

#include <vector>

#include "base/little_endian.h"
#include "store/wire/request.h"

namespace muster {

std::string StoreBytes::Key() { return std::string(1, 'a' + Below(6)); }

std::string StoreBytes::Opening() {
  std::string bytes;
  if (Below(4) == 0) return bytes;
  store::AppendRequest(
      {.command = store::StoreCommand::kValidate, .number = store::kStoreMagic},
      &bytes);
  return bytes;
}

std::string StoreBytes::SoundRequest() {
  const std::string key = Key();
  const std::string value(Below(4) == 0 ? Below(2000) : Below(3), '7');
  const std::string expected(Below(3), '7');
  std::vector<std::string> keys(Below(4));
  for (std::string& each : keys) each = Key();
  store::StoreRequest request = {
      .command = static_cast<store::StoreCommand>(
          1 + Below(static_cast<uint64_t>(store::StoreCommand::kBarrier))),
      .key = key,
      .value = value,
      .expected = expected,
      .number = static_cast<int64_t>(Below(5)) - 1,
  };
  for (const std::string& each : keys) {
    request.keys.push_back(each);
    request.values.push_back(value);
  }
  std::string bytes;
  store::AppendRequest(request, &bytes);
  return bytes;
}

std::string StoreBytes::Request() {
  std::string bytes = SoundRequest();
  switch (Below(40)) {
    case 0:  // a truncated request
      bytes.resize(Below(bytes.size()) + 1);
      break;
    case 1: {  // a request whose length or count is above or exactly at a limit
      const uint64_t lengths[] = {~uint64_t{0},
                                  uint64_t{1} << 63,
                                  store::kMaxStoreKeyBytes + 1,
                                  store::kMaxStoreKeyBytes,
                                  store::kMaxStoreValueBytes + 1,
                                  store::kMaxStoreKeys};
      std::string length;
      AppendInteger(lengths[Below(6)], &length);
      bytes.replace(1, 8, length);
      break;
    }
    case 2:  // random bytes
      for (char& byte : bytes) byte = static_cast<char>(Below(256));
      break;
    case 3:
      bytes[Below(bytes.size())] ^= static_cast<char>(1 << Below(8));
      break;
    default:
      break;
  }
  return bytes;
}

}  // namespace muster
