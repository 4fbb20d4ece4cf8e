@testable import ExampleApp

/// A terminal that understands only the output of `ShownRows`.
struct TestTerminal {
    /// The characters of each row.
    private(set) var rows: [[String]]
    /// Whether something was written that is not understood.
    private(set) var isConfused = false
    private var place = (x: 0, y: 0)

    init(_ size: TerminalSize) {
        rows = Array(repeating: Array(repeating: " ", count: size.width), count: size.height)
    }

    var text: String {
        rows.map { row in
            var line = row.joined()
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }

    mutating func write(_ output: String) {
        var rest = output[...]
        while let character = rest.popFirst() {
            if character == "\u{1B}" { obey(&rest) } else { put(character) }
        }
    }

    private mutating func put(_ character: Character) {
        guard rows.indices.contains(place.y), rows[place.y].indices.contains(place.x) else {
            isConfused = true
            return
        }
        let columns = character.columns
        if rows[place.y][place.x].isEmpty, place.x > 0 { rows[place.y][place.x - 1] = " " }
        rows[place.y][place.x] = String(character)
        if columns == 2 { rows[place.y][place.x + 1] = "" }
        place.x += columns
        if place.x < rows[place.y].count, rows[place.y][place.x].isEmpty { rows[place.y][place.x] = " " }
    }

    private mutating func obey(_ rest: inout Substring) {
        guard rest.popFirst() == "[", let end = rest.firstIndex(where: { $0.isLetter }) else {
            isConfused = true
            return
        }
        let parameters = rest[..<end]
        let final = rest[end]
        rest = rest[rest.index(after: end)...]
        switch final {
        case "m", "h", "l": break
        case "K": rows[place.y] = rows[place.y].map { _ in " " }
        case "J": rows = rows.map { $0.map { _ in " " } }
        case "H":
            let numbers = parameters.split(separator: ";").compactMap { Int($0) }
            if numbers.count == 2 { place = (numbers[1] - 1, numbers[0] - 1) } else { isConfused = true }
        default: isConfused = true
        }
    }
}
