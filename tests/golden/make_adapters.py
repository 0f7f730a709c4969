"""Writes tiny_llama/VARIANT/{adapter_initial, adapter_nonzero, adapter.safetensors, adapter.json}.

The directories are as PEFT saves them. adapter_initial is where the LoRA curves start (B is zero);
adapter_nonzero has every entry set, and adapter.safetensors holds the logits and the gradients of
its tensors for the ids of golden.json.

Usage: ENV/bin/python make_adapters.py          (after make_tiny_llama.py)
"""
import json
import os
import shutil

import peft
import torch

import oracle

RANK, ALPHA, TARGETS = 4, 8, ["q_proj", "v_proj"]


def add_lora(model):
    config = peft.LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, lora_dropout=0.0,
                             task_type="CAUSAL_LM")
    return peft.get_peft_model(model, config)


def save(model, variant, path):
    """PEFT's own files, in float32, with a base model path that names no machine."""
    shutil.rmtree(path, ignore_errors=True)
    model.float()
    model.peft_config["default"].base_model_name_or_path = f"tiny_llama/{variant}/model"
    model.save_pretrained(path, safe_serialization=True)
    os.remove(os.path.join(path, "README.md"))
    config_path = os.path.join(path, "adapter_config.json")
    with open(config_path, encoding="utf-8") as file:
        config = json.load(file)
    config["target_modules"] = sorted(config["target_modules"])  # A set: its order is random.
    with open(config_path, "w", encoding="utf-8") as file:
        json.dump(config, file, indent=2, sort_keys=True)


def adapter_golden(variant, directory):
    model = peft.PeftModel.from_pretrained(
        oracle.load(variant), os.path.join(directory, "adapter_nonzero"), is_trainable=True)
    oracle.to_double(model)
    with open(os.path.join(directory, "golden.json"), encoding="utf-8") as file:
        forward = json.load(file)["forward"]
    z = oracle.logits_of(model, torch.tensor(forward["input_ids"]))
    total, targets = oracle.summed_loss(z, torch.tensor(forward["labels"]))
    loss = total / targets
    loss.backward()
    tensors = {"logits": z}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            tensors["gradient." + name.replace(".default.", ".")] = parameter.grad
    oracle.write_tensors(os.path.join(directory, "adapter.safetensors"), tensors)
    oracle.write_json(os.path.join(directory, "adapter.json"),
                      dict(loss=loss.item(), target_tokens=targets))
    merged = model.merge_and_unload()
    assert torch.allclose(oracle.logits_of(merged, torch.tensor(forward["input_ids"])), z)
    return loss.item()


def main():
    for number, variant in enumerate(oracle.VARIANTS):
        oracle.seed(200 + number)
        directory = os.path.join(oracle.TINY_LLAMA, variant)
        model = add_lora(oracle.load(variant))
        save(model, variant, os.path.join(directory, "adapter_initial"))
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.data.normal_(std=0.2)
        save(model, variant, os.path.join(directory, "adapter_nonzero"))
        print(variant, "loss with adapter", adapter_golden(variant, directory))


if __name__ == "__main__":
    main()
