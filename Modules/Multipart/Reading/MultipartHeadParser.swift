import HTTPTypes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Parses the header of a part line by line.
struct MultipartHeadParser: Sendable {
    private var fields = HTTPFields()
    /// The field of the last line, which the next line may continue.
    private var pending: (name: HTTPField.Name, value: [UInt8])?
    private var byteCount = 0
    private var fieldCount = 0
    /// The number of bytes that were searched for a line end.
    private var searched = 0

    /// Consumes complete lines. `fields` is nil until the header is complete, including its empty line.
    mutating func parse(
        _ bytes: UnsafeRawBufferPointer, _ limits: MultipartParser.Limits
    ) throws(MultipartError) -> (consumed: Int, fields: HTTPFields?) {
        var start = 0
        while let end = try lineEnd(in: bytes, from: start, limits) {
            let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            start = end + 2
            searched = 0
            byteCount += line.count + 2
            if line.isEmpty {
                try store(limits)
                defer { self = MultipartHeadParser() }
                return (start, fields)
            }
            try add(line, limits)
        }
        try check(byteCount + bytes.count - start, limits)
        return (start, nil)
    }

    /// The offset of the next CR LF; nil if it has not arrived. No byte is searched twice.
    private mutating func lineEnd(
        in bytes: UnsafeRawBufferPointer, from start: Int, _ limits: MultipartParser.Limits
    ) throws(MultipartError) -> Int? {
        let place = start + searched
        guard let base = bytes.baseAddress, place < bytes.count,
            let found = memchr(base + place, 0x0A, bytes.count - place)
        else {
            searched = bytes.count - start
            return nil
        }
        let lineFeed = base.distance(to: UnsafeRawPointer(found))
        // This check comes first, so that the error does not depend on how much has arrived.
        try check(byteCount + lineFeed + 1 - start, limits)
        guard lineFeed > start, bytes[lineFeed - 1] == 0x0D else {
            throw MultipartError(
                code: .malformedHeader,
                message: "A line of a part's header ends in LF alone instead of CR LF (RFC 2046, section 4.1.1).")
        }
        return lineFeed - 1
    }

    private mutating func add(_ line: UnsafeRawBufferPointer, _ limits: MultipartParser.Limits) throws(MultipartError) {
        // HTTPFields would replace them with spaces.
        if let byte = line.first(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
            throw Self.malformed(byte == 0x0D ? "a CR without LF" : "the control character \(byte)")
        }
        if Self.isSpace(line[0]) {
            guard pending != nil else { throw Self.malformed("a space at the beginning of its first line") }
            pending?.value.append(0x20)
            pending?.value.append(contentsOf: Self.trimmed(line[...]))
            return
        }
        try store(limits)
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        else { throw Self.malformed("a line without a field name") }
        pending = (name, Array(Self.trimmed(line[(colon + 1)...])))
    }

    private mutating func store(_ limits: MultipartParser.Limits) throws(MultipartError) {
        guard let field = pending else { return }
        pending = nil
        fieldCount += 1
        // HTTPFields traps beyond 65,535 fields.
        let most = min(limits.maximumHeaderFieldCount, 10_000)
        guard fieldCount <= most else {
            throw MultipartError(
                code: .tooManyHeaderFields, message: "A part's header has more than \(most) fields.")
        }
        fields.append(HTTPField(name: field.name, value: field.value))
    }

    private func check(_ count: Int, _ limits: MultipartParser.Limits) throws(MultipartError) {
        guard count > limits.maximumHeaderBytes else { return }
        throw MultipartError(
            code: .headerTooLarge, message: "A part's header has more than \(limits.maximumHeaderBytes) bytes.")
    }

    private static func malformed(_ what: String) -> MultipartError {
        MultipartError(code: .malformedHeader, message: "A part's header has \(what).")
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func trimmed(_ slice: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        var slice = slice.drop(while: isSpace)
        while let last = slice.last, isSpace(last) { slice = slice.dropLast() }
        return slice
    }
}
