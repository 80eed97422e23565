#ifndef MUSTER_MODELS_GPT_GPT_STAGE_H_
#define MUSTER_MODELS_GPT_GPT_STAGE_H_

#include <cstdint>
#include <vector>

#include "models/gpt/gpt_block.h"
#include "models/gpt/gpt_weights.h"

namespace muster::models {

// The data of one micro-batch in a stage. After the micro-batch's backward pass
// only `tokens` and `targets` remain: the stage takes the other arrays back for
// later micro-batches.
struct GptMicroBatch {
  // Tokens and targets, batch * time elements each. The first stage needs the
  // tokens, the last stage the targets. Values are below the size of the
  // vocabulary.
  std::vector<int32_t> tokens = {};
  std::vector<int32_t> targets = {};

  // Data of each block that is kept from the forward pass to the backward pass.
  std::vector<GptBlockActivations> blocks = {};
  std::vector<float> final_input = {};
  NormActivations final_norm = {};
  // The logits; Loss replaces them by their gradient.
  std::vector<float> logits = {};
  // The gradient of the stage's input.
  std::vector<float> input_gradient = {};
};

// Layers of a transformer: the whole model, or a pipeline stage, with the
// embeddings and the head if they belong to it. Passes of different
// micro-batches may be interleaved. Not thread-safe; uses one thread, except in
// matrix products.
class GptStage {
 public:
  // Activation checkpointing (Chen et al., 2016). kNone: blocks keep all data
  // that their backward pass needs. kBlocks: blocks keep only their input and
  // recompute the rest.
  enum class Checkpointing { kNone, kBlocks };

  // `weights` must outlive this object.
  GptStage(GptWeights& weights, int64_t batch, int64_t time,
           Checkpointing checkpointing = Checkpointing::kNone);

  // Number of elements of the array that one stage passes to the next: batch *
  // time * width.
  int64_t stream_count() const;

  // Replaces `stream` by this stage's output. On input, `stream` is the output
  // of the previous stage; the first stage ignores it.
  void Forward(GptMicroBatch* micro_batch, std::vector<float>* stream) const;

  // Computes the mean loss over the micro-batch from the stage's output. Last
  // stage only. The following backward pass computes the gradients of the loss
  // times `factor`.
  double Loss(GptMicroBatch* micro_batch, const std::vector<float>& stream,
              float factor) const;
  // Computes the mean loss like Loss, but does not prepare a backward pass: the
  // logits are not overwritten by their gradients.
  double LossOnly(GptMicroBatch* micro_batch,
                  const std::vector<float>& stream) const;

  // Replaces `gradient` by the gradient of the stage's input. On input,
  // `gradient` is the gradient of the stage's output; the last stage ignores
  // it.
  void BackwardInput(GptMicroBatch* micro_batch,
                     std::vector<float>* gradient) const;

  // Adds to the gradients of all weights. Reports each tensor's index once,
  // when the tensor's gradient is complete for this pass.
  void BackwardWeight(GptMicroBatch* micro_batch,
                      const GradientReady& ready) const;

  // Does BackwardInput and BackwardWeight for one layer after the other, so
  // that gradients are complete as early as possible.
  void Backward(GptMicroBatch* micro_batch, std::vector<float>* gradient,
                const GradientReady& ready) const;

  bool has_embeddings() const { return weights_.layers().first == 0; }
  bool has_head() const {
    return weights_.layers().last == weights_.config().layers;
  }

 private:
  int64_t rows() const { return batch_ * time_; }
  void TakeMemory(GptMicroBatch* micro_batch) const;
  void GiveBackMemory(GptMicroBatch* micro_batch) const;
  int64_t width() const { return weights_.config().width; }
  void Logits(GptMicroBatch* micro_batch,
              const std::vector<float>& stream) const;
  void HeadBackwardInput(GptMicroBatch* micro_batch,
                         std::vector<float>* gradient) const;
  void HeadBackwardWeight(GptMicroBatch* micro_batch,
                          const GradientReady& ready) const;
  void BlockBackwardInput(GptMicroBatch* micro_batch, int64_t layer,
                          std::vector<float>* gradient) const;
  void EmbeddingsBackward(const GptMicroBatch& micro_batch,
                          const std::vector<float>& gradient,
                          const GradientReady& ready) const;

  GptWeights& weights_;
  const int64_t batch_;
  const int64_t time_;
  const Checkpointing checkpointing_;
  const GptBlock block_;
  // The arrays of finished micro-batches, which later micro-batches reuse. The
  // number of entries never exceeds the largest number of micro-batches in
  // flight at once. New arrays in each step would cost a page fault per 4 KiB.
  mutable std::vector<GptMicroBatch> spare_;
  // Working memory; its contents do not matter between calls. The blocks run in
  // turn and use the same arrays, so that the arrays stay in the processor's
  // cache.
  mutable std::vector<float> inner_;
  mutable GptBlockGradients gradients_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_GPT_GPT_STAGE_H_
