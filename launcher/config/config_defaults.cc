#include "launcher/config/config_defaults.h"

#include <string>
#include <utility>

#include "launcher/cluster/cluster_defaults.h"
#include "launcher/config/config_file.h"
#include "launcher/config/file_and_cluster.h"
#include "launcher/options/command_line.h"

namespace muster::launcher {
namespace {

absl::StatusOr<Defaults> FileDefaults(
    const std::string& path, const std::vector<Flag>& flags,
    const std::map<std::string, std::string>& environment) {
  const absl::StatusOr<std::string> text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<ConfigMeaning> meaning =
      ReadConfig(*text, flags, SurroundingsOf(path, environment));
  if (!meaning.ok()) return meaning.status();
  return std::move(meaning->defaults);
}

}  // namespace

DefaultsSource LaunchDefaults(
    const std::vector<Flag>& flags,
    const std::map<std::string, std::string>& environment) {
  return [=](const FlagValues& given) -> absl::StatusOr<Defaults> {
    const std::string path = given.Text("config");
    if (path.empty()) return ClusterDefaults(given, environment);
    absl::StatusOr<Defaults> file = FileDefaults(path, flags, environment);
    if (!file.ok()) return file.status();
    return FileAndCluster(*std::move(file), given, environment);
  };
}

}  // namespace muster::launcher
