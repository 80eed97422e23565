#include "trainer_sdk/store/store_errors.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace muster {
namespace {

constexpr size_t kShownKeys = 8;
// Keys in error messages are truncated to this number of bytes.
constexpr size_t kShownBytes = 200;

std::string Quoted(const std::string& name) {
  if (name.size() <= kShownBytes) {
    return absl::StrCat("'", absl::CHexEscape(name), "'");
  }
  return absl::StrCat("'", absl::CHexEscape(name.substr(0, kShownBytes)),
                      "...'");
}

}  // namespace

std::string NameSome(const std::vector<std::string>& names, size_t shown) {
  const size_t count = std::min(names.size(), shown);
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const bool last = i > 0 && i + 1 == names.size();
    absl::StrAppend(&text,
                    i == 0 ? ""
                    : last ? " and "
                           : ", ",
                    Quoted(names[i]));
  }
  if (names.size() > count) {
    absl::StrAppend(&text, " and ", names.size() - count, " more");
  }
  return text;
}

absl::Status AbsentKeysError(const std::vector<std::string>& absent,
                             Duration waited, const std::string& store) {
  return absl::DeadlineExceededError(
      absl::StrFormat("waited %.1f s for %s %s, which no client has set in %s",
                      ToSeconds(waited), absent.size() == 1 ? "key" : "keys",
                      NameSome(absent, kShownKeys), store));
}

absl::StatusOr<int64_t> SumOf(const std::string& key, const std::string& value,
                              int64_t amount) {
  // Text after the number is ignored, as by other store servers, including
  // PyTorch's.
  errno = 0;
  char* end = nullptr;
  int64_t sum = std::strtoll(value.c_str(), &end, 10);
  if (end == value.c_str() || errno == ERANGE) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot add ", amount, " to key ", Quoted(key),
                     ": its value, ", Quoted(value), ", is no number"));
  }
  if (__builtin_add_overflow(sum, amount, &sum)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot add ", amount, " to key ", Quoted(key),
                     ": the sum is beyond 64 bits"));
  }
  return sum;
}

absl::Status RoundOverError(const absl::Status& of_store) {
  constexpr absl::string_view kOver = "the round is over, or its store is gone";
  if (!absl::IsUnavailable(of_store) ||
      absl::StartsWith(of_store.message(), kOver)) {
    return of_store;
  }
  return absl::UnavailableError(absl::StrCat(kOver, ": ", of_store.message()));
}

}  // namespace muster
