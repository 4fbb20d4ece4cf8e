import FoundationEssentials

/// The table of commands in Docs/LinnetTool.md.
struct CurlTable {
    /// The results that both commands of a row have in common, beside the exit code.
    enum Equality: String {
        case output
        case files
        case exitCode = "exit code"
    }

    struct Row: CustomStringConvertible, Sendable {
        let task: String
        let curl: String
        let linnet: String
        let equality: Equality

        var description: String { task }
    }

    /// A row that is not of the table's form.
    struct InvalidRow: Error { let line: String }

    /// Reads the rows, whose commands are in backquotes.
    static func rows() throws -> [Row] {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Docs/LinnetTool.md")
        let text = try String(contentsOf: page.standardized, encoding: .utf8)
        guard let start = text.firstRange(of: "| task | curl | linnet | equal |\n")?.upperBound else { return [] }
        return try text[start...].split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
            .prefix { $0.hasPrefix("|") }.map(row)
    }

    private static func row(_ line: Substring) throws -> Row {
        // An escaped bar is part of a command.
        let cells = line.replacing("\\|", with: "\u{0}").split(separator: "|").map { cell in
            var text = cell.replacing("\u{0}", with: "|")[...]
            while let first = text.first, " `".contains(first) { text.removeFirst() }
            while let last = text.last, " `".contains(last) { text.removeLast() }
            return String(text)
        }
        guard cells.count == 4, let equality = Equality(rawValue: cells[3]) else {
            throw InvalidRow(line: String(line))
        }
        return Row(task: cells[0], curl: cells[1], linnet: cells[2], equality: equality)
    }
}
