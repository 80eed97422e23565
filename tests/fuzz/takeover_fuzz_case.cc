// Fuzzes the election of coordinators and the forming of worlds: several Jobs
// and Standbys of one job, whose nodes are cut off, deaf, ended and started
// again. The first byte of the input selects the job's --nnodes, --takeover and
// founder; each pair of bytes after it is an action.
//
// Aborts if two worlds run on all of their nodes at the same time. All inputs
// keep what --takeover assumes: the founder is not started again as a founder,
// and with `auto` no more than max_nodes nodes run at a time.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "rendezvous/job/job_fixture.h"
#include "rendezvous/takeover/testing/succession.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

using rendezvous::NodePhase;
using rendezvous::Report;
using rendezvous::Standby;
using rendezvous::Succession;
using rendezvous::Takeover;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Names = std::vector<std::string>;

// libFuzzer takes a byte of this array that becomes non-zero for new coverage.
// So it also keeps inputs that reach a new state of the nodes, not only those
// that reach new code.
__attribute__((section("__libfuzzer_extra_counters")))
std::array<uint8_t, 1 << 16>
    reached_states;

struct Shape {
  Takeover takeover;
  int min_nodes;
  int max_nodes;
  int nodes;
};
constexpr Shape kShapes[] = {
    {Takeover::kMajority, 2, 4, 6}, {Takeover::kMajority, 2, 3, 5},
    {Takeover::kMajority, 3, 4, 6}, {Takeover::kMajority, 1, 3, 4},
    {Takeover::kMajority, 2, 6, 6}, {Takeover::kAuto, 2, 4, 4},
    {Takeover::kAuto, 3, 6, 6},     {Takeover::kAuto, 2, 5, 5},
    {Takeover::kAuto, 1, 2, 2},     {Takeover::kAuto, 2, 6, 6}};
// The longest simulated time that the actions of one input may take.
constexpr Duration kLongest = std::chrono::minutes(4);

rendezvous::JobSpec SpecOf(const Shape& shape) {
  rendezvous::JobSpec spec =
      rendezvous::QuickSpec(shape.min_nodes, shape.max_nodes);
  spec.takeover = shape.takeover;
  spec.max_restarts = 100;
  spec.rejoin_timeout = seconds(300);
  return spec;
}

// Performs the actions of one input.
class Run {
 public:
  // `founder`: the process that founds the job. The founder "z" has no agent,
  // like the process of a drained node.
  Run(const Shape& shape, const std::string& founder)
      : names_(NamesOf(shape.nodes)),
        job_(SpecOf(shape), founder, names_),
        founder_(founder) {}

  void Do(uint8_t action, uint8_t argument) {
    const size_t node = (action >> 4) % names_.size();
    const Names some = Masked(argument);
    const std::string name = names_[node];
    const size_t host = (action >> 4) % (names_.size() + 1);
    const std::string process = host == node ? name : "z";
    const std::string masked = absl::StrJoin(some, ",");
    switch (action % 16) {
      case 0:
        Trace("connect ", masked, " to ", process);
        return job_.Connect(some, process);
      case 1:
        Trace("end the founder");
        return EndFounder();
      case 2:
        Trace("send ", masked);
        for (const std::string& one : some) job_.Send(one);
        return;
      case 3:
        Trace("cut ", masked);
        return job_.Cut(some);
      case 4:
        Trace("deafen ", masked);
        return job_.Deafen(some);
      case 5:
        Trace("hear ", masked);
        return job_.Hear(some);
      case 6:
        return Wait(milliseconds(50) * (argument % 32 + 1));
      case 7:
        return Wait(seconds(argument % 16 + 1));
      case 8:
        return StandBy(node);
      case 9:
        return Restart(node, (argument & 1) != 0);
      case 10:
        return Fail(name);
      case 11:
        return Stop(some);
      case 12:
      case 13:
        return Await(name,
                     action % 16 == 13 ? What::kElectorate : What::kRound);
      case 14:
        Trace("deafen ", masked, " when the next is elected");
        return job_.DeafenWhenElected(some);
      default:
        Trace("announce ", name, " to ", names_[argument % names_.size()]);
        return job_.Announce(name, names_[argument % names_.size()]);
    }
  }

  void Check() {
    MUSTER_CHECK(job_.split().empty())
        << "two worlds run:" << job_.split() << "\n"
        << trace_;
    // Records the states of all nodes as reached. Node names are left out, and
    // epochs and worlds are replaced by small numbers in ascending order, so
    // that equivalent states count as one.
    std::map<uint64_t, size_t> epochs;
    std::map<rendezvous::WorldId, size_t> worlds;
    for (const auto& [name, one] : job_.agents()) {
      epochs.emplace(one.report.promised_epoch, 0);
      worlds.emplace(one.report.electorate.world, 0);
      worlds.emplace(WorldOf(one.report), 0);
    }
    for (size_t next = 0; auto& [epoch, number] : epochs) number = next++;
    for (size_t next = 0; auto& [world, number] : worlds) number = next++;
    std::vector<std::tuple<int, size_t, size_t, size_t, bool>> states;
    for (const auto& [name, one] : job_.agents()) {
      states.emplace_back(static_cast<int>(one.report.phase),
                          worlds[WorldOf(one.report)],
                          worlds[one.report.electorate.world],
                          epochs[one.report.promised_epoch],
                          one.stream != 0 && job_.coordinates(one.process));
    }
    std::sort(states.begin(), states.end());
    reached_states[absl::HashOf(states) % reached_states.size()] = 1;
  }

  bool is_over() const { return waited_ > kLongest; }

 private:
  enum class What { kRound, kElectorate };

  static Names NamesOf(int nodes) {
    Names names;
    for (int i = 0; i < nodes; ++i) {
      names.emplace_back(1, static_cast<char>('a' + i));
    }
    return names;
  }
  static rendezvous::WorldId WorldOf(const Report& report) {
    if (!report.place.has_value()) return {};
    return {.epoch = report.place->epoch, .round = report.place->round};
  }
  template <typename... Words>
  void Trace(const Words&... words) {
    absl::StrAppend(&trace_, words..., "\n");
  }
  Names Masked(uint8_t mask) const {
    Names some;
    for (size_t i = 0; i < names_.size(); ++i) {
      if ((mask >> i & 1) != 0) some.push_back(names_[i]);
    }
    return some;
  }
  void Wait(Duration duration) {
    Trace("wait ", duration / milliseconds(1), " ms");
    waited_ += duration;
    job_.Wait(duration);
  }
  void StandBy(size_t node) {
    if (job_.coordinates(names_[node])) return;
    Trace(names_[node], " stands by");
    job_.StandBy(names_[node], ++draws_,
                 names_[node] == founder_ ? Standby::Kind::kFormerFounder
                                          : Standby::Kind::kSuccessor);
  }
  void EndFounder() {
    job_.End(founder_);
    founder_.clear();
  }
  // Ends a node, its process and workers, and starts it again.
  void Restart(size_t node, bool under_another_name) {
    std::string& name = names_[node];
    job_.End(name);
    job_.EndAgent(name);
    const std::string before = name;
    if (under_another_name) name = absl::StrCat("n", ++draws_);
    job_.Restart(name);
    Trace("restart ", before, " as ", name);
    if (before == founder_) founder_.clear();
  }
  // Lets a worker of the node fail.
  void Fail(const std::string& name) {
    Report& report = job_.agent(name).report;
    if (report.phase != NodePhase::kRunning) return;
    Trace("fail ", name);
    report.phase = NodePhase::kIdle;
    report.failures = {rendezvous::ExitedWith(2 * report.place->group_rank, 3)};
    job_.Send(name);
  }
  // Lets the nodes stop their workers because no coordinator answers.
  void Stop(const Names& some) {
    Trace("stop ", absl::StrJoin(some, ","));
    for (const std::string& name : some) {
      job_.agent(name).report.phase = NodePhase::kIdle;
    }
  }
  // Waits until the node begins a round, or gets a directive with another
  // electorate.
  void Await(const std::string& name, What what) {
    const Report before = job_.report(name);
    Trace("await ", what == What::kRound ? "a round" : "an electorate", " at ",
          name);
    if (what == What::kRound) {
      waited_ += seconds(10);
      return job_.WaitForRound(name, before.round + 1, seconds(10));
    }
    for (int i = 0; i < 100; ++i) {
      waited_ += milliseconds(50);
      job_.Wait(milliseconds(50));
      if (job_.report(name).electorate.world != before.electorate.world) return;
    }
  }

  Names names_;
  Succession job_;
  Duration waited_ = Duration::zero();
  uint64_t draws_ = 10;
  std::string founder_;  // name of the founder; empty: founder ended
  std::string trace_;
};

// Bytes of an input before its actions, and of each action.
constexpr size_t kHead = 1;
constexpr size_t kAction = 2;

}  // namespace

void RunFuzzCase(std::string_view input) {
  if (input.empty()) return;
  const auto first = static_cast<uint8_t>(input[0]);
  Run run(kShapes[first / 2 % std::size(kShapes)], first % 2 == 0 ? "a" : "z");
  for (size_t i = kHead; i + 1 < input.size() && !run.is_over(); i += kAction) {
    run.Do(static_cast<uint8_t>(input[i]), static_cast<uint8_t>(input[i + 1]));
    run.Check();
  }
}

// Mutates an input by whole actions (kAction bytes each). libFuzzer's own
// mutations insert or remove single bytes, which shifts all later bytes and so
// turns the later actions into different ones.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned seed) {
  std::minstd_rand random(seed);
  const auto draw = [&random](size_t below) { return random() % below; };
  std::string input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) input.push_back(static_cast<char>(random()));
  for (size_t changes = draw(4) + 1; changes > 0; --changes) {
    const size_t actions = (input.size() - kHead) / kAction;
    input.resize(kHead + actions * kAction);
    const size_t at = kHead + draw(actions + 1) * kAction;
    const size_t from = kHead + draw(actions + 1) * kAction;
    const size_t length = (draw(8) + 1) * kAction;
    switch (draw(10)) {
      case 0:
        input[0] = static_cast<char>(random());
        break;
      case 1:
        input.erase(at, length);
        break;
      case 2:
        input.insert(at, input.substr(from, length));
        break;
      case 3:
      case 4:
        input.erase(at, kAction);
        break;
      case 5:
      case 6:
      case 7:
        input.insert(
            at, {static_cast<char>(random()), static_cast<char>(random())});
        break;
      default:
        if (actions == 0) break;
        input[std::min(at, input.size() - kAction) + draw(kAction)] ^=
            static_cast<char>(1 << draw(8));
    }
  }
  size = std::min(input.size(), max_size);
  std::copy_n(input.begin(), size, data);
  return size;
}

}  // namespace muster
