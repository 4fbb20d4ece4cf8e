package import FoundationEssentials

/// Writes the body of a response to standard output. In a terminal, it adds a line break to a body that does not end
/// with one.
package struct BodyOutput {
    private let isTerminal: Bool
    private let output: (Data) throws -> Void
    private var needsLineBreak = false

    package init(
        isTerminal: Bool = StandardStream.output.isTerminal,
        output: @escaping (Data) throws -> Void = { try StandardStream.output.write($0) }
    ) {
        self.isTerminal = isTerminal
        self.output = output
    }

    package mutating func write(_ bytes: Data) throws {
        guard let last = bytes.last else { return }
        try output(bytes)
        needsLineBreak = last != UInt8(ascii: "\n")
    }

    /// Ends the body.
    package mutating func end() throws {
        if isTerminal && needsLineBreak { try output(Data("\n".utf8)) }
    }
}
