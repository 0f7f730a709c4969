"""Writes sentencepiece_ids.json: ids of mixed strings under the stories260K tokenizer.

Usage: ENV/bin/python make_tokenizer_ids.py PATH/stories260K_hf/tokenizer.model
"sentencepiece" is the library alone; "llama" is transformers' LlamaTokenizer (legacy behaviour:
BOS first, special tokens cut out of the text before SentencePiece sees it); "decoded" is
sentencepiece's text for its own ids.
"""
import os
import sys

import sentencepiece
import transformers

import oracle

TEXTS = [
    "", " ", "  ", "   leading spaces", "trailing spaces   ", "two  spaces inside", "a", "A", ".",
    "Once upon a time, there was a little girl named Lily.",
    "She loved to play outside in the park.", "Hello, world!", "HELLO WORLD", "hello",
    " hello", "hello ", "don't can't won't", "it's 12:45 o'clock", "3.14159 and 2,718,281",
    "1 22 333 4444 55555", "a+b=c; x<y && z>=w", "f(x) = { x^2 } [1] \\n \"quoted\"",
    "line one\nline two", "line one\n\nline three\n", "\n", "\n\n\n", "tab\tseparated\tvalues",
    "\t", "mixed \t\n whitespace", "carriage\r\nreturn", "émigré café naïve",
    "e\u0301 decomposed", "ﬁ ligature and ﬀ", "½ ² ™ ℃", "Ångström Übermut straße", "Привет, мир",
    "γειά σου Κόσμε", "你好,世界", "こんにちは 世界", "한국어 문장", "שלום עולם", "مرحبا بالعالم",
    "👍", "👩‍👩‍👧‍👦 family", "🇪🇸 flag", "text with 😀 in it", "zero\u200bwidth", "no\u00a0break space",
    "\u3000ideographic space", "▁", "▁hello▁world", "<s>", "</s>", "<unk>", "<s>hello</s>",
    "before <s> after", "<0x41>", "[INST] hi [/INST]", "x" * 40, "ab" * 20, "the the the the",
    "Tom and Sam went to the big red house. \"Look!\" said Tom.", "\x00 nul", "\x7f del",
    "\ufeffbyte order mark", "\ud7ff \ue000 \ufffd",
]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pieces = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1])
    llama = transformers.LlamaTokenizer(sys.argv[1], legacy=True)
    cases = []
    for text in TEXTS:
        ids = pieces.encode(text)
        cases.append(dict(text=text, sentencepiece=ids, llama=llama(text)["input_ids"],
                          decoded=pieces.decode(ids)))
    oracle.write_json(os.path.join(oracle.HERE, "sentencepiece_ids.json"), cases)
    print(len(cases), "strings;", sum(c["llama"] != [1] + c["sentencepiece"] for c in cases),
          "where LlamaTokenizer is not BOS + sentencepiece")


if __name__ == "__main__":
    main()
