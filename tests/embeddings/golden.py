"""Writes tokens.json: texts with the ids of the reference tokenizer.

    pip install tokenizers==0.23.3
    python golden.py FOLDER > tokens.json

FOLDER holds tokenizer.json of sentence-transformers/all-MiniLM-L6-v2.
"""

import json
import sys

from tokenizers import Tokenizer

TEXTS = [
    "",
    " \t\r\n ",
    "Allergic to peanuts",
    "what food should I avoid for her?",
    "Café déjà-vu, naïve Ångström ÉCOLE İstanbul ΟΔΟΣ Straße ﬁne ½",
    "don't can't I'm O'Reilly's rock'n'roll",
    "e-mail: ada@example.org, https://example.org/a?b=c&d=[e]#f",
    "INV-2024-00173 SKU#44_7 v1.2.3-beta.4 0x1F600 3,141.59 €20 £5 ¥3 50% ±2 ×3 ÷4",
    "東京へ行きました。寒い！ 你好，世界 한국어 텍스트 ひらがな カタカナ",
    "Привет, мир! Ёлка Й й",
    "مرحبا بالعالم، كيف الحال؟ שָׁלוֹם",
    "สวัสดีชาวโลก नमस्ते दुनिया வணக்கம்",
    "Xin chào thế giới, tôi đã đến Hà Nội",
    "zero\u200bwidth \u200djoiner \ufeffbom soft\u00adhyphen nb\u00a0space thin\u2009space ideo\u3000graphic",
    "control\u0001chars\u0007and\u007fdelete\u0085next\u2028line\u2029paragraph",
    "emoji 😀👍🏽👨‍👩‍👧 flags 🇵🇹 keycap 1️⃣ heart ❤️",
    "« guillemets » “quotes” ‘single’ — dash – en … ellipsis • bullet · middle",
    "math ∑∫√∞≠≤ → ⇒ currency ₿₹ box ┌─┐ braille ⠿ arrows ↑↓ © ® ™ °",
    "a\u0301e\u0308 combining marks n\u0303 \u0301alone",
    "x" * 99 + " " + "x" * 100 + " " + "x" * 101,
    "pneumonoultramicroscopicsilicovolcanoconiosis antidisestablishmentarianism qwrtzpsdf",
    "snake_case camelCase kebab-case SCREAMING_CASE path/to/file.ts C:\\Users\\Ada",
    "```ts\nconst x: number = 1;\n```\n| a | b |\n|---|---|\n**bold** _it_ ~~no~~ `code`",
    "\U00020000\U0002a6d6 rare ideographs \uf900\U0002f800 compatibility",
    "\ue000 private \U000e0041 tags \ufffd replacement",
    "word " * 400,
    "１２３ ＡＢＣ full width ㎏ ㍿ ①② Ⅳ",
    "Dž ǆ ŉ ſ K Å Ω ß ẞ",
    "@#$%^&*()_+-=[]{}|;':\",./<>?`~",
    "Το ΠΑΙΔΙ ΤΟΥΣ ΄Ελληνας Ϊ ΰ",
]


def main() -> None:
    tokenizer = Tokenizer.from_file(f"{sys.argv[1]}/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    rows = [{"text": text, "ids": tokenizer.encode(text).ids} for text in TEXTS]
    print(json.dumps(rows, ensure_ascii=True, indent=0))


main()
