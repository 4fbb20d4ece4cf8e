import ExampleSupport
import FoundationEssentials

/// Prints the body of a response: the bytes as they are, or harmless and readable text if the output is a terminal.
struct BodyPrinter {
    /// The largest body that is indented.
    private static let formatLimit = 4 << 20

    private let isTerminal: Bool
    private let colors: Colors
    private let output: (Data) throws -> Void
    /// The format until the body is too long for it.
    private var format: BodyFormat?
    private var held = Data()
    private var text = TerminalText()
    private var isBinary = false
    private var needsLineBreak = false

    init(
        contentType: String?, isTerminal: Bool = StandardStream.output.isTerminal,
        colors: Colors = .ofEnvironment,
        output: @escaping (Data) throws -> Void = { try StandardStream.output.write($0) }
    ) {
        self.isTerminal = isTerminal
        self.colors = colors
        self.output = output
        format = isTerminal ? BodyFormat(contentType: contentType) : nil
    }

    mutating func write(_ bytes: Data) throws {
        guard isTerminal else { return try output(bytes) }
        guard format != nil else { return try show(bytes) }
        held += bytes
        if held.count > Self.formatLimit { try release() }
    }

    /// Ends the body.
    mutating func end() throws {
        guard isTerminal else { return }
        if let format, let text = format.text(held, colors) {
            held = Data()
            try print(text)
        }
        try release()
        try print(text.end())
        if needsLineBreak { try output(Data("\n".utf8)) }
    }

    /// Shows the held bytes as they are, and the bytes that follow.
    private mutating func release() throws {
        format = nil
        let bytes = held
        held = Data()
        try show(bytes)
    }

    private mutating func show(_ bytes: Data) throws {
        guard !isBinary else { return }
        isBinary = bytes.contains(0)
        guard !isBinary else { return try print("(The body is binary. Store it with -o FILE, or pipe it.)") }
        try print(text.text(bytes))
    }

    private mutating func print(_ text: String) throws {
        guard let last = text.utf8.last else { return }
        try output(Data(text.utf8))
        needsLineBreak = last != UInt8(ascii: "\n")
    }
}
