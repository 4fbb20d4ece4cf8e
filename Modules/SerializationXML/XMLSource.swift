#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// The input of libxml2: the document in UTF-8, up to an encoding error or a limit.
struct XMLSource {
    private var decoder: XMLDecoder
    private var scanner: XMLScanner
    private var window: [UInt8]
    /// The part of the window that is scanned and not yet handed out.
    private var ready = 0..<0
    private var isAtStart = true
    /// Why nothing follows the window; nil while the document continues.
    private var end: End?

    private enum End {
        case ofDocument
        case failure(XMLSyntaxError)
    }

    /// The bytes must outlive the source.
    init(_ bytes: UnsafeRawBufferPointer, converters: [String], options: XMLParsingOptions) throws(XMLSyntaxError) {
        decoder = try XMLDecoder(bytes, from: converters)
        scanner = XMLScanner(options: options)
        window = [UInt8](repeating: 0, count: min(max(bytes.count * 2, 64), 65_536))
    }

    /// Fills the buffer; returns the number of bytes in it, 0 at the end.
    ///
    /// Throws ``XMLSyntaxError`` at the place of a failure, after it has returned the bytes before.
    mutating func read(into output: UnsafeMutableRawBufferPointer) throws(XMLSyntaxError) -> Int {
        if ready.count <= output.count { refill() }
        if ready.isEmpty, case .failure(let error) = end { throw error }
        let count = cut(at: min(ready.count, output.count))
        window.withUnsafeBytes { bytes in
            output.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[ready.prefix(count)]))
        }
        ready = ready.dropFirst(count)
        return count
    }

    /// The end of a piece of at most this size: not within `]]>`, which libxml2 misses at a boundary between pieces.
    private func cut(at limit: Int) -> Int {
        guard limit > 2, limit < ready.count || end == nil else { return limit }
        let last = ready.lowerBound + limit - 1
        guard window[last] == UInt8(ascii: "]") else { return limit }
        return window[last - 1] == UInt8(ascii: "]") ? limit - 2 : limit - 1
    }

    private mutating func refill() {
        guard end == nil else { return }
        let kept = ready.count
        window.replaceSubrange(0..<kept, with: Array(window[ready]))
        ready = 0..<kept
        // libxml2 asks for pieces of a few thousand bytes. The window holds many of them, or the whole document.
        while end == nil, ready.upperBound < window.count - 16 {
            let start = ready.upperBound
            do throws(XMLSyntaxError) {
                let count = try decode(from: start)
                if count == 0 { end = .ofDocument }
                ready = 0..<(start + scan(start..<(start + count)))
            } catch {
                end = .failure(XMLSyntaxError(kind: error.kind, line: scanner.line, detail: error.detail))
            }
        }
    }

    private mutating func decode(from start: Int) throws(XMLSyntaxError) -> Int {
        var result: Result<Int, XMLSyntaxError> = .success(0)
        window.withUnsafeMutableBytes { bytes in
            let space = UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
            do throws(XMLSyntaxError) {
                result = .success(try decoder.decode(into: space))
            } catch {
                result = .failure(error)
            }
        }
        var count = try result.get()
        if isAtStart, count > 0 {
            isAtStart = false
            count = withoutMark(count)
            // At any other beginning, libxml2 would guess an encoding.
            guard count == 0 || [0x3C, 0x20, 0x09, 0x0A, 0x0D].contains(window[0]) else {
                throw XMLSyntaxError(kind: .malformed, line: 1, detail: "the document does not begin with a tag")
            }
            // A byte order mark alone does not end the document.
            if count == 0 { return try decode(from: start) }
        }
        return count
    }

    private mutating func withoutMark(_ count: Int) -> Int {
        guard window[..<count].starts(with: [0xEF, 0xBB, 0xBF]) else { return count }
        window.replaceSubrange(0..<(count - 3), with: Array(window[3..<count]))
        return count - 3
    }

    private mutating func scan(_ range: Range<Int>) -> Int {
        guard !range.isEmpty else { return 0 }
        var scanned: (count: Int, error: XMLSyntaxError?) = (0, nil)
        window.withUnsafeBufferPointer { bytes in
            // libxml2 treats a zero byte as the end.
            let part = UnsafeBufferPointer(rebasing: bytes[range])
            let length = Self.countBeforeZero(part)
            scanned = scanner.scan(UnsafeBufferPointer(rebasing: part[..<length]))
            if length < part.count, scanned.error == nil {
                scanned.error = XMLSyntaxError(kind: .malformed, line: scanner.line, detail: "a zero byte")
            }
        }
        if let error = scanned.error { end = .failure(error) }
        return scanned.count
    }

    private static func countBeforeZero(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        guard let base = bytes.baseAddress, let zero = memchr(base, 0, bytes.count) else { return bytes.count }
        return UnsafeRawPointer(zero) - UnsafeRawPointer(base)
    }
}
