#ifndef MUSTER_MODELS_CUDA_EMULATION_BLOCK_RUN_H_
#define MUSTER_MODELS_CUDA_EMULATION_BLOCK_RUN_H_

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace muster::emulation {

// As CUDA's dim3, without its third dimension.
struct Extent {
  unsigned x = 1;
  unsigned y = 1;
};

// In which order warps, and their threads, run. A warp goes on alone as far as
// it can, up to where the whole block must wait: a kernel that is right gives
// the same with both orders; one that lacks a barrier rarely does.
enum class ThreadOrder { kForward, kBackward };

// Holds on the calling thread while it lives; kForward without one.
class ScopedThreadOrder {
 public:
  explicit ScopedThreadOrder(ThreadOrder order);
  ~ScopedThreadOrder();
  ScopedThreadOrder(const ScopedThreadOrder&) = delete;
  ScopedThreadOrder& operator=(const ScopedThreadOrder&) = delete;

 private:
  const ThreadOrder before_;
};

// Runs a kernel's thread blocks one after the other, the threads of a block as
// fibers of the calling thread, which change places only where they must wait
// for each other: the same input gives the same output, always. A kernel that
// CUDA leaves undefined ends the process and says where: a barrier that some
// threads of the block don't come to, or come to elsewhere; an exchange that
// not all lanes of a warp take part in, or in another place.
class BlockRun {
 public:
  static constexpr unsigned kWarpSize = 32;
  // What GPUs allow.
  static constexpr unsigned kMostThreads = 1024;

  // `body` is what each thread does.
  static void RunGrid(Extent blocks, Extent threads,
                      const std::function<void()>& body);

  // The one that the calling fiber is in.
  static BlockRun& Current();

  const Extent& thread() const { return threads_at_[running_]; }
  const Extent& block() const { return block_; }
  const Extent& threads() const { return threads_; }
  const Extent& blocks() const { return blocks_; }

  // __syncthreads.
  void Barrier(const std::source_location& here);
  // __shfl_xor_sync: the value of the lane that is this one's number with the
  // bits of `lane_mask` turned.
  uint64_t Exchange(uint32_t mask, uint64_t value, int lane_mask,
                    const std::source_location& here);

 private:
  // Of __builtin_setjmp, which leaves signals alone, other than swapcontext,
  // and AddressSanitizer, other than setjmp: switches are to be cheap, and no
  // frame is left for good.
  using Context = void* [5];

  enum class State { kReady, kWaiting, kDone };

  struct Fiber {
    std::unique_ptr<char[]> stack;
    Context context;
    State state = State::kDone;
    // How many exchanges it has been in.
    unsigned exchanges = 0;
  };

  // Those who wait in one place until all are there.
  struct Gathering {
    unsigned arrived = 0;
    std::source_location place;
  };

  struct Warp {
    Gathering gathering;
    // Of this exchange and the one before: a lane may put its next value down
    // while others have not read this one yet.
    std::array<std::array<uint64_t, kWarpSize>, 2> values;
  };

  BlockRun(Extent blocks, Extent threads, const std::function<void()>& body);

  void MakeFibers();
  void RunBlock(Extent block);
  // Until all of it wait or are done, which are added to `done`; whether any
  // thread ran.
  bool RunWarp(unsigned warp, unsigned* done);
  // What a fiber does: `body` once for each block.
  static void Enter();
  // From the scheduler to the fiber that is running_, at first by what makes
  // it, and back from it.
  void Start(const ucontext_t& begin);
  void Resume();
  void Yield();
  // Waits until `size` threads, from `first` on, are here.
  void Gather(Gathering& gathering, unsigned first, unsigned size,
              const char* what, const std::source_location& here);
  std::string Stuck() const;

  const Extent blocks_;
  const Extent threads_;
  const std::function<void()>& body_;
  Extent block_;
  unsigned running_ = 0;
  std::vector<Extent> threads_at_;
  std::vector<Fiber> fibers_;
  std::vector<Warp> warps_;
  Gathering barrier_;
  Context scheduler_;
};

}  // namespace muster::emulation

#endif  // MUSTER_MODELS_CUDA_EMULATION_BLOCK_RUN_H_
