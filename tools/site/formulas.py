"""Formulas that stand in the sentences of docstrings, in Unicode there and for MathJax on a page.

Whoever calls ``help`` reads ``|a x - b|² + ridge |x|²``; the site shows the same as mathematics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_FUNCTIONS = """arccos arcsin arctan arg argmin argmax conj cos cosh cot coth det diag dim erf erfc exp gcd inf ln
lim log max min mod Re Im sign sin sinc sinh sup tan tanh tr vec""".split()
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿᵏⁱʲᵐᵖᵗˣᶻᵃᵇᵀᴴ", "0123456789+-nkijmptxzabTH", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₖₙᵢⱼₘₚᵣₜₓᵥ", "0123456789+-knijmprtxv", strict=True))
_SIGNS = {
    "=": "=", "≈": r"\approx ", "≠": r"\ne ", "!=": r"\ne ", "==": "=", "≤": r"\le ", "<=": r"\le ", "≥": r"\ge ",
    ">=": r"\ge ", "<": "<", ">": ">", "+": "+", "-": "-", "−": "-", "±": r"\pm ", "∓": r"\mp ", "·": r"\cdot ",
    "*": r"\cdot ", "×": r"\times ", "∘": r"\circ ", "⊗": r"\otimes ", "⊙": r"\odot ", "/": "/", "Σ": r"\sum ",
    "∑": r"\sum ", "∏": r"\prod ", "Π": r"\prod ", "∫": r"\int ", "∂": r"\partial ", "∇": r"\nabla ",
    "Δ": r"\Delta ", "‖": r"\|",
    "∞": r"\infty ", "∈": r"\in ", "→": r"\to ", "↦": r"\mapsto ", "⌊": r"\lfloor ", "⌋": r"\rfloor ",
    "⌈": r"\lceil ", "⌉": r"\rceil ", "…": r"\ldots ", "|": "|", "'": "'", ",": ",", ";": ";", ":": ":", "!": "!",
    "(": "(", ")": ")", "[": "[", "]": "]", "{": r"\{", "}": r"\}", ".": ".",
}  # fmt: skip
_LETTER = "[A-Za-zα-ωΓΘΛΞΦΨΩℓ]"
_TOKEN = re.compile(
    rf"(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)|(?P<name>{_LETTER}+\d*)|(?P<raised>[{''.join(_RAISED)}]+)"
    rf"|(?P<lowered>[{''.join(_LOWERED)}]+)|(?P<script>[\^_])|(?P<root>√)|(?P<space>\s+)"
    rf"|(?P<sign>{'|'.join(map(re.escape, sorted(_SIGNS, key=len, reverse=True)))})"
)
# What no sentence has: without one of these a run of letters and numbers is taken for words.
_SURE = re.compile(
    rf"[=≈≠≤≥<>±×·∘⊗⊙√Σ∑∏Π∫∂∇‖∞∈→↦⌊⌈^{''.join(_RAISED)}{''.join(_LOWERED)}]|\b{_LETTER}_\w\b|\|[^|]+\|"
    r"|(?:[ΓΦψζ]|\b(?:max|min|log|exp|sin|cos|tan|sinh|cosh|tanh))\("
)
_BINARY = set("= ≈ ≠ != == ≤ <= ≥ >= < > + - − · * × ∘ ⊗ ⊙ / ∈ → ↦".split())
_BIG = re.compile(r"[Σ∑∏Π∫√∂∇]([_^]\S+|[" + "".join(_LOWERED) + "".join(_RAISED) + r"]+)?$")
_WORD = re.compile(r"[|‖(]*[A-Za-z]+(\[[^\]]*\]?)*[)|‖]*[" + "".join(_RAISED) + "]*[.,;:]?")
_MATES = dict(zip("([{", ")]}", strict=True))
_CLOSING = {closing: opening for opening, closing in _MATES.items()}
_PAIRS = _MATES | {"|": "|", "‖": "‖", "⌊": "⌋", "⌈": "⌉"}
_ARTICLES = {"a", "A", "I"}  # and who speaks
_DIFFERENTIAL = re.compile("d[a-np-z]|i[yk]|[a-z]*[α-ω][a-zα-ω]*")


def split(text: str) -> Iterator[tuple[bool, str]]:
    """Pieces of a sentence, whether they are formulas; together they are the sentence."""
    chunks = re.split(r"(\s+)", text)
    words, spaces = chunks[::2], [*chunks[1::2], ""]
    plain, k = "", 0
    while k < len(words):
        last, before, shown, after = _formula(words, spaces, k)
        if shown:
            if plain + before:
                yield False, plain + before
            yield True, shown
            plain, k = after, last
        else:
            plain, k = plain + words[k] + spaces[k], k + 1
    if plain:
        yield False, plain


def _formula(words: list[str], spaces: list[str], start: int) -> tuple[int, str, str, str]:
    """The formula that begins at a word: after which word it ends, what stands around it; or none."""
    if words[start] == "a" and _is_word(next(iter(words[start + 1 :]), "")):
        return start, "", "", ""
    for last in range(_end_of_run(words, start), start, -1):
        run = "".join(w + s for w, s in zip(words[start:last], spaces[start:last], strict=True))
        before, shown, after = _trimmed(run)
        if _is_formula(shown):
            return last, before, shown, after
        if not (words[last - 1] in _ARTICLES | _BINARY or _is_word(words[last - 1])):
            break
    return start, "", "", ""


def _end_of_run(words: list[str], start: int) -> int:
    """After the words that may belong to a formula: signs and letters, and a word beside a sign."""
    k, depth = start, 0
    while k < len(words):
        word, before = words[k], words[k - 1] if k > start else ""
        after = words[k + 1] if k + 1 < len(words) else ""
        beside = before in _BINARY or _BIG.match(before) or (after in _BINARY and after != "-")
        if not (word and (_is_mathematics(word) or (beside and _WORD.fullmatch(word)))):
            break
        k += 1
        depth += sum(word.count(c) for c in "([{") - sum(word.count(c) for c in ")]}")
        if word[-1] in ",;:." and depth <= 0:
            break
    return k


def _is_mathematics(word: str) -> bool:
    at = 0
    while at < len(word):
        got = _TOKEN.match(word, at)
        if got is None:
            return False
        name = got["name"]
        name = name and name.rstrip("0123456789")
        if name and not (len(name) == 1 or name in _FUNCTIONS or _DIFFERENTIAL.fullmatch(name)):
            return False
        at = got.end()
    return True


def _is_word(word: str) -> bool:
    return bool(re.fullmatch(r"[a-z]{2,}", word)) and word not in _FUNCTIONS


def _trimmed(run: str) -> tuple[str, str, str]:
    """A run without what belongs to the sentence: its punctuation, and a bracket that has no mate here."""
    shown = run.rstrip().rstrip(".,;:")
    while (
        shown
        and shown[-1] in _CLOSING
        and shown.count(_CLOSING[shown[-1]]) < shown.count(shown[-1])
    ):
        shown = shown[:-1].rstrip(".,;:")
    front = len(shown)
    while shown and shown[0] in "([{" and shown.count(shown[0]) > shown.count(_MATES[shown[0]]):
        shown = shown[1:]
    front -= len(shown)
    return run[:front], shown, run[front + len(shown) :]


def _is_formula(shown: str) -> bool:
    """Whole, and more than a word of the sentence."""
    opened: list[str] = []
    for char in shown:
        if char in "([{":
            opened.append(char)
        elif char in _CLOSING and (not opened or opened.pop() != _CLOSING[char]):
            return False
    words = shown.split()
    if opened or len(shown) < 2 or not _SURE.search(shown) or "->" in shown or shown[0] == "'":
        return False
    if words[0] in _BINARY - {"-", "−"} or words[-1] in _BINARY or _BIG.fullmatch(words[-1]):
        return False
    if len(words) > 1 and words[-1] in _ARTICLES and words[-2] not in _BINARY:
        if not re.search(
            rf"\b{words[-1]}\b", " ".join(words[:-1])
        ):  # else it is a factor once more
            return False
    return words[0] != "and" and shown.count("|") % 2 == shown.count("‖") % 2 == 0


def latex(formula: str) -> str:
    """TeX of a formula in Unicode."""
    return re.sub(r"\s+", " ", _sequence(_tokens(formula))).strip()


Token = tuple[str, str]


def _tokens(text: str) -> list[Token]:
    found, at = [], 0
    while at < len(text):
        got = _TOKEN.match(text, at)
        if got is None:
            raise ValueError(f"no part of a formula: {text[at:]!r} in {text!r}")
        found.append((str(got.lastgroup), got[0]))
        at = got.end()
    return found


def _sequence(tokens: list[Token]) -> str:
    out, k = "", 0
    while k < len(tokens):
        kind, text = tokens[k]
        k += 1
        if kind in ("raised", "lowered"):
            table, mark = (_RAISED, "^") if kind == "raised" else (_LOWERED, "_")
            out += mark + "{" + "".join(table[c] for c in text) + "}"
        elif kind in ("script", "root"):
            end = _operand(tokens, k)
            inner = _sequence(_bare(tokens[k:end]))
            out, k = out + (rf"\sqrt{{{inner}}}" if kind == "root" else f"{text}{{{inner}}}"), end
        elif kind == "space":
            between = out and k < len(tokens) and _stands_beside(tokens[k - 2], tokens[k])
            out += r"\qquad " if len(text) > 2 else r"\, " if between else " "
        else:
            out += _SIGNS[text] if kind == "sign" else _name(text) if kind == "name" else text
    return out


def _name(text: str) -> str:
    letters = text.rstrip("0123456789")
    number = f"_{{{text[len(letters) :]}}}" if letters != text else ""
    if len(letters) == 1 or _DIFFERENTIAL.fullmatch(letters):
        return letters + number
    kind = "operatorname" if letters in _FUNCTIONS else "mathrm"
    return rf"\{kind}{{{letters}}}{number}"


def _stands_beside(left: Token, right: Token) -> bool:
    """Factors: a space between them is seen."""
    return (left[0] != "sign" or left[1] in ")]|‖}") and (
        right[0] in ("name", "number", "root") or right[1] in "([|‖∂∇"
    )


def _operand(tokens: list[Token], k: int) -> int:
    """After what a sign in front takes: signs, then a bracket, or one name or number with its scripts."""
    while k < len(tokens) and tokens[k][1] in ("-", "−", "+"):
        k += 1
    if k < len(tokens) and tokens[k][1] in _PAIRS:
        mate, depth = _PAIRS[tokens[k][1]], 1
        opening, k = tokens[k][1], k + 1
        while k < len(tokens) and depth:
            depth += (tokens[k][1] == opening != mate) - (tokens[k][1] == mate)
            k += 1
    else:
        k += 1
    while k < len(tokens) and tokens[k][0] in ("raised", "lowered", "script"):
        k = _operand(tokens, k + 1) if tokens[k][0] == "script" else k + 1
    return k


def _bare(tokens: list[Token]) -> list[Token]:
    """Without the bracket around all of it."""
    if (
        tokens
        and tokens[0][1] in ("(", "{")
        and _operand(tokens, 0) == len(tokens)
        and tokens[-1][1] in ")}"
    ):
        return tokens[1:-1]
    return tokens
