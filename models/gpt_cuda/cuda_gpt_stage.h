#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_GPT_STAGE_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_GPT_STAGE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/cuda/device.h"
#include "models/gpt_cuda/cuda_gpt_block.h"
#include "models/gpt_cuda/cuda_gpt_weights.h"

namespace muster::models::cuda {

// One micro-batch in a stage, with its device memory. The object may be reused
// for another micro-batch.
template <typename T>
class CudaGptMicroBatch {
 public:
  // Tokens and targets, batch * time elements each. The first stage needs the
  // tokens, the last stage the targets. Values are below the size of the
  // vocabulary. Must not change until Backward returns.
  std::vector<int32_t> tokens;
  std::vector<int32_t> targets;

 private:
  template <typename>
  friend class CudaGptStage;

  explicit CudaGptMicroBatch(Device& device) : arrays(device) {}

  DeviceArrays arrays;
  // tokens_there: `tokens` in device memory. tokens_found, begins, rows: the
  // distinct tokens and the positions of each (TokenRows in token_rows.h), in
  // device memory.
  int32_t* tokens_there = nullptr;
  int32_t* tokens_found = nullptr;
  int32_t* begins = nullptr;
  int32_t* rows = nullptr;
  int32_t* targets_there = nullptr;
  // The input of each block; the last element is the input of the final norm.
  std::vector<T*> stream;
  // The activations of the blocks: one entry per block or, with activation
  // checkpointing, one entry that all blocks share.
  std::vector<CudaBlockActivations<T>> blocks;
  CudaNormActivations<T> final_norm;
  // The logits; Loss replaces them by their gradient.
  T* logits = nullptr;
  float* losses = nullptr;
  double* mean_loss = nullptr;
};

// The layers of a transformer on a GPU. CudaGptStage differs from GptStage as
// follows: all calls but ReadLoss return when their work is enqueued on the
// device's stream; errors are the device's status(); and the values that one
// stage passes to the next are an array of stream_count() elements in device
// memory. T: float, Bfloat16.
template <typename T>
class CudaGptStage {
 public:
  // Activation checkpointing, as in GptStage::Checkpointing.
  enum class Checkpointing { kNone, kBlocks };

  // `device` and `weights` must outlive the stage. ResourceExhausted: not
  // enough device memory.
  static absl::StatusOr<std::unique_ptr<CudaGptStage>> Create(
      Device& device, CudaGptWeights<T>& weights, int64_t batch, int64_t time,
      Checkpointing checkpointing = Checkpointing::kNone);

  // Makes a micro-batch, which the device must outlive. ResourceExhausted: not
  // enough device memory.
  absl::StatusOr<std::unique_ptr<CudaGptMicroBatch<T>>> NewMicroBatch() const;

  int64_t stream_count() const { return rows() * width(); }

  // Runs the forward pass, and returns its output, which is valid until the
  // micro-batch's next forward pass. `input`: the output of the previous stage;
  // null for the first stage.
  const T* Forward(CudaGptMicroBatch<T>* micro_batch, const T* input) const;

  // Computes the mean loss over the micro-batch. Last stage only. The following
  // backward pass computes the gradients of the loss times `factor`.
  void Loss(CudaGptMicroBatch<T>* micro_batch, float factor) const;
  // Computes the mean loss like Loss, but does not prepare a backward pass.
  void LossOnly(CudaGptMicroBatch<T>* micro_batch) const;
  // Returns the mean loss over the micro-batch. Blocks until it is computed.
  double ReadLoss(const CudaGptMicroBatch<T>& micro_batch) const;
  // Copies the mean loss to the address `to` in device memory, without
  // blocking.
  void CopyLoss(const CudaGptMicroBatch<T>& micro_batch, double* to) const;

  // Replaces `gradient` by the gradient of the stage's input. On input,
  // `gradient` is the gradient of the stage's output; the last stage ignores
  // it. Adds to the gradients of all weights. Reports each tensor's index once,
  // when the work on the tensor's gradient in this pass is enqueued.
  void Backward(CudaGptMicroBatch<T>* micro_batch, T* gradient,
                const CudaGradientReady& ready) const;

  bool has_embeddings() const { return weights_.layers().first == 0; }
  bool has_head() const {
    return weights_.layers().last == weights_.config().layers;
  }

 private:
  CudaGptStage(Device& device, CudaGptWeights<T>& weights, int64_t batch,
               int64_t time, Checkpointing checkpointing);

  int64_t rows() const { return batch_ * time_; }
  int64_t width() const { return weights_.config().width; }
  int64_t layer_count() const {
    return weights_.layers().last - weights_.layers().first;
  }
  // The number of columns of the logits. The columns beyond the vocabulary
  // belong to no class.
  int64_t classes() const { return weights_.padded_vocabulary(); }
  const CudaBlockActivations<T>& Kept(const CudaGptMicroBatch<T>& micro_batch,
                                      int64_t block) const;
  void Logits(CudaGptMicroBatch<T>* micro_batch) const;
  void HeadBackward(CudaGptMicroBatch<T>* micro_batch, T* gradient,
                    const CudaGradientReady& ready) const;
  void EmbeddingsBackward(const CudaGptMicroBatch<T>& micro_batch,
                          const T* gradient,
                          const CudaGradientReady& ready) const;

  Device& device_;
  CudaGptWeights<T>& weights_;
  const int64_t batch_;
  const int64_t time_;
  const Checkpointing checkpointing_;
  const CudaGptBlock<T> block_;
  // Working memory; its contents do not matter between calls.
  DeviceArrays arrays_;
  T* inner_;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_GPT_STAGE_H_
