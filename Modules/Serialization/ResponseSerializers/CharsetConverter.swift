#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A converter of the C library to UTF-8 (POSIX `iconv`).
///
/// The names come from ``CharsetLabels``, never from a server.
struct CharsetConverter: ~Copyable {
    private let descriptor: iconv_t

    /// Fails if the library has no converter for any of the names.
    init?(from names: [String]) {
        for name in names {
            guard let descriptor = iconv_open("UTF-8", name), descriptor != iconv_t(bitPattern: -1) else { continue }
            self.descriptor = descriptor
            return
        }
        return nil
    }

    deinit { _ = iconv_close(descriptor) }

    /// The text for bytes.
    func text(of bytes: [UInt8]) throws(CharsetError) -> String {
        var input = bytes
        var utf8: [UInt8] = []
        utf8.reserveCapacity(bytes.count + bytes.count / 2)
        let flaw = input.withUnsafeMutableBytes { input -> Int? in
            withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 1) { output in
                convert(input, through: output, to: &utf8)
            }
        }
        if let flaw { throw CharsetError(kind: .malformed, offset: flaw) }
        guard let text = String(validating: utf8, as: UTF8.self) else {
            throw CharsetError(kind: .malformed, offset: 0)
        }
        return text
    }

    /// Returns the offset of the first malformed bytes; nil if there are none.
    private func convert(
        _ input: UnsafeMutableRawBufferPointer, through output: UnsafeMutableRawBufferPointer, to utf8: inout [UInt8]
    ) -> Int? {
        var start = input.baseAddress?.assumingMemoryBound(to: CChar.self)
        var left = input.count
        // At last, writes what was read and is still buffered.
        var isFlushing = left == 0
        while true {
            var written = output.baseAddress?.assumingMemoryBound(to: CChar.self)
            var room = output.count
            let before = left
            let result =
                isFlushing
                ? iconv(descriptor, nil, nil, &written, &room) : iconv(descriptor, &start, &left, &written, &room)
            let failure = errno
            let count = output.count - room
            utf8.append(contentsOf: output[..<count])
            if result == Int(bitPattern: UInt.max) {
                // Continues after a full buffer; without progress, the loop would not end.
                guard failure == E2BIG, count > 0 || left < before else { return input.count - left }
            } else if isFlushing {
                return nil
            } else {
                isFlushing = true
            }
        }
    }
}
