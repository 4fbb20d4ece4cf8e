"""The text rules of .ci/mutants: finds the mutations of a Swift file, and writes the file with a switch at each.

Strings, comments, attributes and conditions of compilation are left alone. An operator becomes one of its own, with the same
precedence and the number of the mutation in its name, so that no operand needs to be found:

    a < b && c          a ⊢<⁰¹ b ⊢&&⁰² c
    limit + 1           limit ⊢+⁰³ linnetInt(4, 1)
    if isOpen {         if linnetNot(5, isOpen) {
    queue.removeAll()   if !linnetMutant(6) { queue.removeAll() }
"""

import re
from dataclasses import dataclass

OTHERS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
    "+=": "-=", "-=": "+=", "..<": "one less",
}
PRECEDENCES = {
    "<": "Comparison", "<=": "Comparison", ">": "Comparison", ">=": "Comparison", "==": "Comparison", "!=": "Comparison",
    "&&": "LogicalConjunction", "||": "LogicalDisjunction", "+": "Addition", "-": "Addition", "+=": "Assignment",
    "-=": "Assignment", "..<": "RangeFormation",
}
# Characters that operators may contain, one for each digit.
DIGITS = dict(zip("0123456789", "⊀⊁⊂⊃⊄⊅⊆⊇⊈⊉"))
OPERATOR = re.compile(r"(?<=\s)(<=|>=|==|!=|&&|\|\||\+=|-=|<|>|\+|-)(?=\s)|(?<=[\w)\]])\.\.<(?=[\w(])")
NUMBER = re.compile(r"(?<![\w.$])(0x[0-9A-Fa-f_]+|0b[01_]+|\d[\d_]*)(?![\w.]*\w)(?!\.\d)")
BOOL = re.compile(r"(?<![\w.`])(true|false)(?![\w`])")
NEGATION = re.compile(r"(?<![\w)\]!?])!(?=[\w(\[])")
CONDITION = re.compile(r"(?<![\w.`#])(if|guard|while)(?=\s)")
DECLARATION = re.compile(r"\b(func|init|subscript|extension|struct|class|enum|protocol|actor|typealias)\b")
# A statement that is one call. Capacity, hashing and assertions change nothing that a test may see.
CALL = re.compile(r"(?:try[?!]? )?(?:await )?[a-z_]\w*[\w.?!]*(?:\[.*\])?[\w.?!]*\(.*\)$")
NO_CALL = re.compile(
    r"(return|throw|case|let|var|if|guard|for|while|switch|defer|do|repeat|in|super|self|init|get|set|willSet|didSet|"
    r"assert|assertionFailure|precondition|preconditionFailure|fatalError|func)\b|.*\.(reserveCapacity|combine|init)\(")
SKIPPED_LINE = re.compile(
    r"\s*(#|@\w+(\(.*\))?\s*$|(\w+ )*import |infix |case \w+ = |assert\(|precondition\(|.*\.reserveCapacity\()")
# Tables of numbers take the compiler too long.
MOST_NUMBERS = 6


@dataclass
class Mutation:
    number: int
    file: str
    line: int
    column: int
    kind: str
    change: str
    text: str

    @property
    def key(self):
        """What names the mutation while its line stays the same."""
        return f"{self.file} | {self.text} | {self.change}"


@dataclass
class Edit:
    start: int
    end: int
    before: str
    after: str
    kind: str
    change: str


def mask(text):
    """The text with blanks for comments and strings, of the same length."""
    out = list(text)

    def blank(start, end):
        for i in range(start, min(end, len(text))):
            if out[i] != "\n":
                out[i] = " "

    i = 0
    while i < len(text):
        if text.startswith("//", i):
            end = text.find("\n", i)
            end = len(text) if end < 0 else end
            blank(i, end)
            i = end
        elif text.startswith("/*", i):
            depth, end = 1, i + 2
            while depth and end < len(text):
                if text.startswith("/*", end):
                    depth, end = depth + 1, end + 2
                elif text.startswith("*/", end):
                    depth, end = depth - 1, end + 2
                else:
                    end += 1
            blank(i, end)
            i = end
        elif text[i] == '"' or re.match(r'#+"', text[i : i + 8]):
            end = string_end(text, i)
            # A word in its place, so that it is still an operand.
            blank(i, end)
            out[i] = "_"
            i = end
        else:
            i += 1
    return "".join(out)


def string_end(text, start):
    """The end of the string literal at a position."""
    pounds = 0
    i = start
    while text[i] == "#":
        pounds, i = pounds + 1, i + 1
    quote = '"""' if text.startswith('"""', i) else '"'
    close, escape = quote + "#" * pounds, "\\" + "#" * pounds
    i += len(quote)
    while i < len(text):
        if text.startswith(close, i):
            return i + len(close)
        if text.startswith(escape + "(", i):
            i = interpolation_end(text, i + len(escape) + 1)
        elif text.startswith(escape, i):
            i += len(escape) + 1
        else:
            i += 1
    return i


def interpolation_end(text, start):
    depth, i = 1, start
    while depth and i < len(text):
        if text[i] == '"' or re.match(r'#+"', text[i : i + 8]):
            i = string_end(text, i)
            continue
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        i += 1
    return i


def clauses(masked, start, keyword):
    """The ranges of the conditions after a keyword, without their surrounding space."""
    depth, begin, i, found = 0, start, start, []
    while i < len(masked):
        letter = masked[i]
        ends = depth == 0 and (
            masked.startswith("else", i) and not masked[i - 1].isalnum() if keyword == "guard" else letter == "{")
        if ends or (depth == 0 and letter == ","):
            text = masked[begin:i]
            found.append((begin + len(text) - len(text.lstrip()), begin + len(text.rstrip())))
            begin = i + 1
        if ends:
            return found
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(letter, 0)
        if depth < 0:
            return []
        i += 1
    return []


def innermost(masked):
    """For each line, the bracket that is open at its start, and its place; ("", -1) at the top."""
    stack, found = [], [("", -1)]
    for i, letter in enumerate(masked):
        if letter in "([{":
            stack.append((letter, i))
        elif letter in ")]}" and stack:
            stack.pop()
        elif letter == "\n":
            found.append(stack[-1] if stack else ("", -1))
    return found


def removed_calls(masked):
    lines, opened = masked.split("\n"), innermost(masked)
    position = 0
    for i, line in enumerate(lines):
        start, statement = position + len(line) - len(line.lstrip()), line.strip()
        position += len(line) + 1
        if opened[i][0] != "{" or not CALL.match(statement) or NO_CALL.match(statement):
            continue
        if any(statement.count(a) != statement.count(b) for a, b in ("()", "[]", "{}")):
            continue
        before = next((text.strip() for text in reversed(lines[:i]) if text.strip()), "")
        after = next((text.strip() for text in lines[i + 1 :] if text.strip()), "")
        if re.search(r"([,=+\-*/&|<>?:(\[]|->|\b(return|in|else|try|await|throw))$", before) and not before.endswith(" in"):
            if not re.search(r"\b(case|default)\b.*:$", before):
                continue
        if re.match(r"[.?:&|+\-*/=<>]|\bas\b|\belse\b", after):
            continue
        opening = masked[masked.rfind("\n", 0, opened[i][1]) + 1 : opened[i][1]]
        # The only statement of a getter, a function with a result or a closure is its value.
        if after.startswith("}") and (before.endswith("{") or before.endswith(" in")):
            if not re.match(r"\s*(\} )?(if|else|guard|while|for|do|catch|defer|mutating func|(\w+ )*func)\b", opening):
                continue
            if "->" in opening:
                continue
        yield Edit(start, start + len(statement), "if !linnetMutant({}) {{ ", " }", "call", "removed")


def edits(text):
    """The mutations of a text, in order."""
    masked = mask(text)
    starts = [0] + [match.end() for match in re.finditer("\n", masked)]
    lines = masked.split("\n")
    skipped = set()
    for i, line in enumerate(lines):
        if SKIPPED_LINE.match(line) or (" where " in line and DECLARATION.search(line)):
            skipped.add(i)
    numbers = [len(NUMBER.findall(line)) for line in lines]

    def line_of(position):
        return masked.count("\n", 0, position)

    found = []
    for match in OPERATOR.finditer(masked):
        operator = match[0]
        if re.search(r"\bfunc\s*$", masked[: match.start()][-8:]):
            continue
        form = operator
        if re.match(r"\s+nil\b", masked[match.end() :][:8]):
            form = operator + "nil"
        found.append(Edit(match.start(), match.end(), "", "", form, f"{operator} to {OTHERS[operator]}"))
    for match in NUMBER.finditer(masked):
        if numbers[line_of(match.start())] <= MOST_NUMBERS:
            less = bool(re.fullmatch(r"0x[fF_]+|255|65_?535", match[0]))
            found.append(
                Edit(match.start(), match.end(), f"linnet{'Less' if less else 'Int'}({{}}, ", ")", "number",
                     f"{match[0]} to {match[0]} {'-' if less else '+'} 1"))
    for match in BOOL.finditer(masked):
        if not re.search(r"\bwhile $", masked[: match.start()][-8:]):
            other = "false" if match[0] == "true" else "true"
            found.append(Edit(match.start(), match.end(), "linnetNot({}, ", ")", "bool", f"{match[0]} to {other}"))
    for match in NEGATION.finditer(masked):
        found.append(Edit(match.start(), match.end(), "", "", "!", "! removed"))
    for match in CONDITION.finditer(masked):
        for start, end in clauses(masked, match.end(), match[1]):
            clause = masked[start:end]
            if not clause or re.match(r"(let|var|case)\b|#|true$|false$", clause):
                continue
            # Another rule negates these.
            operators = [match[0] for match in OPERATOR.finditer(masked, start, end)]
            if operators in (["=="], ["!="]) or clause.startswith("!") and not operators:
                continue
            found.append(Edit(start, end, "linnetNot({}, ", ")", "condition", "condition negated"))
    found.extend(removed_calls(masked))
    return sorted((edit for edit in found if line_of(edit.start) not in skipped), key=lambda edit: (edit.start, -edit.end)), starts


def mutations(path, text, first):
    """The mutations of a file with numbers from `first`, and their edits."""
    found, starts = edits(text)
    lines = text.split("\n")
    result = []
    for number, edit in enumerate(found, first):
        line = text.count("\n", 0, edit.start)
        result.append((Mutation(
            number, path, line + 1, edit.start - starts[line] + 1, edit.kind, edit.change, lines[line].strip()), edit))
    return result


def operator_name(operator, number):
    return "⊢" + "".join(DIGITS[digit] for digit in str(number))


def rewrite(text, chosen):
    """The text with the switches of these mutations, and for each line (from 1) the numbers with their columns in bytes."""
    pieces = []
    for mutation, edit in chosen:
        if edit.kind == "!" or edit.kind.removesuffix("nil") in OTHERS:
            pieces.append((edit.start, 1, -edit.end, edit.end, operator_name(edit.kind, mutation.number), mutation.number))
        else:
            number = str(mutation.number)
            pieces.append((edit.start, 1, -edit.end, edit.start, edit.before.format(number), mutation.number))
            pieces.append((edit.end, 0, -edit.start, edit.end, edit.after, mutation.number))
    pieces.sort(key=lambda piece: piece[:3])
    out, position, columns = [], 0, {}
    line, column = 1, 1
    def append(part):
        nonlocal line, column
        out.append(part)
        line += part.count("\n")
        last = part.rsplit("\n", 1)
        column = (column if len(last) == 1 else 1) + len(last[-1].encode())
    for start, _, _, end, new, number in pieces:
        append(text[position:start])
        columns.setdefault(line, []).append((column, number))
        append(new)
        position = max(position, end)
    append(text[position:])
    return "".join(out), columns


SUPPORT = """\
internal import Glibc

// The number of the mutation that this process has, and the bytes of the file in which it marks those that it reaches.
private let chosen = getenv("LINNET_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0
nonisolated(unsafe) private let marks: UnsafeMutablePointer<UInt8>? = {
    guard let path = getenv("LINNET_MUTANTS_REACHED") else { return nil }
    let file = open(path, O_RDWR)
    guard file >= 0, let memory = mmap(nil, MUTATION_COUNT, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED
    else { return nil }
    return memory.assumingMemoryBound(to: UInt8.self)
}()

@inline(never) func linnetMutant(_ number: Int) -> Bool {
    if let marks { marks[number] = 1 }
    return number == chosen
}
@_transparent func linnetNot(_ number: Int, _ value: Bool) -> Bool { linnetMutant(number) ? !value : value }
@_transparent func linnetInt<T: Numeric>(_ number: Int, _ value: T) -> T { linnetMutant(number) ? value + 1 : value }
@_transparent func linnetLess<T: Numeric>(_ number: Int, _ value: T) -> T { linnetMutant(number) ? value - 1 : value }
"""


def support(chosen, count):
    """The file with the functions and operators of the mutations of one module."""
    parts = [SUPPORT.replace("MUTATION_COUNT", str(count))]
    for mutation, edit in chosen:
        name, number = operator_name(edit.kind, mutation.number), mutation.number
        operator = edit.kind.removesuffix("nil")
        if edit.kind == "!":
            parts.append(f"prefix operator {name}")
            parts.append(f"@_transparent prefix func {name} (a: Bool) -> Bool {{ linnetMutant({number}) ? a : !a }}")
            continue
        if operator not in OTHERS:
            continue
        other = OTHERS[operator]
        parts.append(f"infix operator {name}: {PRECEDENCES[operator]}Precedence")
        if edit.kind.endswith("nil"):
            parts.append(
                f"@_transparent func {name} <T>(a: T?, b: _OptionalNilComparisonType) -> Bool "
                f"{{ linnetMutant({number}) ? a {other} b : a {operator} b }}")
        elif operator in ("==", "!=", "<", "<=", ">", ">="):
            role = "Equatable" if operator in ("==", "!=") else "Comparable"
            parts.append(
                f"@_transparent func {name} <T: {role}>(a: T, b: T) -> Bool "
                f"{{ linnetMutant({number}) ? a {other} b : a {operator} b }}")
        elif operator in ("&&", "||"):
            parts.append(
                f"@_transparent func {name} (a: Bool, b: @autoclosure () throws -> Bool) rethrows -> Bool "
                f"{{ linnetMutant({number}) ? try a {other} b() : try a {operator} b() }}")
        elif operator in ("+", "-"):
            parts.append(
                f"@_transparent func {name} <T: AdditiveArithmetic>(a: T, b: T) -> T "
                f"{{ linnetMutant({number}) ? a {other} b : a {operator} b }}")
        elif operator in ("+=", "-="):
            parts.append(
                f"@_transparent func {name} <T: AdditiveArithmetic>(a: inout T, b: T) "
                f"{{ if linnetMutant({number}) {{ a {other} b }} else {{ a {operator} b }} }}")
        else:
            parts.append(
                f"@_transparent func {name} (a: Int, b: Int) -> Range<Int> "
                f"{{ linnetMutant({number}) ? a..<max(a, b - 1) : a..<b }}")
    return "\n".join(parts) + "\n"
