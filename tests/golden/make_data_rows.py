"""Writes data_rows.json: records as optimum-habana's examples turn them into training rows.

Usage: ENV/bin/python make_data_rows.py PATH/stories260K_hf/tokenizer.model
"alpaca" follows run_lora_clm: ids = BOS + prompt and answer tokenized as one text + EOS;
"answer_labels" ignores as many positions as BOS + the prompt alone has tokens (labels with
--train_on_inputs are the ids themselves). "text" follows run_clm: each line with its newline is
tokenized on its own, BOS first; the ids of all lines are joined and cut into blocks, the incomplete
last one dropped.
"""
import os
import sys

import transformers

import oracle

REQUEST = "a response that appropriately completes the request.\n\n### Instruction:\n"
WITHOUT_INPUT = ("Below is an instruction that describes a task. Write " + REQUEST +
                 "{instruction}\n\n### Response:")
WITH_INPUT = ("Below is an instruction that describes a task, paired with an input that provides "
              "further context. Write " + REQUEST +
              "{instruction}\n\n### Input:\n{input}\n\n### Response:")
RECORDS = [
    dict(instruction="Name a colour.", input="", output="Blue."),
    dict(instruction="Say hello to the girl.", input="The girl is named Lily.",
         output="Hello, Lily!"),
    dict(instruction="Tell a story.", input="",
         output="Once upon a time, there was a cat.\n\nThe cat was happy.\n"),
    dict(instruction="Translate to Catalan: the sea", input="", output="el mar — és blau"),
    dict(instruction="  spaces around  ", input=" 1, 2, 3 ", output=" 6 "),
    dict(instruction="Answer nothing.", input="", output=""),
]
TEXT = """Once upon a time, there was a little dog.

The dog ran to the park. "Look!" said Tom, "a big red ball."
They played all day long, and then they went home.

The end.
"""
BLOCK_SIZE = 24


def alpaca_row(tokenizer, record):
    template = WITH_INPUT if record["input"] else WITHOUT_INPUT
    prompt = template.format(**record)
    prompt_length = len(tokenizer(prompt)["input_ids"])
    ids = tokenizer(prompt + record["output"])["input_ids"] + [tokenizer.eos_token_id]
    labels = [oracle.IGNORED_LABEL] * prompt_length + ids[prompt_length:]
    return dict(record=record, input_ids=ids, answer_labels=labels)


def text_blocks(tokenizer):
    ids = [i for line in TEXT.splitlines(keepends=True) for i in tokenizer(line)["input_ids"]]
    starts = range(0, len(ids) // BLOCK_SIZE * BLOCK_SIZE, BLOCK_SIZE)
    return [ids[start:start + BLOCK_SIZE] for start in starts]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tokenizer = transformers.LlamaTokenizer(sys.argv[1], legacy=True)
    rows = dict(alpaca=[alpaca_row(tokenizer, record) for record in RECORDS],
                text=dict(text=TEXT, block_size=BLOCK_SIZE, blocks=text_blocks(tokenizer)))
    oracle.write_json(os.path.join(oracle.HERE, "data_rows.json"), rows)
    print(len(RECORDS), "records,", len(rows["text"]["blocks"]), "blocks")


if __name__ == "__main__":
    main()
