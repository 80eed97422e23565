// Measures how many nodes one coordinator can serve. Starts rendezvousd, lets
// simulated agents join one job, each over its own TCP connection, and prints a
// table with the medians of several runs. All processes share this machine's
// cores. Each option selects cases to compare. The runs of the cases alternate.
// * no option: clear text, and mutual TLS by a token
// * --flood: the cases of "no option", and each of them again while a client
//   opens connections as fast as it can
// * --state: clear text without a journal, and clear text with a journal
//   (rendezvousd --state-dir, in TMPDIR or /tmp)
// * --progress: clear text with reports of three kinds: without data about the
//   node's 8 workers; with their progress; with their progress and their times
// * --scrape: a single case, in which the agents report everything. Measures
//   the time of requests for /metrics, and writes the newest page to FILE.
//
//   coordinator_scale [--shards N] [--runs N]
//                     [--flood | --state | --progress | --scrape FILE] [NODES…]

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/monotonic_clock.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"
#include "base/poll.h"
#include "base/subprocess.h"
#include "base/write_all.h"
#include "tests/bench/coordinator_scale/load_shard.h"

namespace muster {
namespace {

constexpr int kSteadySeconds = 5;
constexpr char kToken[] = "0123456789abcdef0123456789abcdef";

struct Child {
  pid_t pid = 0;
  // read end of the pipe to which the process writes its stdout
  std::FILE* out = nullptr;
  int in = -1;  // write end of the pipe from which the process reads its stdin
};

// Starts a process with MUSTER_TOKEN set to `token`.
Child Start(const std::vector<std::string>& command, const std::string& token) {
  int to[2];
  int from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
    std::perror("pipe");
    std::exit(1);
  }
  SubprocessPlan plan;
  plan.argv = command;
  plan.environment = EnvironmentWith({"MUSTER_TOKEN=" + token});
  plan.descriptors = {to[0], from[1]};
  const absl::StatusOr<pid_t> pid = StartSubprocess(plan);
  if (!pid.ok()) {
    std::fprintf(stderr, "%s\n", pid.status().ToString().c_str());
    std::exit(1);
  }
  close(to[0]);
  close(from[1]);
  return {*pid, fdopen(from[0], "r"), to[1]};
}

void Finish(Child* child) {
  if (child->in >= 0) close(child->in);
  ReapSubprocess(child->pid);
  std::fclose(child->out);
}

long ResidentKib(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/statm";
  std::FILE* file = std::fopen(path.c_str(), "re");
  long total = 0;
  long resident = 0;
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) {
    return 0;
  }
  std::fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

// CPU time that the process has used so far, in seconds.
double CpuSeconds(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  std::FILE* file = std::fopen(path.c_str(), "re");
  unsigned long user = 0;
  unsigned long system = 0;
  const bool read =
      file != nullptr &&
      std::fscanf(file,
                  "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                  &user, &system) == 2;
  if (file != nullptr) std::fclose(file);
  return read ? static_cast<double>(user + system) / sysconf(_SC_CLK_TCK) : 0;
}

enum class Channel { kPlain, kTls };
enum class Beside { kNothing, kFlood };
enum class State { kNone, kJournal };

// The settings of one row of the printed table.
struct Row {
  int nodes = 0;
  Channel channel = Channel::kPlain;
  Beside beside = Beside::kNothing;
  State state = State::kNone;
  Reports reports = Reports::kNodes;
  // file of --scrape; empty: do not measure requests for /metrics
  std::string page_file = "";
};

struct Figures {
  double joining = 0;  // seconds from the first connection to the last join
  // seconds from the last join until all nodes have their ranks
  double placing = 0;
  double kib = 0;  // memory of the coordinator per node, in KiB
  // CPU seconds of the coordinator per node until all nodes have their ranks
  double join_cpu = 0;
  // CPU cores that the coordinator uses while each node reports once per second
  double steady_cpu = 0;
  // median and maximum duration of a request for /metrics, in seconds
  double scrape = 0;
  double slowest_scrape = 0;
  double page_bytes = 0;
};

constexpr char kMetricsPath[] = "/metrics";

// Requests /metrics from the server at `port` and returns the HTTP response;
// empty: the server did not answer.
std::string Fetch(int port) {
  const SocketAddress address = *NumericAddress("127.0.0.1", port);
  const OwnedFd connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::string request =
      std::string("GET ") + kMetricsPath +
      " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  if (connect(connection.get(), address.get(), address.size) != 0 ||
      !WriteAll(connection.get(), request)) {
    return "";
  }
  std::string response;
  char buffer[64 << 10];
  ssize_t size = 0;
  while ((size = read(connection.get(), buffer, sizeof(buffer))) > 0) {
    response.append(buffer, static_cast<size_t>(size));
  }
  return response;
}

// Requests the page of metrics several times. The server keeps a page for 20
// times as long as it took to make the page (AnswerCache). Each pause between
// two requests is longer than that, so each request makes a new page.
void MeasureScrapes(int port, const std::string& page_file, Figures& figures) {
  constexpr int kScrapes = 20;
  std::vector<double> seconds;
  std::string response;
  for (int i = 0; i < kScrapes; ++i) {
    const Instant begin = MonotonicNow();
    response = Fetch(port);
    const Duration took = MonotonicNow() - begin;
    seconds.push_back(ToSeconds(took));
    PauseUntil(MonotonicNow() + 25 * took + std::chrono::milliseconds(100));
  }
  std::sort(seconds.begin(), seconds.end());
  figures.scrape = seconds[seconds.size() / 2];
  figures.slowest_scrape = seconds.back();
  const size_t body = response.find("\r\n\r\n");
  if (response.rfind("HTTP/1.1 200", 0) != 0 || body == std::string::npos) {
    std::fprintf(stderr, "no page of metrics: %s\n", response.c_str());
    std::exit(1);
  }
  const std::string page = response.substr(body + 4);
  figures.page_bytes = static_cast<double>(page.size());
  const OwnedFd file(
      open(page_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.open() || !WriteAll(file.get(), page)) {
    std::perror(page_file.c_str());
    std::exit(1);
  }
}

// Measures the case of one table row in one run. Ends the program if an agent
// got no ranks.
Figures Measure(const std::string& self, const std::string& daemon,
                const Row& row, int shards) {
  const std::string token = row.channel == Channel::kTls ? kToken : "";
  std::vector<std::string> command = {daemon, "--listen", "127.0.0.1:0"};
  const std::string state =
      std::filesystem::temp_directory_path() / "coordinator_scale.state";
  if (row.state == State::kJournal) {
    std::filesystem::remove_all(state);
    command.push_back("--state-dir=" + state);
  }
  if (!row.page_file.empty()) {
    command.push_back("--metrics-listen=127.0.0.1:0");
  }
  Child server = Start(command, token);
  int port = 0;
  int metrics_port = 0;
  char line[512];
  while (port == 0 && std::fgets(line, sizeof(line), server.out) != nullptr) {
    const std::string said = line;
    for (const auto& [before, number] :
         {std::pair(": listening on 127.0.0.1:", &port),
          std::pair("metrics on http://127.0.0.1:", &metrics_port)}) {
      const size_t at = said.find(before);
      if (at == std::string::npos) continue;
      *number = std::atoi(said.c_str() + at + std::strlen(before));
    }
  }
  if (port == 0) {
    std::fprintf(stderr, "no coordinator: %s\n", daemon.c_str());
    std::exit(1);
  }
  const long resident_before = ResidentKib(server.pid);
  std::vector<Child> floods;
  if (row.beside == Beside::kFlood) {
    floods.push_back(Start({self, "--flood", std::to_string(port)}, ""));
  }
  std::vector<Child> load;
  for (int i = 0; i < shards; ++i) {
    const int first = row.nodes * i / shards;
    const int end = row.nodes * (i + 1) / shards;
    load.push_back(
        Start({self, "--shard", std::to_string(port), std::to_string(row.nodes),
               std::to_string(first), std::to_string(end - first),
               std::to_string(static_cast<int>(row.reports))},
              token));
  }
  bool placed = true;
  long long first_channel = 0;
  long long last_join = 0;
  long long last_place = 0;
  for (Child& shard : load) {
    int ok = 0;
    long long channel = 0;
    long long join = 0;
    long long place = 0;
    if (std::fscanf(shard.out, "%d %lld %lld %lld", &ok, &channel, &join,
                    &place) != 4) {
      ok = 0;
    }
    placed = placed && ok == 1;
    first_channel =
        first_channel == 0 ? channel : std::min(first_channel, channel);
    last_join = std::max(last_join, join);
    last_place = std::max(last_place, place);
  }
  const long resident = ResidentKib(server.pid) - resident_before;
  const double join_cpu = CpuSeconds(server.pid);
  for (Child& flood : floods) Finish(&flood);
  const double before = CpuSeconds(server.pid);
  sleep(kSteadySeconds);
  const double steady_cpu = CpuSeconds(server.pid) - before;
  Figures figures;
  if (!row.page_file.empty()) {
    MeasureScrapes(metrics_port, row.page_file, figures);
  }
  for (Child& shard : load) Finish(&shard);
  kill(server.pid, SIGTERM);
  Finish(&server);
  if (row.state == State::kJournal) std::filesystem::remove_all(state);
  if (!placed) {
    std::fprintf(stderr, "not all of %d nodes got a place\n", row.nodes);
    std::exit(1);
  }
  figures.joining = (last_join - first_channel) * 1e-9;
  figures.placing = (last_place - last_join) * 1e-9;
  figures.kib = static_cast<double>(resident) / row.nodes;
  figures.join_cpu = join_cpu / row.nodes;
  figures.steady_cpu = steady_cpu / kSteadySeconds;
  return figures;
}

double Median(const std::vector<Figures>& runs, double Figures::*figure) {
  std::vector<double> values;
  for (const Figures& run : runs) values.push_back(run.*figure);
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

const char* NameOf(Reports reports) {
  switch (reports) {
    case Reports::kNodes:
      return "";
    case Reports::kProgress:
      return ", progress";
    case Reports::kTimes:
      return ", progress and times";
  }
  return "";
}

void Print(const Row& row, const std::vector<Figures>& runs) {
  if (!row.page_file.empty()) {
    std::printf("| %6d | %5.2f | %5.2f | %5.0f |\n", row.nodes,
                Median(runs, &Figures::scrape) * 1e3,
                Median(runs, &Figures::slowest_scrape) * 1e3,
                Median(runs, &Figures::page_bytes));
    std::fflush(stdout);
    return;
  }
  const double joining = Median(runs, &Figures::joining);
  std::printf(
      "| %6d | %s%s%s%s | %6.3f | %6.0f | %7.1f | %6.1f | %4.0f | %5.2f |\n",
      row.nodes, row.channel == Channel::kTls ? "mutual TLS" : "clear text",
      row.beside == Beside::kFlood ? ", flooded" : "",
      row.state == State::kJournal ? ", journal" : "", NameOf(row.reports),
      joining, row.nodes / joining, Median(runs, &Figures::placing) * 1e3,
      Median(runs, &Figures::kib), Median(runs, &Figures::join_cpu) * 1e6,
      Median(runs, &Figures::steady_cpu));
  std::fflush(stdout);
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  using muster::Beside;
  using muster::Channel;
  using muster::Reports;
  using muster::State;
  const auto is = [&](int i, const char* name) {
    return i < argc && std::strcmp(argv[i], name) == 0;
  };
  if (argc == 7 && is(1, "--shard")) {
    const char* const token = std::getenv("MUSTER_TOKEN");
    return muster::RunLoadShard(
        {.port = std::atoi(argv[2]),
         .run_id = "scale",
         .nodes = std::atoi(argv[3]),
         .first = std::atoi(argv[4]),
         .count = std::atoi(argv[5]),
         .reports = static_cast<Reports>(std::atoi(argv[6])),
         .token = token == nullptr ? "" : token});
  }
  if (argc == 3 && is(1, "--flood")) {
    return muster::RunFlood(std::atoi(argv[2]));
  }
  int shards = 2;
  int runs = 1;
  std::vector<muster::Row> kinds = {{}, {.channel = Channel::kTls}};
  std::vector<int> sizes;
  std::string page_file;
  for (int i = 1; i < argc; ++i) {
    if (is(i, "--shards") && i + 1 < argc) {
      shards = std::atoi(argv[++i]);
    } else if (is(i, "--runs") && i + 1 < argc) {
      runs = std::atoi(argv[++i]);
    } else if (is(i, "--flood")) {
      kinds.push_back({.beside = Beside::kFlood});
      kinds.push_back({.channel = Channel::kTls, .beside = Beside::kFlood});
    } else if (is(i, "--state")) {
      kinds = {{}, {.state = State::kJournal}};
    } else if (is(i, "--progress")) {
      kinds = {
          {}, {.reports = Reports::kProgress}, {.reports = Reports::kTimes}};
    } else if (is(i, "--scrape") && i + 1 < argc) {
      page_file = argv[++i];
      kinds = {{.reports = Reports::kTimes, .page_file = page_file}};
    } else if (const int nodes = std::atoi(argv[i]); nodes > 0) {
      sizes.push_back(nodes);
    } else {
      std::fprintf(stderr,
                   "usage: coordinator_scale [--shards N] [--runs N]\n"
                   "           [--flood | --state | --progress | --scrape "
                   "FILE] [NODES...]\n");
      return 2;
    }
  }
  if (sizes.empty()) sizes = {128, 1000, 10000};
  const char* daemon = std::getenv("RENDEZVOUSD");
  const std::string own(argv[0]);
  const std::string found = daemon != nullptr
                                ? daemon
                                : own.substr(0, own.rfind("/tests/")) +
                                      "/rendezvous/daemon/rendezvousd";
  std::printf(
      page_file.empty()
          ? "| nodes | connections | joins, s | joins/s | last join to last "
            "place, ms | KiB/node | server CPU to join, us/node | cores at 1 "
            "report/s |\n|---|---|---|---|---|---|---|---|\n"
          : "| nodes | scrape, median, ms | slowest, ms | bytes |\n"
            "|---|---|---|---|\n");
  for (const int nodes : sizes) {
    std::vector<muster::Row> rows = kinds;
    for (muster::Row& row : rows) row.nodes = nodes;
    std::vector<std::vector<muster::Figures>> figures(rows.size());
    for (int run = 0; run < runs; ++run) {
      for (size_t i = 0; i < rows.size(); ++i) {
        figures[i].push_back(
            muster::Measure("/proc/self/exe", found, rows[i], shards));
      }
    }
    for (size_t i = 0; i < rows.size(); ++i) muster::Print(rows[i], figures[i]);
  }
  return 0;
}
