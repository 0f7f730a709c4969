"""Writes tiny_llama/batches.json and tiny_llama/VARIANT/curves.json: 20 optimizer steps.

Runs: full fine-tuning and LoRA (from adapter_initial), accumulation 1 and 4. A step is
  loss      = sum of -log p over every target of the step's micro batches / number of targets
  gradient  = of that loss; clipped by torch.nn.utils.clip_grad_norm_
  optimizer = torch.optim.AdamW, no decay on norm weights (transformers' decay groups)
  schedule  = transformers.get_cosine_schedule_with_warmup, stepped after the optimizer, so that
              the first step has a learning rate of zero when there is a warm-up
Accumulation n takes micro batches n*s .. n*s + n - 1 of batches.json at step s. Usage:
ENV/bin/python make_curves.py                   (after make_adapters.py)
"""
import os

import peft
import torch
import transformers
from transformers.pytorch_utils import ALL_LAYERNORM_LAYERS
from transformers.trainer_pt_utils import get_parameter_names

import oracle

B, T, STEPS, WARMUP_STEPS, DISTINCT_BATCHES = 2, 16, 20, 4, 8
LEARNING_RATE = dict(full=1e-2, lora=3e-2)
MAX_GRAD_NORM = dict(full_1=4.5, full_4=1.5, lora_1=1.5, lora_4=0.85)  # Active on some steps.
WEIGHT_DECAY, BETAS, EPSILON = 0.1, (0.9, 0.999), 1e-6


def make_batch():
    """A noisy arithmetic sequence per row, and an ignored prefix of a different length."""
    ids = torch.randint(3, 96, (B, T))
    for row in ids:
        for t in range(1, T):
            if torch.rand(()) < 0.9:
                row[t] = 3 + (5 * int(row[t - 1]) + 11) % 93
    labels = ids.clone()
    for row in labels:
        row[:int(torch.randint(0, 9, (1,)))] = oracle.IGNORED_LABEL
    return dict(input_ids=ids.tolist(), labels=labels.tolist())


def optimizer_for(model, learning_rate):
    decayed = get_parameter_names(model, ALL_LAYERNORM_LAYERS)
    trained = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    groups = [dict(params=[p for n, p in trained if n in decayed], weight_decay=WEIGHT_DECAY),
              dict(params=[p for n, p in trained if n not in decayed], weight_decay=0.0)]
    return torch.optim.AdamW(groups, lr=learning_rate, betas=BETAS, eps=EPSILON)


def loss_over(model, batches):
    pairs = [oracle.summed_loss(oracle.logits_of(model, torch.tensor(b["input_ids"])),
                                torch.tensor(b["labels"])) for b in batches]
    return sum(total for total, _ in pairs) / sum(count for _, count in pairs)


def train(model, method, accumulation, batches):
    learning_rate = LEARNING_RATE[method]
    max_grad_norm = MAX_GRAD_NORM[f"{method}_{accumulation}"]
    optimizer = optimizer_for(model, learning_rate)
    schedule = transformers.get_cosine_schedule_with_warmup(optimizer, WARMUP_STEPS, STEPS)
    parameters = [p for p in model.parameters() if p.requires_grad]
    losses, norms, rates = [], [], []
    for step in range(STEPS):
        loss = loss_over(model, batches["train"][step * accumulation:(step + 1) * accumulation])
        optimizer.zero_grad()
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(parameters, max_grad_norm).item())
        rates.append(schedule.get_last_lr()[0])
        losses.append(loss.item())
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        held_out = loss_over(model, batches["held_out"]).item()
    final_norms = {n.replace(".default.", "."): p.norm().item()
                   for n, p in model.named_parameters() if p.requires_grad}
    return dict(gradient_accumulation_steps=accumulation, learning_rate=learning_rate,
                max_grad_norm=max_grad_norm, losses=losses,
                gradient_norms_before_clipping=norms, learning_rates=rates,
                held_out_loss=held_out, final_parameter_norms=final_norms)


def model_for(variant, method):
    model = oracle.load(variant)
    if method == "lora":
        path = os.path.join(oracle.TINY_LLAMA, variant, "adapter_initial")
        model = oracle.to_double(peft.PeftModel.from_pretrained(model, path, is_trainable=True))
    return model


def main():
    oracle.seed(300)
    distinct = [make_batch() for _ in range(DISTINCT_BATCHES)]
    batches = dict(train=[distinct[i % DISTINCT_BATCHES] for i in range(4 * STEPS)],
                   held_out=[make_batch() for _ in range(4)])
    oracle.write_json(os.path.join(oracle.TINY_LLAMA, "batches.json"), batches)
    for variant in oracle.VARIANTS:
        curves = dict(
            options=dict(steps=STEPS, warmup_steps=WARMUP_STEPS, lr_scheduler_type="cosine",
                         weight_decay=WEIGHT_DECAY, adam_beta1=BETAS[0], adam_beta2=BETAS[1],
                         adam_epsilon=EPSILON),
            runs={})
        for method in ("full", "lora"):
            for accumulation in (1, 4):
                run = train(model_for(variant, method), method, accumulation, batches)
                curves["runs"][f"{method}_{accumulation}"] = run
                norms = run["gradient_norms_before_clipping"]
                clipped = sum(norm > run["max_grad_norm"] for norm in norms)
                print(variant, method, accumulation, "loss", run["losses"][0], "->",
                      run["losses"][-1], "held out", run["held_out_loss"], "clipped", clipped)
        oracle.write_json(os.path.join(oracle.TINY_LLAMA, variant, "curves.json"), curves)


if __name__ == "__main__":
    main()
