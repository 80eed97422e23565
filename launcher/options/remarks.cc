#include "launcher/options/remarks.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/bounded_file.h"
#include "base/environment_value.h"

namespace muster::launcher {
namespace {

// Maximum number of workers per core on a node without GPUs. If a node has more
// workers, a remark is printed.
constexpr int kMaxWithoutGpus = 4;

bool HasGpus(const WorkerSlots& slots, const MachineFacts& facts) {
  if (slots.gpus_needed > 0 || !facts.gpus.empty()) return true;
  const std::string visible =
      NonEmptyEnvironmentValue(facts.environment, "CUDA_VISIBLE_DEVICES")
          .value_or("-1");
  // The first entry of CUDA_VISIBLE_DEVICES names a GPU if it is a number or an
  // id. To hide all GPUs, people set the variable to -1 or to a word.
  return (visible[0] >= '0' && visible[0] <= '9') ||
         visible.rfind("GPU-", 0) == 0 || visible.rfind("MIG-", 0) == 0;
}

// Returns the first MiB of a regular file; empty if the file cannot be read. In
// a script, the first MiB contains the imports. In an executable, it contains
// the names of the needed libraries, because linkers put the dynamic string
// table before the code.
std::string Beginning(const std::string& path) {
  constexpr size_t kMaxBytes = 1 << 20;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "";
  return ReadBeginning(path, kMaxBytes).value_or("");
}

bool BeginsWord(std::string_view text, std::string_view word) {
  if (text.substr(0, word.size()) != word) return false;
  return text.size() == word.size() ||
         std::string_view(" \t.,;#\r").find(text[word.size()]) !=
             std::string_view::npos;
}

std::string_view WithoutBlanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

}  // namespace

std::string CoreRemark(const WorkerSlots& slots, const MachineFacts& facts) {
  const int most = HasGpus(slots, facts) ? 1 : kMaxWithoutGpus;
  if (slots.count <= int64_t{most} * facts.cores) return "";
  const bool is_slurm =
      NonEmptyEnvironmentValue(facts.environment, "SLURM_JOB_ID").has_value();
  return absl::StrCat(
      slots.count, " workers on ", facts.host_name, " have ", facts.cores,
      facts.cores == 1 ? " core" : " cores", " to run on; ",
      is_slurm ? "ask Slurm for more: #SBATCH --exclusive, or --cpus-per-gpu=N"
               : "look at taskset, or at what the container is given");
}

bool ImportsMpi4py(std::string_view script) {
  while (!script.empty()) {
    const size_t end = std::min(script.find('\n'), script.size());
    std::string_view line = WithoutBlanks(script.substr(0, end));
    for (const std::string_view keyword : {"import", "from"}) {
      if (BeginsWord(line, keyword) &&
          BeginsWord(WithoutBlanks(line.substr(keyword.size())), "mpi4py")) {
        return true;
      }
    }
    script.remove_prefix(std::min(end + 1, script.size()));
  }
  return false;
}

bool NamesMpiLibrary(std::string_view executable) {
  if (executable.substr(0, 4) !=
      "\x7f"
      "ELF")
    return false;
  for (const std::string_view name : {"libmpi.so", "libmpich.so"}) {
    for (size_t at = executable.find(name); at != std::string_view::npos;
         at = executable.find(name, at + 1)) {
      // Accept the library's name only at the beginning of an entry of the ELF
      // string table, where the byte before it is NUL.
      if (at > 0 && executable[at - 1] == '\0') return true;
    }
  }
  return false;
}

std::string MpiRemark(const std::vector<std::string>& command) {
  const auto script = std::find_if(
      command.begin(), command.end(),
      [](const std::string& word) { return word.ends_with(".py"); });
  std::string uses;
  if (script != command.end()) {
    if (ImportsMpi4py(Beginning(*script))) {
      uses = absl::StrCat(*script, " imports mpi4py");
    }
  } else if (!command.empty() && command[0].find('/') != std::string::npos &&
             NamesMpiLibrary(Beginning(command[0]))) {
    uses = absl::StrCat(command[0], " is linked with MPI");
  }
  if (uses.empty()) return "";
  return absl::StrCat(
      uses,
      ": without mpirun each worker is an MPI world of its own, of size 1; "
      "start it with mpirun where it shall be one world");
}

}  // namespace muster::launcher
