#include "launcher/options/rdzv_conf.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

constexpr char kKnownKeys[] =
    "join_timeout, rejoin_timeout, last_call_timeout, close_timeout, "
    "keep_alive_interval, keep_alive_max_attempt, read_timeout, timeout, "
    "is_host, mixed_nodes";

// Reads a key that only PyTorch's own rendezvous (2.15) uses. The value is
// checked, so that a typing error is reported as PyTorch reports it. `rank` has
// no effect: PyTorch always takes the node's rank from --node-rank. NotFound:
// PyTorch has no such key either.
absl::Status ReadTorchs(const std::string& key, const std::string& value,
                        RdzvConf& conf) {
  if (key == "store_type") {
    const auto type = ReadChoice(absl::AsciiStrToLower(value), {"tcp", "file"});
    conf.meets_in_file = type.ok() && *type == "file";
    return type.status();
  }
  if (key == "heartbeat_timeout" || key == "cas_backoff_max_seconds") {
    return ReadSeconds(value).status();
  }
  if (key == "rank") return ReadNumber(value, 0, 999'999).status();
  return absl::NotFoundError("");
}

absl::Status ReadOne(const std::string& key, const std::string& value,
                     RdzvConf& conf) {
  struct Span {
    const char* key;
    std::optional<Duration>* field;
  };
  const Span spans[] = {
      {"join_timeout", &conf.join_timeout},
      {"rejoin_timeout", &conf.rejoin_timeout},
      {"last_call_timeout", &conf.last_call_timeout},
      {"close_timeout", &conf.close_timeout},
      {"keep_alive_interval", &conf.keep_alive_interval},
      {"read_timeout", &conf.read_timeout},
      {"timeout", &conf.timeout},
  };
  for (const Span& span : spans) {
    if (key != span.key) continue;
    absl::StatusOr<Duration> seconds = ReadSeconds(value);
    if (!seconds.ok()) return seconds.status();
    *span.field = *seconds;
    return absl::OkStatus();
  }
  if (key == "keep_alive_max_attempt") {
    absl::StatusOr<int64_t> number = ReadNumber(value, 1, 1000);
    if (!number.ok()) return number.status();
    conf.keep_alive_max_attempt = static_cast<int>(*number);
    return absl::OkStatus();
  }
  if (key == "is_host") {
    absl::StatusOr<bool> host = ReadSwitch(value);
    if (!host.ok()) return host.status();
    conf.is_host = *host;
    return absl::OkStatus();
  }
  if (key == "mixed_nodes") {
    absl::StatusOr<bool> mixed = ReadSwitch(value);
    if (!mixed.ok()) return mixed.status();
    conf.mixed_nodes = *mixed;
    return absl::OkStatus();
  }
  return ReadTorchs(key, value, conf);
}

}  // namespace

absl::StatusOr<RdzvConf> ReadRdzvConf(const std::string& text) {
  RdzvConf conf;
  for (const std::string& pair : ReadList(text)) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          pair, " is not of the form key=value; known keys: ", kKnownKeys));
    }
    const std::string key = pair.substr(0, equals);
    const absl::Status status = ReadOne(key, pair.substr(equals + 1), conf);
    if (absl::IsNotFound(status)) {
      return absl::InvalidArgumentError(
          absl::StrCat(key, " is an unknown key; known keys: ", kKnownKeys));
    }
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(pair, " ", status.message()));
    }
  }
  return conf;
}

}  // namespace muster::launcher
