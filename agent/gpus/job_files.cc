#include "agent/gpus/job_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/owned_fd.h"
#include "base/write_all.h"

namespace muster::agent {
namespace {

constexpr size_t kMaxMachineGpus = 1024;
// The maximum number of bytes that are read from a job file, which tells
// NVIDIA's dcgm-exporter which job uses a GPU. The job files that this program
// writes are shorter.
constexpr size_t kMaxFileBytes = 512;

std::string LineOf(const JobFiles& files) { return files.job + "\n"; }

// A GPU or a MIG instance. `gpu`: index in the list of the GPUs that this
// process sees. `instance`: index among the GPU's MIG instances; nullopt: the
// whole GPU.
struct Place {
  size_t gpu = 0;
  std::optional<size_t> instance;
};

std::optional<Place> PlaceOf(const std::string& word,
                             const std::vector<Gpu>& gpus) {
  int index = -1;
  if (absl::SimpleAtoi(word, &index)) {
    if (index < 0 || static_cast<size_t>(index) >= gpus.size()) {
      return std::nullopt;
    }
    return Place{static_cast<size_t>(index), std::nullopt};
  }
  // `word` is not a number, but the id of a GPU or a MIG instance, possibly
  // shortened to a unique prefix.
  std::optional<Place> found;
  const auto look = [&](const std::string& id, const Place& place) {
    if (word.empty() || !absl::StartsWith(id, word)) return true;
    const bool is_first = !found.has_value();
    found = place;
    return is_first;
  };
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (!look(gpus[i].uuid, {i, std::nullopt})) return std::nullopt;
    for (size_t k = 0; k < gpus[i].mig_instances.size(); ++k) {
      if (!look(gpus[i].mig_instances[k], {i, k})) return std::nullopt;
    }
  }
  return found;
}

OwnedFd OpenFolder(const JobFiles& files) {
  return OwnedFd(
      open(files.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Whether `name` is a regular file that contains only the run id of this job
// (JobFiles::job) and a newline.
bool IsOfThisJob(int folder, const std::string& name, const JobFiles& files) {
  const OwnedFd file(openat(folder, name.c_str(),
                            O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts = {};
  if (!file.open() || fstat(file.get(), &facts) != 0 ||
      !S_ISREG(facts.st_mode)) {
    return false;
  }
  char text[kMaxFileBytes];
  const ssize_t size = read(file.get(), text, sizeof(text));
  return size > 0 &&
         std::string(text, static_cast<size_t>(size)) == LineOf(files);
}

// Replaces one file atomically. Returns 0, or errno on failure.
int WriteOne(int folder, const std::string& name, const std::string& line) {
  // dcgm-exporter ignores this temporary file, because its name is not a
  // number.
  const std::string beside = absl::StrCat(".", name, ".", getpid());
  unlinkat(folder, beside.c_str(), 0);
  const OwnedFd file(
      openat(folder, beside.c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file.open()) return errno;
  // Make the job file readable by all users, whatever the umask, because
  // dcgm-exporter, which reads it, may run as another user.
  if (fchmod(file.get(), 0644) == 0 && WriteAll(file.get(), line) &&
      renameat(folder, beside.c_str(), folder, name.c_str()) == 0) {
    return 0;
  }
  const int error = errno;
  unlinkat(folder, beside.c_str(), 0);
  return error;
}

}  // namespace

std::vector<std::string> JobFileNames(const std::vector<std::string>& visible,
                                      const std::vector<Gpu>& gpus,
                                      const std::vector<std::string>& machine) {
  std::vector<std::string> names;
  for (const std::string& word : visible) {
    const std::optional<Place> place = PlaceOf(word, gpus);
    if (!place.has_value()) continue;
    const Gpu& gpu = gpus[place->gpu];
    const auto at = std::ranges::find(machine, gpu.pci_address);
    const size_t number = at == machine.end()
                              ? place->gpu
                              : static_cast<size_t>(at - machine.begin());
    std::string name = absl::StrCat(number);
    if (place->instance.has_value()) {
      const int instance = gpu.gpu_instances[*place->instance];
      if (instance >= 0) absl::StrAppend(&name, ".", instance);
    }
    if (std::ranges::count(names, name) == 0) names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> MachineGpuAddresses(const std::string& root) {
  std::vector<std::string> addresses;
  DIR* const folder =
      opendir(absl::StrCat(root, "/sys/bus/pci/drivers/nvidia").c_str());
  if (folder == nullptr) return addresses;
  // The driver's folder has an entry for each GPU, named by its PCI address
  // (0000:3b:00.0), and files such as "bind". Only names in the form of a PCI
  // address are taken.
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name.size() == 12 && name[4] == ':' && name[7] == ':' &&
        name[10] == '.' && addresses.size() < kMaxMachineGpus) {
      addresses.push_back(absl::AsciiStrToLower(name));
    }
  }
  closedir(folder);
  std::ranges::sort(addresses);
  return addresses;
}

absl::Status WriteJobFiles(const JobFiles& files) {
  if (files.folder.empty()) return absl::OkStatus();
  const OwnedFd folder = OpenFolder(files);
  if (!folder.open()) {
    return absl::UnavailableError(
        absl::StrCat(files.folder, ": ", std::strerror(errno)));
  }
  absl::Status status;
  for (const std::string& name : files.names) {
    const int error = WriteOne(folder.get(), name, LineOf(files));
    if (error != 0) {
      status.Update(absl::UnavailableError(
          absl::StrCat(files.folder, "/", name, ": ", std::strerror(error))));
    }
  }
  return status;
}

void RemoveJobFiles(const JobFiles& files) {
  if (files.folder.empty()) return;
  const OwnedFd folder = OpenFolder(files);
  if (!folder.open()) return;
  for (const std::string& name : files.names) {
    if (IsOfThisJob(folder.get(), name, files)) {
      unlinkat(folder.get(), name.c_str(), 0);
    }
  }
}

void RemoveStaleJobFiles(const JobFiles& files) {
  if (files.folder.empty()) return;
  const OwnedFd folder = OpenFolder(files);
  if (!folder.open()) return;
  for (const std::string& name : files.names) {
    unlinkat(folder.get(), name.c_str(), 0);
  }
}

}  // namespace muster::agent
