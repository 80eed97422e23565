#include "store/wire/request.h"

#include "base/check.h"
#include "base/little_endian.h"

namespace muster::store {

void AppendRequest(const StoreRequest& request, std::string* out) {
  MUSTER_CHECK(request.command != StoreCommand::kWatchKey)
      << "the modern framing has no WATCH_KEY";
  const ArgumentShape shape = ArgumentsOf(request.command);
  out->push_back(static_cast<char>(request.command));
  if (shape.strings >= 1) AppendString(request.key, out);
  if (shape.strings == 3) AppendString(request.expected, out);
  if (shape.strings >= 2) AppendString(request.value, out);
  if (shape.strings_per_item > 0) {
    AppendInteger<uint64_t>(request.keys.size(), out);
    for (size_t i = 0; i < request.keys.size(); ++i) {
      AppendString(request.keys[i], out);
      if (shape.strings_per_item == 2) AppendString(request.values[i], out);
    }
  }
  if (shape.number_bytes == 4) {
    AppendInteger(static_cast<uint32_t>(request.number), out);
  } else if (shape.number_bytes == 8) {
    AppendInteger(request.number, out);
  }
}

}  // namespace muster::store
