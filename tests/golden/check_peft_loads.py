"""Loads an adapter directory in PEFT and prints what it computes, as one JSON object.

Usage: ENV/bin/python check_peft_loads.py ADAPTER_DIR MODEL_DIR [IDS_JSON]
IDS_JSON holds rows of token ids of equal length (default: one row, 3 .. 18). Printed: "input_ids",
"logits" [B][T][V], and "tensors": the adapter's trained tensors and their shapes. Fails where PEFT
would silently leave a tensor of the file unused or one of the model unset.
"""
import json
import os
import sys

import peft
import safetensors.torch
import torch
import transformers


def load(adapter_dir, model_dir):
    model = transformers.LlamaForCausalLM.from_pretrained(model_dir, torch_dtype=torch.float32)
    model = peft.PeftModel.from_pretrained(model, adapter_dir).eval()
    stored = safetensors.torch.load_file(os.path.join(adapter_dir, "adapter_model.safetensors"))
    loaded = peft.get_peft_model_state_dict(model)
    if set(stored) != set(loaded):
        sys.exit(f"tensors differ: only in the file {sorted(set(stored) - set(loaded))}, "
                 f"only in the model {sorted(set(loaded) - set(stored))}")
    for name, tensor in stored.items():
        if not torch.equal(tensor.float(), loaded[name].float()):
            sys.exit(f"{name} was not loaded as stored")
    return model, {name: list(t.shape) for name, t in sorted(stored.items())}


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    rows = [list(range(3, 19))]
    if len(sys.argv) == 4:
        with open(sys.argv[3], encoding="utf-8") as file:
            rows = json.load(file)
    model, tensors = load(sys.argv[1], sys.argv[2])
    with torch.no_grad():
        logits = model(input_ids=torch.tensor(rows)).logits
    print(json.dumps(dict(input_ids=rows, tensors=tensors, logits=logits.tolist())))


if __name__ == "__main__":
    main()
