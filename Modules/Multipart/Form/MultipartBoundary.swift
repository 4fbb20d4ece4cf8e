import FoundationEssentials
import LinnetMessages

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The boundary between parts (RFC 2046, section 5.1.1).
enum MultipartBoundary {
    /// A random boundary of 24 of 62 characters, which is 142 bits, after a prefix with the name of this library.
    static func random() -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<24).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] }
        return "Linnet-" + String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the boundary has 1 to 70 allowed characters, and does not end in a space.
    static func isValid(_ boundary: String) -> Bool {
        (1...70).contains(boundary.utf8.count) && boundary.utf8.last != UInt8(ascii: " ")
            && boundary.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "'()+_,-./:=? ".utf8.contains($0) }
    }

    /// Whether the boundary can be parsed: 1 to 70 printable ASCII characters, the last not a space. Some servers use
    /// characters that RFC 2046 forbids, for example `<q1w2>`.
    static func isReadable(_ boundary: String) -> Bool {
        (1...70).contains(boundary.utf8.count) && boundary.utf8.last != UInt8(ascii: " ")
            && boundary.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }

    /// The boundary as the value of a parameter, quoted unless it is a token.
    static func parameter(_ boundary: String) -> String {
        let isToken = boundary.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "'+_-.".utf8.contains($0) }
        return isToken ? boundary : "\"\(boundary)\""
    }

    static func occurs(_ boundary: String, in data: Data) -> Bool {
        let needle = Array(boundary.utf8)
        guard data.count >= needle.count else { return false }
        return data.withUnsafeBytes { bytes in
            guard var place = bytes.baseAddress else { return false }
            let last = place + (bytes.count - needle.count)
            while place <= last, let found = memchr(place, Int32(needle[0]), last - place + 1) {
                if memcmp(found, needle, needle.count) == 0 { return true }
                place = UnsafeRawPointer(found) + 1
            }
            return false
        }
    }
}
