internal import LinnetMessages
package import NIOCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Character classes of the HTTP grammar.
extension UInt8 {
    static let carriageReturn: UInt8 = 0x0D
    static let lineFeed: UInt8 = 0x0A

    /// A character of a token (RFC 9110, 5.6.2).
    var isTokenByte: Bool { ASCII.isToken(self) }

    /// A byte of a field value or a reason phrase (RFC 9110, 5.5; RFC 9112, 4).
    var isFieldByte: Bool { self >= 0x20 ? self != 0x7F : self == 0x09 }

    var isBlank: Bool { ASCII.isBlank(self) }

    var isDecimalDigit: Bool { self >= 0x30 && self <= 0x39 }

    /// The value of a hexadecimal digit.
    var hexadecimalValue: Int64? { ASCII.hexadecimalValue(self).map { Int64($0) } }
}

extension UnsafeRawBufferPointer {
    /// The first index of a byte at or after an index.
    func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard start < count, let baseAddress else { return nil }
        guard let found = memchr(baseAddress + start, Int32(byte), count - start) else { return nil }
        return UnsafeRawPointer(found) - baseAddress
    }

    /// Whether a range has the same bytes as another buffer.
    func hasBytes(_ range: Range<Int>, equalTo other: UnsafeRawBufferPointer) -> Bool {
        guard range.count == other.count else { return false }
        guard !range.isEmpty, let baseAddress, let otherAddress = other.baseAddress else { return range.isEmpty }
        return memcmp(baseAddress + range.lowerBound, otherAddress, range.count) == 0
    }

    /// Whether a range equals a lower-case ASCII text, ignoring case.
    func matches(_ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        // The bit is the case of a letter. It also makes CR equal to a hyphen, but names are tokens.
        for index in 0..<range.count where self[range.lowerBound + index] | 0x20 != text.utf8Start[index] | 0x20 {
            return false
        }
        return true
    }

    /// Whether all bytes are valid in a field value.
    var holdsFieldBytesAlone: Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = 0
        while index + 8 <= count {
            // The high bit of a byte is set if it is below 0x20 or equal to 0x7F. Tabs are included, and checked below.
            let word = loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let (low, delete) = (word &- (0x20 &* ones), word ^ (0x7F &* ones))
            let suspicious = ((low & ~word) | ((delete &- ones) & ~delete)) & (0x80 &* ones)
            guard suspicious == 0 || self[index..<index + 8].allSatisfy(\.isFieldByte) else { return false }
            index += 8
        }
        return self[index...].allSatisfy(\.isFieldByte)
    }

    /// The value of a Content-Length field; nil if it is not a single number (RFC 9110, 8.6). Leading zeros are
    /// allowed; more than 18 other digits are not.
    var contentLength: Int64? {
        let digits = drop { $0 == UInt8(ascii: "0") }
        // Nineteen digits can exceed Int64.
        guard !isEmpty, digits.count <= 18, digits.allSatisfy(\.isDecimalDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// The range without leading and trailing whitespace.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, self[start].isBlank { start += 1 }
        while end > start, self[end - 1].isBlank { end -= 1 }
        return start..<end
    }
}

/// The memory that buffers keep alive.
extension ByteBuffer {
    /// The largest body in one buffer: almost 4 GiB, because the first read may also contain bytes before the body.
    /// Beyond its capacity, a buffer traps.
    static var largestBody: Int { Int(UInt32.max) - 16 * 1024 * 1024 }

    /// Adds bytes after the unread ones. Read bytes are dropped when they are as many as the unread ones: the unread
    /// bytes limit the capacity, and each byte is copied a constant number of times on average.
    package mutating func appendUnread(_ bytes: ByteBuffer) {
        guard readableBytes > 0 else {
            self = bytes
            return
        }
        if readerIndex >= readableBytes {
            var unread = ByteBufferAllocator().buffer(capacity: readableBytes + bytes.readableBytes)
            unread.writeImmutableBuffer(self)
            self = unread
        }
        writeImmutableBuffer(bytes)
    }
}

extension [ByteBuffer] {
    /// The buffers, copied into a single one if they are a small part of the memory that they would keep alive.
    func gathered() -> [ByteBuffer] {
        let bytes = reduce(0) { $0 + $1.readableBytes }
        guard let first, first.storageCapacity / 4 > bytes else { return self }
        var copy = ByteBufferAllocator().buffer(capacity: bytes)
        for buffer in self { copy.writeImmutableBuffer(buffer) }
        return [copy]
    }
}
