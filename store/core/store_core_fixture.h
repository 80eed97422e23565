#ifndef MUSTER_STORE_CORE_STORE_CORE_FIXTURE_H_
#define MUSTER_STORE_CORE_STORE_CORE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/little_endian.h"
#include "store/core/store_core.h"

namespace muster::store {

inline std::string Number(int64_t number) {
  std::string bytes;
  AppendInteger(number, &bytes);
  return bytes;
}
inline std::string String(std::string_view text) {
  std::string bytes;
  AppendString(text, &bytes);
  return bytes;
}
inline std::string Byte(uint8_t byte) {
  return std::string(1, static_cast<char>(byte));
}

class StoreCoreTest : public testing::Test {
 protected:
  // Formats the effects for comparisons. Reply: "CLIENT<bytes". Reply that only
  // one of several clients may get (kReplyToOne): "CLIENT<1bytes". Close:
  // "CLIENT!reason".
  std::vector<std::string> Take() {
    std::vector<std::string> all;
    for (const auto& effect : effects_.All()) {
      const char* kind = effect.kind == StoreEffects::Kind::kClose   ? "!"
                         : effect.kind == StoreEffects::Kind::kReply ? "<"
                                                                     : "<1";
      const std::string_view bytes = effects_.BytesOf(effect);
      all.push_back(absl::StrCat(effect.client, kind) + std::string(bytes));
    }
    effects_.Clear();
    return all;
  }
  std::vector<std::string> Do(StoreClientId client,
                              const StoreRequest& request) {
    core_.Apply(client, request, &effects_);
    return Take();
  }
  std::vector<std::string> Gone(StoreClientId client) {
    core_.Forget(client, &effects_);
    return Take();
  }
  std::string Get(const std::string& key) {
    const auto got = Do(99, {.command = StoreCommand::kGet, .key = key});
    return got.at(0).substr(3 + 8);
  }
  void Set(const std::string& key, const std::string& value) {
    EXPECT_THAT(
        Do(98, {.command = StoreCommand::kSet, .key = key, .value = value}),
        ::testing::IsEmpty());
  }
  std::vector<std::string> Wait(StoreClientId client,
                                std::vector<std::string_view> keys) {
    return Do(client,
              {.command = StoreCommand::kWait, .keys = std::move(keys)});
  }
  std::vector<std::string> Push(const std::string& queue,
                                const std::string& element) {
    return Do(
        97,
        {.command = StoreCommand::kQueuePush, .key = queue, .value = element});
  }
  std::vector<std::string> Pop(StoreClientId client, const std::string& queue) {
    return Do(client, {.command = StoreCommand::kQueuePop, .key = queue});
  }
  std::vector<std::string> Delete(const std::string& key) {
    return Do(97, {.command = StoreCommand::kDelete, .key = key});
  }
  std::vector<std::string> Barrier(StoreClientId client, const std::string& key,
                                   int64_t world) {
    return Do(client,
              {.command = StoreCommand::kBarrier, .key = key, .number = world});
  }

  StoreEffects effects_;
  StoreCore core_{1 << 20};
};

}  // namespace muster::store

#endif  // MUSTER_STORE_CORE_STORE_CORE_FIXTURE_H_
