internal import FoundationEssentials

/// Splits bytes that arrive in chunks into lines. It is pure: bytes are added, and lines are returned.
struct LineSplitter {
    /// The line endings that are recognized.
    enum Ending {
        /// LF.
        case lineFeed
        /// CR, LF or CRLF.
        case any
    }

    private let ending: Ending
    private let limit: Int
    private var chunk = Data()
    private var line: [UInt8] = []
    /// Whether a CR ended the previous line, so that an LF directly after it is part of the same line ending.
    private var isAfterReturn = false

    /// - Parameters:
    ///   - ending: The line endings that are recognized.
    ///   - limit: The maximum size of a line in bytes.
    init(_ ending: Ending, limit: Int) {
        self.ending = ending
        self.limit = limit
    }

    /// Adds a chunk. ``next()`` must have consumed the previous chunk.
    mutating func add(_ bytes: Data) {
        chunk = bytes
    }

    /// Returns the next line, without its ending; nil if more bytes are needed.
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

    /// Returns the bytes after the last line ending; nil if there are none.
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
