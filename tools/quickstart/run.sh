#!/usr/bin/env bash
# Makes a little world of texts, trains a small Llama on it, asks it a question, fine-tunes it with
# LoRA on a few hundred instructions and asks again.
#
# Usage: tools/quickstart/run.sh TOOLS DIRECTORY [--short]
#   TOOLS      where run_clm and the others were built
#   DIRECTORY  where everything is written; an earlier result there is replaced
#   --short    a few steps of each training, to see that all of it runs
set -euo pipefail

tools=$1
out=$2
here="$(dirname "${BASH_SOURCE[0]}")"
pretraining=(--num_train_epochs 2)
tuning=(--num_train_epochs 8)
if [ "${3:-}" = --short ]; then
  pretraining=(--max_steps 3)
  tuning=(--max_steps 3)
fi

say() { printf '\n== %s\n' "$*"; }

instruction="Write a line for a turquoise wall."
prompt="Below is an instruction that describes a task. Write a response that appropriately completes \
the request.

### Instruction:
$instruction

### Response:"

# The answer of the model, with whatever further flags are given.
ask() {
  local text
  text=$("$tools/run_generation" --model_name_or_path "$out/base" --prompt "$prompt" \
    --max_new_tokens 24 --ignore_eos false "$@")
  printf 'Q: %s\nA: %s\n' "$instruction" "${text#"$prompt"}"
}

say "Writing a small world of texts and instructions to $out/data, and a tokenizer for it"
mkdir -p "$out/model"
"$tools/quickstart/make_corpus" "$out/data"
cp -f "$here/model/config.json" "$out/model/config.json"
"$tools/quickstart/make_tokenizer" "$out/data" "$out/model"

say "Training a Llama of 1.4 million parameters on it, from random weights"
"$tools/run_clm" --config_name "$out/model" --train_file "$out/data/corpus.jsonl" \
  --validation_file "$out/data/corpus_held_out.jsonl" --do_train --do_eval --block_size 128 \
  --per_device_train_batch_size 8 --learning_rate 3e-3 --lr_scheduler_type cosine \
  --warmup_steps 20 --logging_steps 100 --save_strategy no --overwrite_output_dir \
  --output_dir "$out/base" "${pretraining[@]}"

say "Its answer before fine-tuning"
ask

say "Fine-tuning it with LoRA on instructions that a mosaic maker answers"
"$tools/run_lora_clm" --model_name_or_path "$out/base" --train_file "$out/data/instructions.json" \
  --validation_file "$out/data/instructions_held_out.json" --do_train --do_eval \
  --train_on_inputs false --max_seq_length 128 --per_device_train_batch_size 16 \
  --learning_rate 5e-3 --lr_scheduler_type cosine --warmup_steps 10 --lora_rank 8 \
  --lora_dropout 0 --lora_target_modules q_proj k_proj v_proj o_proj gate_proj up_proj down_proj \
  --logging_steps 20 --save_strategy no --overwrite_output_dir --output_dir "$out/adapter" \
  "${tuning[@]}"

say "Its answer after fine-tuning"
ask --peft_model "$out/adapter"

say "What is where"
for file in base/model.safetensors adapter/adapter_model.safetensors adapter/adapter_config.json \
  adapter/all_results.json; do
  printf '%s\n' "$out/$file"
  [ -s "$out/$file" ]
done
printf 'Ask more: %s --model_name_or_path %s --peft_model %s --prompt "..."\n' \
  "$tools/run_generation" "$out/base" "$out/adapter"
