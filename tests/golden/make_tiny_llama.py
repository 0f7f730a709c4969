"""Writes tiny_llama/VARIANT/{model, golden.json, logits.safetensors, gradients.safetensors}.

Usage: ENV/bin/python make_tiny_llama.py        (ENV: see make_environment.sh)
"""
import os
import shutil

import torch
import transformers

import oracle

VOCABULARY = 96
B, T = 3, 16
CONFIGS = {
    "tied": dict(tie_word_embeddings=True, num_hidden_layers=2),
    "untied": dict(tie_word_embeddings=False, num_hidden_layers=2),
    "grouped": dict(tie_word_embeddings=False, num_hidden_layers=3, num_key_value_heads=2,
                    rms_norm_eps=1e-5, rope_theta=50000.0),
}


def write_model(variant, path):
    """Random weights, large enough that attention is far from uniform; norms are not ones."""
    config = transformers.LlamaConfig(**{**dict(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=56, num_attention_heads=4,
        max_position_embeddings=128, initializer_range=0.2, rms_norm_eps=1e-6,
        torch_dtype="float32", bos_token_id=1, eos_token_id=2, pad_token_id=0,
        architectures=["LlamaForCausalLM"]), **CONFIGS[variant]})
    model = transformers.LlamaForCausalLM(config)
    for name, parameter in model.named_parameters():
        if "norm" in name:
            parameter.data.add_(0.1 * torch.randn_like(parameter))
    shutil.rmtree(path, ignore_errors=True)
    model.save_pretrained(path, safe_serialization=True)
    os.remove(os.path.join(path, "generation_config.json"))


def forward_golden(model, golden, logits, directory):
    """Loss over labels with holes, logits everywhere, and the gradient of every parameter."""
    ids = torch.randint(3, VOCABULARY, (B, T))
    labels = ids.clone()
    labels[0, :5] = oracle.IGNORED_LABEL
    labels[1, 12:] = oracle.IGNORED_LABEL
    labels[2, 4:9] = oracle.IGNORED_LABEL
    z = oracle.logits_of(model, ids)
    total, targets = oracle.summed_loss(z, labels)
    loss = total / targets
    model.zero_grad()
    loss.backward()
    golden["forward"] = dict(input_ids=ids.tolist(), labels=labels.tolist(), loss=loss.item(),
                             target_tokens=targets)
    logits["forward"] = z
    oracle.write_tensors(os.path.join(directory, "gradients.safetensors"),
                         {n: p.grad for n, p in model.named_parameters()})


def mask_golden(model, golden, logits):
    """Rows of unequal length alone, padded on either side, and packed into one row."""
    rows = [torch.randint(3, VOCABULARY, (length,)) for length in (16, 11, 7)]
    alone = [oracle.logits_of(model, row[None])[0] for row in rows]
    right = [(row, torch.zeros(T - len(row), dtype=torch.long)) for row in rows]
    sides = dict(right=[torch.cat(pair) for pair in right],
                 left=[torch.cat(pair[::-1]) for pair in right])
    golden["padding"] = dict(lengths=[len(row) for row in rows])
    for side, padded in sides.items():
        ids = torch.stack(padded)
        mask = (ids != 0).long()
        positions = (mask.cumsum(-1) - 1).clamp(min=0)
        z = oracle.logits_of(model, ids, attention_mask=mask, position_ids=positions)
        for row, expected in enumerate(alone):
            assert torch.allclose(z[row][mask[row].bool()], expected, atol=1e-9), (side, row)
        golden["padding"][side] = dict(input_ids=ids.tolist(), attention_mask=mask.tolist(),
                                       position_ids=positions.tolist())
    for row, z in enumerate(alone):
        logits[f"padding.row{row}"] = z

    parts = rows[1:]
    golden["packed"] = dict(
        input_ids=torch.cat(parts).tolist(),
        position_ids=torch.cat([torch.arange(len(p)) for p in parts]).tolist(),
        segment_ids=torch.cat([torch.full((len(p),), i) for i, p in enumerate(parts)]).tolist())
    logits["packed"] = torch.cat(alone[1:])


def greedy_golden(model, golden):
    """40 tokens by full recomputation; a prompt whose choice is nearly a tie is drawn again."""
    golden["greedy"] = []
    while len(golden["greedy"]) < 3:
        prompt = torch.randint(3, VOCABULARY, (4 + 3 * len(golden["greedy"]),)).tolist()
        tokens, margin = list(prompt), float("inf")
        for _ in range(40):
            best = torch.topk(oracle.logits_of(model, torch.tensor([tokens]))[0, -1], 2)
            margin = min(margin, (best.values[0] - best.values[1]).item())
            tokens.append(best.indices[0].item())
        if margin > 1e-3 and len(set(tokens[len(prompt):])) > 4:
            golden["greedy"].append(dict(prompt=prompt, tokens=tokens[len(prompt):],
                                         smallest_margin=margin))


def main():
    for number, variant in enumerate(oracle.VARIANTS):
        oracle.seed(100 + number)
        directory = os.path.join(oracle.TINY_LLAMA, variant)
        write_model(variant, os.path.join(directory, "model"))
        model, golden, logits = oracle.load(variant), {}, {}
        forward_golden(model, golden, logits, directory)
        with torch.no_grad():
            mask_golden(model, golden, logits)
            greedy_golden(model, golden)
        oracle.write_json(os.path.join(directory, "golden.json"), golden)
        oracle.write_tensors(os.path.join(directory, "logits.safetensors"), logits)
        print(variant, "loss", golden["forward"]["loss"],
              "largest logit", logits["forward"].abs().max().item(),
              "margins", [round(g["smallest_margin"], 4) for g in golden["greedy"]])


if __name__ == "__main__":
    main()
