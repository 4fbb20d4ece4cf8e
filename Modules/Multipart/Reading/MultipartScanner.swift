import FoundationEssentials
import HTTPTypes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Finds the parts of one multipart body without parsing their content.
struct MultipartScanner: Sendable {
    enum Event {
        case head(HTTPFields)
        case data(Data)
        case end
    }

    private enum State {
        case preamble, head, content, closed
    }

    /// The bytes after a possible delimiter.
    private enum Tail {
        /// A delimiter; the line ends here.
        case delimiter(Int)
        /// The last delimiter.
        case close(Int)
        case needsMore
        case none
    }

    /// The longest padding of a delimiter. After longer padding, a boundary is content, so the scanner need not buffer
    /// more.
    private static let maximumPadding = 128

    /// CR LF, two hyphens, the boundary.
    private let needle: [UInt8]
    /// Unconsumed bytes begin at `start`. A CR LF precedes the body, since a delimiter at its beginning has none.
    private var buffer: [UInt8] = [0x0D, 0x0A]
    private var start = 0
    /// The number of bytes from `start` that are not content: the line end of a possible delimiter.
    private var skipped = 2
    private var state = State.preamble
    /// Searches for a first delimiter that the scanner misses.
    private var bareLineFeeds: BareLineFeedDetector
    private var head = MultipartHeadParser()

    init(boundary: String) {
        needle = Array("\r\n--\(boundary)".utf8)
        bareLineFeeds = BareLineFeedDetector(needle: needle.dropFirst())
    }

    var isClosed: Bool { state == .closed }

    mutating func push(_ bytes: UnsafeRawBufferPointer) {
        if state == .closed { return }
        // The rest moves only when it is no longer than the consumed part, so the cost stays linear.
        if start > 0, start >= buffer.count - start {
            buffer.removeSubrange(..<start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next event; nil if it needs more bytes, or the body is closed.
    mutating func next(_ limits: MultipartParser.Limits) throws(MultipartError) -> Event? {
        while true {
            switch state {
            case .closed:
                (buffer, start) = ([], 0)
                return nil
            case .head:
                let parsed = try parseHead(limits)
                start += parsed.consumed
                guard let fields = parsed.fields else { return nil }
                // A part without content ends at once: the end of its empty line may begin a delimiter.
                start -= 2
                skipped = 2
                state = .content
                return .head(fields)
            case .preamble, .content:
                let (found, tail) = search()
                if state == .preamble { try checkLineEnds(until: found) }
                if let data = take(until: found) { return .data(data) }
                switch tail {
                case .none, .needsMore: return nil
                case .delimiter(let end): start = end
                case .close(let end): start = end
                }
                let wasContent = state == .content
                if case .close = tail { state = .closed } else { state = .head }
                if wasContent { return .end }
            }
        }
    }

    /// Checks the ignored bytes before the first delimiter.
    private mutating func checkLineEnds(until end: Int) throws(MultipartError) {
        guard end > start, bareLineFeeds.finds(in: buffer[start..<end]) else { return }
        throw MultipartError(
            code: .bareLineFeed,
            message: "The body's lines end in LF alone instead of CR LF (RFC 2046, section 4.1.1).")
    }

    private mutating func parseHead(
        _ limits: MultipartParser.Limits
    ) throws(MultipartError) -> (consumed: Int, fields: HTTPFields?) {
        // The parser is swapped out and back, so that it is not copied.
        var parser = MultipartHeadParser()
        swap(&parser, &head)
        let result = buffer.withUnsafeBytes { bytes in
            Result { () throws(MultipartError) in
                try parser.parse(UnsafeRawBufferPointer(rebasing: bytes[start...]), limits)
            }
        }
        swap(&parser, &head)
        return try result.get()
    }

    /// Consumes the bytes before an offset; returns them if they are content.
    private mutating func take(until end: Int) -> Data? {
        let contentStart = start + skipped
        guard end > start else { return nil }
        start = end
        skipped = 0
        guard state == .content, end > contentStart else { return nil }
        return Data(buffer[contentStart..<end])
    }

    /// The first offset of a complete or possibly incomplete delimiter; the end if there is none.
    private func search() -> (place: Int, Tail) {
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return (0, .none) }
            var place = start
            while place < bytes.count, let found = memchr(base + place, 0x0D, bytes.count - place) {
                place = base.distance(to: UnsafeRawPointer(found))
                let length = min(needle.count, bytes.count - place)
                if memcmp(found, needle, length) == 0 {
                    guard length == needle.count else { return (place, .needsMore) }
                    let tail = Self.tail(bytes, place + length)
                    if case .none = tail {} else { return (place, tail) }
                }
                place += 1
            }
            return (bytes.count, .none)
        }
    }

    /// Classifies the bytes after a boundary.
    private static func tail(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Tail {
        guard start < bytes.count else { return .needsMore }
        if bytes[start] == UInt8(ascii: "-") {
            guard start + 1 < bytes.count else { return .needsMore }
            return bytes[start + 1] == UInt8(ascii: "-") ? .close(start + 2) : .none
        }
        var place = start
        while place < bytes.count, bytes[place] == 0x20 || bytes[place] == 0x09 {
            place += 1
            if place - start > maximumPadding { return .none }
        }
        guard place < bytes.count else { return .needsMore }
        guard bytes[place] == 0x0D else { return .none }
        guard place + 1 < bytes.count else { return .needsMore }
        return bytes[place + 1] == 0x0A ? .delimiter(place + 2) : .none
    }
}

/// Searches the text before the first delimiter for a delimiter after an LF alone, which a reader that requires CR LF
/// misses. The bytes may arrive in any pieces.
struct BareLineFeedDetector: Sendable {
    /// LF, two hyphens, the boundary. LF occurs only once, so a mismatch can start over.
    private let needle: [UInt8]
    private var matched = 0

    init(needle: some Sequence<UInt8>) {
        self.needle = Array(needle)
    }

    /// Takes the next bytes; returns whether they contain such a delimiter.
    mutating func finds(in bytes: ArraySlice<UInt8>) -> Bool {
        for byte in bytes {
            if matched == needle.count {
                if byte == 0x0A { return true }
                if byte == 0x20 || byte == 0x09 { continue }
                matched = 0
            } else if byte == needle[matched] {
                matched += 1
            } else {
                matched = byte == 0x0A ? 1 : 0
            }
        }
        return false
    }
}
