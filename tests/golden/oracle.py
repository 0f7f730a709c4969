"""What the golden makers share: double-precision Llama, losses, and writers.

Every golden is computed in float64 from weights that float32 represents exactly, so that a
difference seen in a test is the tested program's own rounding.
"""
import functools
import json
import os
import random

import numpy
import peft
import safetensors.torch
import torch
import transformers
from transformers.models.llama import modeling_llama

HERE = os.path.dirname(os.path.abspath(__file__))
TINY_LLAMA = os.path.join(HERE, "tiny_llama")
VARIANTS = ("tied", "untied", "grouped")
IGNORED_LABEL = -100


class _DoubleTorch:
    """`torch` as modeling_llama sees it: its up-casts to float32 become up-casts to float64."""

    float32 = torch.float64
    full = functools.partial(torch.full, dtype=torch.float64)

    def __getattr__(self, name):
        return getattr(torch, name)


modeling_llama.torch = _DoubleTorch()


def seed(value):
    random.seed(value)
    numpy.random.seed(value)
    torch.manual_seed(value)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


def to_double(model):
    """Converts a Llama (or a PEFT model around one) to float64, rotary tables included."""
    model.double().eval()
    for module in model.modules():
        if isinstance(module, modeling_llama.LlamaRotaryEmbedding):
            exponents = torch.arange(0, module.dim, 2, dtype=torch.float64) / module.dim
            module.inv_freq = 1.0 / (module.base ** exponents)
            module._set_cos_sin_cache(module.max_position_embeddings, "cpu", torch.float64)
    return model


def load(variant):
    path = os.path.join(TINY_LLAMA, variant, "model")
    return to_double(transformers.LlamaForCausalLM.from_pretrained(path))


def logits_of(model, input_ids, **kwargs):
    """float64 logits [B, T, V]; LlamaForCausalLM.forward would round them to float32."""
    causal = model.base_model.model if isinstance(model, peft.PeftModel) else model
    return causal.lm_head(causal.model(input_ids=input_ids, **kwargs)[0])


def summed_loss(logits, labels):
    """(sum of -log p over targets, number of targets): position t predicts labels[t + 1]."""
    targets = labels[:, 1:].reshape(-1)
    total = torch.nn.functional.cross_entropy(
        logits[:, :-1].reshape(-1, logits.shape[-1]), targets,
        ignore_index=IGNORED_LABEL, reduction="sum")
    return total, int((targets != IGNORED_LABEL).sum())


def write_json(path, value):
    """JSON with one short list per line; 10 digits, so that the BLAS below does not matter."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(_pretty(_rounded(value), 0) + "\n")


def _rounded(value):
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def _pretty(value, depth):
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + depth <= 100 or not isinstance(value, (dict, list)):
        return flat
    inner, outer = " " * (depth + 1), " " * depth
    if isinstance(value, list) and not isinstance(value[0], (dict, list)):
        return flat
    if isinstance(value, dict):
        items = [f"{json.dumps(k)}: {_pretty(v, depth + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(inner + item for item in items) + "\n" + outer + "}"
    items = [_pretty(v, depth + 1) for v in value]
    return "[\n" + ",\n".join(inner + item for item in items) + "\n" + outer + "]"


def write_tensors(path, tensors):
    """safetensors, rounded to float32."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    safetensors.torch.save_file(
        {name: t.detach().to(torch.float32).contiguous().clone() for name, t in tensors.items()},
        path)
