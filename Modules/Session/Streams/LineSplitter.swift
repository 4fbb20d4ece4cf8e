internal import FoundationEssentials

/// Cuts bytes that come in chunks into lines. Its methods are events; it knows nothing of where the bytes come from.
struct LineSplitter {
    /// What ends a line.
    enum Ending {
        /// LF.
        case lineFeed
        /// CR, LF or both, in this order.
        case any
    }

    private let ending: Ending
    private let limit: Int
    private var chunk = Data()
    private var line: [UInt8] = []
    /// A CR ended the line before: an LF right after it belongs to it.
    private var isAfterReturn = false

    /// - Parameter limit: The most bytes of a line.
    init(_ ending: Ending, limit: Int) {
        self.ending = ending
        self.limit = limit
    }

    /// More bytes; those before have to be used up by ``next()``.
    mutating func add(_ bytes: Data) {
        chunk = bytes
    }

    /// The next line, without its end; nil when more bytes are needed.
    mutating func next() throws(SessionError) -> [UInt8]? {
        if isAfterReturn, let first = chunk.first {
            isAfterReturn = false
            if first == .lineFeed { chunk = chunk.dropFirst() }
        }
        let end = chunk.firstIndex { $0 == .lineFeed || ($0 == .carriageReturn && ending == .any) }
        let rest = chunk[..<(end ?? chunk.endIndex)]
        guard rest.count <= limit - line.count else {
            throw SessionError(.bodyTooLarge, "A line has more than \(limit) bytes.")
        }
        line.append(contentsOf: rest)
        guard let end else {
            chunk = Data()
            return nil
        }
        isAfterReturn = chunk[end] == .carriageReturn
        chunk = chunk[(end + 1)...]
        return takeLine()
    }

    /// What stands behind the last line's end; nil when nothing does.
    mutating func finish() -> [UInt8]? {
        line.isEmpty ? nil : takeLine()
    }

    private mutating func takeLine() -> [UInt8] {
        defer { line = [] }
        return line
    }
}

extension UInt8 {
    fileprivate static let lineFeed = UInt8(ascii: "\n")
    fileprivate static let carriageReturn = UInt8(ascii: "\r")
}
