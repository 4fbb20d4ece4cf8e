import CSoak
import Foundation

/// The bytes of a body, which follow from the number of its request, so that client and server know them alone.
struct Content: Sendable {
    static let piece = 64 * 1024

    let seed: UInt64
    let size: Int

    /// Returns a part of the content.
    func bytes(_ range: Range<Int>) -> Data {
        guard !range.isEmpty else { return Data() }
        let first = range.lowerBound / 8
        let words = (range.upperBound + 7) / 8 - first
        var data = Data(count: words * 8)
        data.withUnsafeMutableBytes { buffer in
            let target = buffer.bindMemory(to: UInt64.self)
            let start = Random.mix(seed &+ 0x632B_E59B_D9B4_E019)
            for place in 0..<words {
                target[place] = Random.mix(start &+ UInt64(first + place) &* 0x9E37_79B9_7F4A_7C15).littleEndian
            }
        }
        let skipped = range.lowerBound - first * 8
        return skipped == 0 && data.count == range.count ? data : Data(data[skipped..<skipped + range.count])
    }

    var whole: Data { bytes(0..<size) }

    /// The piece that begins at an offset; nil at the end.
    func piece(at offset: Int) -> Data? {
        offset < size ? bytes(offset..<min(size, offset + Self.piece)) : nil
    }

    var digest: String {
        let digest = Digest()
        var offset = 0
        while let piece = piece(at: offset) {
            digest.add(piece)
            offset += piece.count
        }
        return digest.finish()
    }
}

/// The SHA-256 of bytes that come in pieces.
final class Digest {
    private var state: UnsafeMutableRawPointer?
    private(set) var count = 0

    init() { state = digest_begin() }

    deinit { if state != nil { _ = finish() } }

    func add(_ bytes: Data) {
        count += bytes.count
        bytes.withUnsafeBytes { digest_add(state, $0.baseAddress, $0.count) }
    }

    /// Returns the digest in hexadecimal. Nothing can be added after it.
    func finish() -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        digest_end(state, &bytes)
        state = nil
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    static func of(_ bytes: Data) -> String {
        let digest = Digest()
        digest.add(bytes)
        return digest.finish()
    }
}
