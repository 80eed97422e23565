#include "agent/logs/latest_link.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "agent/logs/log_paths.h"

namespace muster::agent {

void PointLatestAt(const std::string& run_folder,
                   const std::string& directory) {
  const std::string link = LatestLink(directory);
  const std::string fresh = link + "." + std::to_string(getpid());
  std::error_code error;
  const auto status = std::filesystem::symlink_status(link, error);
  const bool is_other = status.type() != std::filesystem::file_type::symlink &&
                        status.type() != std::filesystem::file_type::not_found;
  if (is_other) return;
  std::filesystem::create_directory_symlink(
      std::filesystem::path(run_folder).filename(), fresh, error);
  if (error) return;
  std::filesystem::rename(fresh, link, error);
  if (error) unlink(fresh.c_str());
}

}  // namespace muster::agent
