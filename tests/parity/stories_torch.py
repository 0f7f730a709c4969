"""Trains a Llama in plain PyTorch on the very batches that our trainer trained on.

Usage: ENV/bin/python stories_torch.py --model DIR --train_batches FILE [--eval_batches FILE]
           [--method lora --adapter DIR] [--learning_rate X ...]     (ENV: tests/golden/README.md)

A batch file is what `--dump_batches FILE` writes (evaluation's batches go to FILE.eval), one JSON
object per micro batch:
  {"step": 0, "micro": 0, "input_ids": [[...]], "labels": [[...]]}
with labels aligned to input_ids (position t predicts labels[t + 1]; -100 is ignored) and, for
packed rows, "position_ids" and "segment_ids" (attention stays inside a segment). Micro batches of
one step are accumulated: loss = sum of -log p over all their targets / number of these targets.

Prints one JSON object: train_losses (per step), train_loss (their mean), final_train_loss (mean of
the last ten), eval_loss (total over total targets), eval_tokens, initial_eval_loss.
"""
import argparse
import json
import os

import peft
import torch
import transformers
from transformers.pytorch_utils import ALL_LAYERNORM_LAYERS
from transformers.trainer_pt_utils import get_parameter_names

IGNORED_LABEL = -100


def read_steps(path):
    """The micro batches of each step, in order."""
    steps = {}
    with open(path, encoding="utf-8") as file:
        for line in filter(str.strip, file):
            batch = json.loads(line)
            steps.setdefault(batch["step"], []).append(batch)
    for batches in steps.values():
        batches.sort(key=lambda batch: batch["micro"])
    return [steps[number] for number in sorted(steps)]


def load_model(options):
    model = transformers.LlamaForCausalLM.from_pretrained(options.model, torch_dtype=torch.float32)
    if options.method == "lora" and options.adapter:
        model = peft.PeftModel.from_pretrained(model, options.adapter, is_trainable=True)
    elif options.method == "lora":
        model = peft.get_peft_model(model, peft.LoraConfig(
            r=options.lora_rank, lora_alpha=options.lora_alpha, lora_dropout=0.0,
            target_modules=options.lora_target_modules, task_type="CAUSAL_LM"))
    return model


def segment_mask(segment_ids):
    """Additive mask [B, 1, T, T]: causal, and blocked between segments."""
    length = segment_ids.shape[1]
    allowed = (segment_ids[:, :, None] == segment_ids[:, None, :]).tril()
    mask = torch.zeros(len(segment_ids), 1, length, length)
    return mask.masked_fill(~allowed[:, None], torch.finfo(torch.float32).min)


def summed_loss(model, batch):
    causal = model.base_model.model if isinstance(model, peft.PeftModel) else model
    keywords = {}
    if "position_ids" in batch:
        keywords["position_ids"] = torch.tensor(batch["position_ids"])
    causal.model.__dict__.pop("_prepare_decoder_attention_mask", None)
    if "segment_ids" in batch:
        mask = segment_mask(torch.tensor(batch["segment_ids"]))
        causal.model._prepare_decoder_attention_mask = lambda *_: mask
    logits = causal(input_ids=torch.tensor(batch["input_ids"]), **keywords).logits
    targets = torch.tensor(batch["labels"])[:, 1:].reshape(-1)
    total = torch.nn.functional.cross_entropy(
        logits[:, :-1].reshape(-1, logits.shape[-1]), targets, ignore_index=IGNORED_LABEL,
        reduction="sum")
    return total, int((targets != IGNORED_LABEL).sum())


def evaluate(model, path):
    with torch.no_grad():
        pairs = [summed_loss(model, batch) for step in read_steps(path) for batch in step]
    tokens = sum(count for _, count in pairs)
    return sum(total.item() for total, _ in pairs) / tokens, tokens


def train(model, steps, options):
    decayed = set(get_parameter_names(model, ALL_LAYERNORM_LAYERS))
    trained = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    groups = [
        dict(params=[p for n, p in trained if n in decayed], weight_decay=options.weight_decay),
        dict(params=[p for n, p in trained if n not in decayed], weight_decay=0.0)]
    optimizer = torch.optim.AdamW(groups, lr=options.learning_rate, eps=options.adam_epsilon,
                                  betas=(options.adam_beta1, options.adam_beta2))
    schedule = transformers.get_scheduler(
        options.lr_scheduler_type, optimizer, num_warmup_steps=options.warmup_steps,
        num_training_steps=options.max_steps or len(steps))
    losses = []
    for batches in steps[:options.max_steps or len(steps)]:
        targets = sum(sum(label != IGNORED_LABEL for row in batch["labels"] for label in row[1:])
                      for batch in batches)
        optimizer.zero_grad()
        losses.append(0.0)
        for batch in batches:
            total, _ = summed_loss(model, batch)
            (total / targets).backward()
            losses[-1] += total.item() / targets
        if options.max_grad_norm > 0:
            torch.nn.utils.clip_grad_norm_([p for _, p in trained], options.max_grad_norm)
        optimizer.step()
        schedule.step()
    return losses


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="Hugging Face directory")
    parser.add_argument("--train_batches", required=True)
    parser.add_argument("--eval_batches")
    parser.add_argument("--method", choices=["full", "lora"], default="full")
    parser.add_argument("--adapter", help="adapter directory to start from")
    parser.add_argument("--lora_rank", type=int, default=8)
    parser.add_argument("--lora_alpha", type=int, default=16)
    parser.add_argument("--lora_target_modules", nargs="+", default=["q_proj", "v_proj"])
    parser.add_argument("--learning_rate", type=float, default=5e-5)
    parser.add_argument("--lr_scheduler_type", default="linear",
                        choices=["linear", "cosine", "constant", "constant_with_warmup"])
    parser.add_argument("--warmup_steps", type=int, default=0)
    parser.add_argument("--max_steps", type=int, help="default: every step of the file")
    parser.add_argument("--weight_decay", type=float, default=0.0)
    parser.add_argument("--adam_beta1", type=float, default=0.9)
    parser.add_argument("--adam_beta2", type=float, default=0.999)
    parser.add_argument("--adam_epsilon", type=float, default=1e-6)
    parser.add_argument("--max_grad_norm", type=float, default=1.0, help="0: no clipping")
    parser.add_argument("--save", help="directory for the trained model or adapter")
    return parser.parse_args()


def main():
    options = parse_options()
    torch.manual_seed(0)
    model = load_model(options).train()
    result = {}
    if options.eval_batches:
        result["initial_eval_loss"], _ = evaluate(model, options.eval_batches)
    losses = train(model, read_steps(options.train_batches), options)
    last = losses[-10:]
    result.update(train_losses=losses, train_loss=sum(losses) / len(losses),
                  final_train_loss=sum(last) / len(last))
    if options.eval_batches:
        result["eval_loss"], result["eval_tokens"] = evaluate(model, options.eval_batches)
    if options.save:
        model.save_pretrained(os.path.abspath(options.save), safe_serialization=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
